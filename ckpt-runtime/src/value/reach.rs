//! Which types contain themselves, and which have destructors with effects: a walk over the types of fields and items, without
//! values.

use std::any::TypeId;
use std::marker::PhantomData;

use super::keys::Keys;
use super::{Checkpoint, Pointee};

/// What distinguishes types; lifetimes do not count. Unlike `TypeId::of` it takes types that borrow.
pub(crate) fn type_key<T: ?Sized>() -> TypeId {
    trait Key {
        fn key(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T: ?Sized> Key for PhantomData<T> {
        fn key(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }
    let phantom = PhantomData::<T>;
    let borrowed: &dyn Key = &phantom;
    // SAFETY: only the bound on the trait object's lifetime changes, not its layout; `key` reads nothing through it,
    // and a `TypeId` does not depend on lifetimes.
    let unbound = unsafe { std::mem::transmute::<&dyn Key, &(dyn Key + 'static)>(borrowed) };
    unbound.key()
}

/// The search for something in what a type is made of.
#[derive(Debug)]
pub struct Reach {
    wanted: Wanted,
    seen: Keys<TypeId>,
    found: bool,
    /// The type that is looked at has said what it is made of.
    is_told: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    /// This type, other than behind `Rc` or `Arc`.
    Type(TypeId),
    /// A destructor that may do more than give back memory and close files.
    Effects,
}

impl Reach {
    fn of(wanted: Wanted) -> Reach {
        Reach {
            wanted,
            seen: Keys::default(),
            found: false,
            is_told: false,
        }
    }

    /// Goes on into `T`, which is a part of the type that is looked at.
    pub fn into_part<T: Checkpoint>(&mut self) {
        self.is_told = true;
        let key = type_key::<T>();
        match self.wanted {
            Wanted::Type(wanted) => {
                self.found |= key == wanted;
                if !self.found && self.seen.insert(key) {
                    T::reach(self);
                }
            }
            Wanted::Effects => {
                if !self.found && std::mem::needs_drop::<T>() && self.seen.insert(key) {
                    self.is_told = false;
                    T::reach(self);
                    // Types whose bits can be looked at in a copy are lists, boxes and text.
                    self.found |= !self.is_told && !T::BITS;
                    self.is_told = true;
                }
            }
        }
    }

    /// Goes on into what the type that is looked at shares with others.
    pub(crate) fn go_into_shared<T: Pointee + ?Sized>(&mut self) {
        self.is_told = true;
        if self.wanted == Wanted::Effects {
            self.is_told = false;
            T::reach_pointee(self);
            self.found |= !self.is_told;
            self.is_told = true;
        }
    }

    /// The destructor of the type that is looked at does no more than give back memory and close files.
    pub(crate) fn only_gives_back(&mut self) {
        self.is_told = true;
    }

    /// Whether the type that is looked at has a destructor of its own, in which the program may do anything.
    pub fn has_destructor(&mut self, has: bool) {
        self.is_told = true;
        self.found |= has && self.wanted == Wanted::Effects;
    }

    /// A part that is not saved, of which no more is known.
    pub fn beside<T>(&mut self) {
        self.is_told = true;
        self.found |= std::mem::needs_drop::<T>() && self.wanted == Wanted::Effects;
    }
}

/// Whether a type has a destructor of its own: `Destructor::<T>::IS_THERE`, which is that of [`NoDestructor`] where it has none.
#[derive(Debug)]
pub struct Destructor<T: ?Sized>(PhantomData<T>);

/// What holds for types without a destructor of their own.
pub trait NoDestructor {
    /// Whether there is one.
    const IS_THERE: bool = false;
}

impl<T: ?Sized> NoDestructor for Destructor<T> {}

#[expect(drop_bounds, reason = "types with `impl Drop`, and no others, are meant")]
impl<T: ?Sized + Drop> Destructor<T> {
    /// Whether there is one.
    pub const IS_THERE: bool = true;
}

/// Whether a value of type `T` may have another one in it, other than behind `Rc` or `Arc`.
pub(crate) fn contains_itself<T: Checkpoint>() -> bool {
    let mut reach = Reach::of(Wanted::Type(type_key::<T>()));
    T::reach(&mut reach);
    reach.found
}

/// Whether the destructor of a `T` may do more than give back memory and close files. Of types that do not say what they are made
/// of, it may.
pub(crate) fn drops_with_effects<T: Checkpoint>() -> bool {
    let mut reach = Reach::of(Wanted::Effects);
    reach.into_part::<T>();
    reach.found
}

/// The same of what a shared pointer leads to.
pub(crate) fn shared_drops_with_effects<T: Pointee + ?Sized>() -> bool {
    let mut reach = Reach::of(Wanted::Effects);
    reach.go_into_shared::<T>();
    reach.found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Decoder, Encoder, LoadError};
    use std::cell::RefCell;
    use std::collections::{HashMap, VecDeque};
    use std::fs::File;
    use std::io::{BufWriter, LineWriter};
    use std::rc::Rc;

    struct Tree {
        _below: Vec<(u8, Box<Tree>)>,
    }

    impl Checkpoint for Tree {
        fn save(&self, _: &mut Encoder<'_>) {}
        fn load(_: &mut Decoder<'_>) -> Result<Self, LoadError> {
            Ok(Tree { _below: Vec::new() })
        }
        fn reach(to: &mut Reach) {
            to.into_part::<Vec<(u8, Box<Tree>)>>();
        }
    }

    #[test]
    fn only_types_that_contain_themselves_are_told() {
        assert!(contains_itself::<Box<Tree>>());
        assert!(contains_itself::<Vec<(u8, Box<Tree>)>>());
        assert!(!contains_itself::<Vec<Tree>>());
        assert!(!contains_itself::<Vec<Vec<f64>>>());
        assert!(!contains_itself::<HashMap<String, Box<[u8]>>>());
    }

    #[derive(ckpt::Checkpoint)]
    struct Plain<T> {
        name: String,
        cells: HashMap<u32, Vec<T>>,
        below: Vec<Plain<T>>,
        #[ckpt(skip)]
        number: u8,
    }

    #[derive(ckpt::Checkpoint)]
    struct Counted<T>(T);

    impl<T> Drop for Counted<T> {
        fn drop(&mut self) {}
    }

    #[test]
    fn destructors_with_effects_are_told_from_those_that_give_back() {
        assert!(!drops_with_effects::<Plain<f64>>());
        assert!(!drops_with_effects::<Option<Rc<RefCell<Plain<Box<str>>>>>>());
        assert!(!drops_with_effects::<(File, Vec<Vec<String>>, VecDeque<[f64; 3]>)>());
        assert!(drops_with_effects::<Plain<BufWriter<File>>>());
        assert!(drops_with_effects::<Option<LineWriter<File>>>());
        assert!(drops_with_effects::<Counted<u8>>());
        assert!(drops_with_effects::<Vec<Rc<Counted<String>>>>());
        assert!(drops_with_effects::<Plain<Counted<u8>>>());
        // It says nothing of itself.
        assert!(!drops_with_effects::<u8>() && !drops_with_effects::<Tree>());
    }

    #[test]
    fn types_that_borrow_have_keys_too() {
        fn of<'a>(_: &'a str) -> TypeId {
            type_key::<std::borrow::Cow<'a, str>>()
        }
        assert_eq!(
            of(&String::from("a")),
            type_key::<std::borrow::Cow<'static, str>>()
        );
        assert_ne!(type_key::<u8>(), type_key::<i8>());
    }
}
