//! What a type is made of, as far as a destructor in it is looked for: see [`check_dead`](crate::check_dead).

use super::Dead;

/// A type that drops values of these types when it is dropped. The types are parameters, so that the fields of a public
/// struct may be of private ones.
pub trait Holds<A, B, C, D> {}

macro_rules! holds_one {
    ($($name:ty $(, $parameter:ident)*;)*) => {
        $(impl<T $(, $parameter)*> Holds<T, (), (), ()> for $name {})*
    };
}

holds_one! {
    Vec<T>;
    Box<T>;
    Box<[T]>;
    std::rc::Rc<[T]>;
    std::sync::Arc<[T]>;
    std::pin::Pin<T>;
    std::cell::OnceCell<T>;
    std::sync::OnceLock<T>;
    Option<T>;
    std::rc::Rc<T>;
    std::sync::Arc<T>;
    std::cell::Cell<T>;
    std::cell::RefCell<T>;
    std::sync::Mutex<T>;
    std::sync::RwLock<T>;
    std::collections::VecDeque<T>;
    std::collections::LinkedList<T>;
    std::collections::BTreeSet<T>;
    std::collections::BinaryHeap<T>;
    std::collections::HashSet<T, S>, S;
    std::vec::IntoIter<T>;
}

impl<W: std::io::Write> Holds<std::io::BufWriter<W>, (), (), ()> for std::io::LineWriter<W> {}
impl<T, const N: usize> Holds<T, (), (), ()> for [T; N] {}
impl<K, V> Holds<K, V, (), ()> for std::collections::BTreeMap<K, V> {}
impl<K, V, S> Holds<K, V, (), ()> for std::collections::HashMap<K, V, S> {}
impl<T, E> Holds<T, E, (), ()> for Result<T, E> {}
impl<A> Holds<A, (), (), ()> for (A,) {}
impl<A, B> Holds<A, B, (), ()> for (A, B) {}
impl<A, B, C> Holds<A, B, C, ()> for (A, B, C) {}
impl<A, B, C, D> Holds<A, B, C, D> for (A, B, C, D) {}
impl<A, B, C, D, E> Holds<A, B, C, (D, E)> for (A, B, C, D, E) {}
impl<A, B, C, D, E, F> Holds<A, B, C, (D, E, F)> for (A, B, C, D, E, F) {}

/// The types that a type holds, each as something to check.
pub type Parts<A, B, C, D> = (Dead<A>, Dead<B>, Dead<C>, Dead<D>);

/// `(&dead).parts()` returns what a type holds that is known to ([`KnownParts`]), and nothing for others ([`NoParts`]).
pub trait KnownParts<A, B, C, D> {
    /// What it holds.
    fn parts(&self) -> Parts<A, B, C, D>;
}

impl<A, B, C, D, T: Holds<A, B, C, D>> KnownParts<A, B, C, D> for Dead<T> {
    fn parts(&self) -> Parts<A, B, C, D> {
        (Dead::unknown(), Dead::unknown(), Dead::unknown(), Dead::unknown())
    }
}

/// See [`KnownParts`].
pub trait NoParts {
    /// Nothing.
    fn parts(&self) -> Parts<(), (), (), ()>;
}

impl<T> NoParts for &Dead<T> {
    fn parts(&self) -> Parts<(), (), (), ()> {
        (Dead::unknown(), Dead::unknown(), Dead::unknown(), Dead::unknown())
    }
}

/// The same where somebody asks how many pointers to one value there are: a pointer that counts would be missed too.
#[doc(hidden)]
#[macro_export]
macro_rules! check_owners {
    ($kept:expr) => {
        // Only the types matter.
        if false {
            #[allow(unused_imports)]
            use $crate::__rt::{DeadDrop as _, DeadPlain as _, DeadUncounted as _, KnownParts as _, NoParts as _};
            $crate::check_dead!(@ $kept, 1 2 3 4);
        }
    };
}

/// `(&&dead).apart()` returns what a type holds that can be taken apart: not one with a destructor of its own, which is
/// taken as a whole.
pub trait ApartWhole {
    /// Nothing.
    fn apart(&self) -> Parts<(), (), (), ()>;
}

#[expect(drop_bounds, reason = "types with `impl Drop`, and no others, are meant")]
impl<T: Drop> ApartWhole for &Dead<T> {
    fn apart(&self) -> Parts<(), (), (), ()> {
        (Dead::unknown(), Dead::unknown(), Dead::unknown(), Dead::unknown())
    }
}

/// See [`ApartWhole`].
pub trait ApartKnown<A, B, C, D> {
    /// What it holds.
    fn apart(&self) -> Parts<A, B, C, D>;
}

impl<A, B, C, D, T: Holds<A, B, C, D>> ApartKnown<A, B, C, D> for &&Dead<T> {
    fn apart(&self) -> Parts<A, B, C, D> {
        (Dead::unknown(), Dead::unknown(), Dead::unknown(), Dead::unknown())
    }
}

/// See [`ApartWhole`].
pub trait ApartNothing {
    /// Nothing.
    fn apart(&self) -> Parts<(), (), (), ()>;
}

impl<T> ApartNothing for Dead<T> {
    fn apart(&self) -> Parts<(), (), (), ()> {
        (Dead::unknown(), Dead::unknown(), Dead::unknown(), Dead::unknown())
    }
}

/// Checks at compile time that nobody sees who drops a part of a value of which another part is taken.
#[doc(hidden)]
#[macro_export]
macro_rules! check_apart {
    ($kept:ident) => {
        if false {
            #[allow(unused_imports)]
            use $crate::__rt::{DeadDrop as _, DeadInert as _, DeadPlain as _};
            $crate::check_apart!(@ $kept);
        }
    };
    (owners $kept:ident) => {
        if false {
            #[allow(unused_imports)]
            use $crate::__rt::{DeadDrop as _, DeadPlain as _, DeadUncounted as _};
            $crate::check_apart!(@ $kept);
        }
    };
    (@ $kept:ident) => {
        #[allow(unused_imports)]
        use $crate::__rt::{ApartKnown as _, ApartNothing as _, ApartWhole as _, KnownParts as _, NoParts as _};
        let (a, b, c, d) = (&&$kept).apart();
        $crate::check_dead!(@ a, 1 2 3);
        $crate::check_dead!(@ b, 1 2 3);
        $crate::check_dead!(@ c, 1 2 3);
        $crate::check_dead!(@ d, 1 2 3);
    };
}

/// Checks at compile time that nobody sees when a value without a name is dropped.
#[doc(hidden)]
#[macro_export]
macro_rules! check_early {
    ($value:ident) => {
        let kept = $crate::__rt::Dead::of(&$value);
        // Only the types matter.
        if false {
            #[allow(unused_imports)]
            use $crate::__rt::{DeadPlain as _, EarlyDrop as _, EarlyUnseen as _, KnownParts as _, NoParts as _};
            $crate::check_dead!(@ kept, 1 2 3);
        }
    };
}

/// Checks at compile time that a value which a restart leaves out has no destructor that would be missed: neither its
/// own, nor one of what it holds, three levels deep.
#[doc(hidden)]
#[macro_export]
macro_rules! check_dead {
    (@ $kept:expr,) => {
        (&&$kept).check();
    };
    (@ $kept:expr, $level:tt $($deeper:tt)*) => {
        (&&$kept).check();
        let (a, b, c, d) = (&$kept).parts();
        $crate::check_dead!(@ a, $($deeper)*);
        $crate::check_dead!(@ b, $($deeper)*);
        $crate::check_dead!(@ c, $($deeper)*);
        $crate::check_dead!(@ d, $($deeper)*);
    };
    ($kept:expr) => {
        // Only the types matter.
        if false {
            #[allow(unused_imports)]
            use $crate::__rt::{DeadDrop as _, DeadInert as _, DeadPlain as _, KnownParts as _, NoParts as _};
            $crate::check_dead!(@ $kept, 1 2 3);
        }
    };
}
