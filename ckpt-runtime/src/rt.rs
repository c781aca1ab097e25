//! What generated code uses, and nothing else does. Not a public interface: it changes with the macros.

pub use crate::frame::{Frame, Registrar};
pub use crate::plan::{FunctionPlan, SiteKind, SitePlan, VariablePlan};
pub use crate::session::{MainSession, Program, open};

use crate::value::Checkpoint;

/// The next item of an iterator that is made again at restart. `count` items were taken when a checkpoint was saved; the
/// walk of a restart takes the last of them again.
#[inline(always)]
pub fn fetch<I: Iterator>(frame: &Frame, iterator: &mut I, count: &mut u64) -> Option<I::Item> {
    if frame.runs() {
        *count += 1;
        iterator.next()
    } else {
        refetch(frame, iterator, *count)
    }
}

#[cold]
fn refetch<I: Iterator>(frame: &Frame, iterator: &mut I, count: u64) -> Option<I::Item> {
    let item = usize::try_from(count)
        .ok()
        .and_then(|count| iterator.nth(count.checked_sub(1)?));
    if item.is_none() {
        frame.lost("an iterator that was made again has fewer items than before");
    }
    item
}

/// What a pattern bound, handed on to the body of its branch.
#[inline(always)]
pub fn bound<T>(held: Option<T>) -> T {
    take_or_die(held)
}

/// A variable that travels from statement to statement in an `Option`.
#[inline(always)]
pub fn take<T>(slot: &mut Option<T>) -> T {
    take_or_die(slot.take())
}

#[inline(always)]
fn take_or_die<T>(held: Option<T>) -> T {
    match held {
        Some(value) => value,
        None => unreachable!("this is a bug in ckpt: a value is used that the restart did not need"),
    }
}

/// A parameter offered to the caller, which is possible where its type can be saved.
///
/// `(&Probe(&x)).offer(..)` picks [`OfferSaved`] for a `Checkpoint` type and [`OfferNothing`] for any other: method lookup
/// takes the candidate that needs fewer references.
#[derive(Debug)]
pub struct Probe<'a, T: ?Sized>(pub &'a T);

/// See [`Probe`].
pub trait OfferSaved {
    /// Offers the parameter.
    fn offer(&self, registrar: &mut Registrar, index: u32, key: &'static str);
}

impl<T: Checkpoint + ?Sized> OfferSaved for Probe<'_, T> {
    fn offer(&self, registrar: &mut Registrar, index: u32, key: &'static str) {
        registrar.parameter(index, key, self.0);
    }
}

/// See [`Probe`].
pub trait OfferNothing {
    /// Offers nothing: a caller that needs the parameter is told so at the first visit of the site.
    fn offer(&self, registrar: &mut Registrar, index: u32, key: &'static str);
}

impl<T: ?Sized> OfferNothing for &Probe<'_, T> {
    fn offer(&self, registrar: &mut Registrar, index: u32, key: &'static str) {
        registrar.cannot_offer(index, key, std::any::type_name::<T>());
    }
}
