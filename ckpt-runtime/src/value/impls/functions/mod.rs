//! Pointers to functions. A checkpoint has their names: an address means nothing in another process, and what a file says is
//! never called. So a pointer can be saved and loaded only if the program has named its function, with the type of the
//! pointer: [`name`].
//!
//! Two functions whose code is the same may be one for the linker, at one address: then either name stands for both. One
//! function may be compiled in several parts of a program, at several addresses: there the symbols of the executable tell
//! that these are one ([`symbols`]).

mod symbols;

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

/// A pointer to a function whose parameters and result do not borrow, apart from parameters that are references.
pub trait Function: Copy + Send + 'static {
    /// Where its code begins.
    #[doc(hidden)]
    fn address(self) -> usize;
}

/// The functions that the program has named: those of the process, whatever session there is.
#[derive(Default)]
struct Named {
    by_name: BTreeMap<(TypeId, &'static str), One>,
    by_address: BTreeMap<(TypeId, usize), &'static str>,
}

struct One {
    pointer: Box<dyn Any + Send>,
    address: usize,
    /// Functions that are not the same have this name.
    is_ambiguous: bool,
}

static NAMED: Mutex<Named> = Mutex::new(Named {
    by_name: BTreeMap::new(),
    by_address: BTreeMap::new(),
});

/// Names a function, under the type of this pointer.
pub(crate) fn name<F: Function>(name: &'static str, function: F) {
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    let (kind, address) = (TypeId::of::<F>(), function.address());
    let known = named.by_name.entry((kind, name)).or_insert_with(|| One {
        pointer: Box::new(function),
        address,
        is_ambiguous: false,
    });
    if known.address != address && !symbols::is_one_function(known.address, address) {
        known.is_ambiguous = true;
    }
    named.by_address.entry((kind, address)).or_insert(name);
}

fn save<F: Function>(function: F, to: &mut Encoder<'_>) {
    let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    let (kind, address) = (TypeId::of::<F>(), function.address());
    let name = named.by_address.get(&(kind, address)).copied().or_else(|| {
        // Another copy of a function that has a name.
        let same_type = named.by_address.range((kind, 0)..=(kind, usize::MAX));
        let mut same = same_type.filter(|((_, known), _)| symbols::is_one_function(*known, address));
        same.next().map(|(_, name)| *name)
    });
    let ty = type_name::<F>();
    match name {
        Some(name)
            if named
                .by_name
                .get(&(kind, name))
                .is_some_and(|one| one.is_ambiguous) =>
        {
            to.fail(format_args!(
                "it holds the function `{name}` (`{ty}`), and several functions have been given this name: `ckpt::function` takes each one under a name of its own"
            ));
        }
        Some(name) => return to.text(name),
        None => {
            let which = symbols::of(address).map_or_else(String::new, |symbol| format!(", `{symbol}`"));
            to.fail(format_args!(
                "it holds a function of type `{ty}` that has no name for checkpoints{which}: write `ckpt::function(\"NAME\", NAME as {ty});` at the start of `main` for each that may be there; of a closure make a function"
            ));
        }
    }
    to.text("");
}

fn load<F: Function>(from: &mut Decoder<'_>) -> Result<F, LoadError> {
    let stands_in = from.is_stand_in();
    let name = from.text()?;
    let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    let kind = TypeId::of::<F>();
    let mut of_type = { named.by_name.range((kind, "")..) }.take_while(|((of, _), _)| *of == kind);
    // Nobody calls what stands in.
    let found = match stands_in {
        true => of_type.next(),
        false => of_type.find(|((_, known), one)| *known == name && !one.is_ambiguous),
    };
    let pointer = found.and_then(|(_, one)| one.pointer.downcast_ref::<F>());
    pointer.copied().ok_or_else(|| {
        LoadError::invalid(format_args!(
            "the checkpoint holds the function `{name}`, and the program has named no such `{}`",
            type_name::<F>()
        ))
    })
}

/// The implementations for one type.
macro_rules! pointer {
    ([$($generics:tt)*] $pointer:ty) => {
        impl<$($generics)*> Function for $pointer {
            fn address(self) -> usize {
                self as usize
            }
        }
        impl<$($generics)*> Checkpoint for $pointer {
            const BITS: bool = true;
            const FIXED: bool = true;
            fn save(&self, to: &mut Encoder<'_>) {
                save(*self, to);
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                load(from)
            }
        }
    };
}

/// Every parameter by value, by shared and by exclusive reference.
macro_rules! pointers {
    ($kinds:tt [] [$($generics:tt)*] [$($parameter:ty,)*]) => {
        pointers!{@kinds $kinds [$($generics)*] [$($parameter,)*]}
    };
    ($kinds:tt [$next:ident $($rest:ident)*] [$($generics:tt)*] [$($parameter:ty,)*]) => {
        pointers!{$kinds [$($rest)*] [$($generics)* $next: 'static,] [$($parameter,)* $next,]}
        pointers!{$kinds [$($rest)*] [$($generics)* $next: ?Sized + 'static,] [$($parameter,)* &$next,]}
        pointers!{$kinds [$($rest)*] [$($generics)* $next: ?Sized + 'static,] [$($parameter,)* &mut $next,]}
    };
    (@kinds [all] [$($generics:tt)*] [$($parameter:ty,)*]) => {
        pointer!{[$($generics)* R: 'static] fn($($parameter),*) -> R}
        pointer!{[$($generics)* R: 'static] unsafe fn($($parameter),*) -> R}
        pointer!{[$($generics)* R: 'static] extern "C" fn($($parameter),*) -> R}
        pointer!{[$($generics)* R: 'static] unsafe extern "C" fn($($parameter),*) -> R}
    };
    (@kinds [safe] [$($generics:tt)*] [$($parameter:ty,)*]) => {
        pointer!{[$($generics)* R: 'static] fn($($parameter),*) -> R}
    };
}

pointers! {[all] [] [] []}
pointers! {[all] [A] [] []}
pointers! {[all] [A B] [] []}
pointers! {[safe] [A B C] [] []}
pointers! {[safe] [A B C D] [] []}
pointer! {[A: 'static, B: 'static, C: 'static, R: 'static] extern "C" fn(A, B, C) -> R}
pointer! {[A: 'static, B: 'static, C: 'static, D: 'static, R: 'static] extern "C" fn(A, B, C, D) -> R}
pointer! {[A: 'static, B: 'static, C: 'static, D: 'static, E: 'static, R: 'static] fn(A, B, C, D, E) -> R}
pointer! {[A: ?Sized + 'static, B: 'static, C: 'static, D: 'static, E: 'static, R: 'static] fn(&A, B, C, D, E) -> R}
pointer! {[A: ?Sized + 'static, B: 'static, C: 'static, D: 'static, E: 'static, R: 'static] fn(&mut A, B, C, D, E) -> R}
pointer! {[A: 'static, B: 'static, C: 'static, D: 'static, E: 'static, G: 'static, R: 'static] fn(A, B, C, D, E, G) -> R}
pointer! {[A: ?Sized + 'static, B: 'static, C: 'static, D: 'static, E: 'static, G: 'static, R: 'static] fn(&A, B, C, D, E, G) -> R}
pointer! {[A: ?Sized + 'static, B: 'static, C: 'static, D: 'static, E: 'static, G: 'static, R: 'static] fn(&mut A, B, C, D, E, G) -> R}
// Results that are borrowed from the first parameter.
pointer! {[A: ?Sized + 'static, R: ?Sized + 'static] for<'a> fn(&'a A) -> &'a R}
pointer! {[A: ?Sized + 'static, R: ?Sized + 'static] for<'a> fn(&'a mut A) -> &'a R}
pointer! {[A: ?Sized + 'static, R: ?Sized + 'static] for<'a> fn(&'a mut A) -> &'a mut R}
pointer! {[A: ?Sized + 'static, B: 'static, R: ?Sized + 'static] for<'a> fn(&'a A, B) -> &'a R}
pointer! {[A: ?Sized + 'static, B: ?Sized + 'static, R: ?Sized + 'static] for<'a> fn(&'a A, &B) -> &'a R}
pointer! {[A: ?Sized + 'static, B: 'static, R: ?Sized + 'static] for<'a> fn(&'a mut A, B) -> &'a mut R}
