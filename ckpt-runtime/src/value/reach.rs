//! Which types contain themselves: a walk over the types of fields and items, without values.

use std::any::TypeId;
use std::marker::PhantomData;

use super::Checkpoint;
use super::keys::Keys;

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

/// The search for one type in what another is made of.
#[derive(Debug)]
pub struct Reach {
    wanted: TypeId,
    seen: Keys<TypeId>,
    found: bool,
}

impl Reach {
    /// Goes on into `T`, which is a part of the type that is looked at.
    pub fn into_part<T: Checkpoint>(&mut self) {
        let key = type_key::<T>();
        self.found |= key == self.wanted;
        if !self.found && self.seen.insert(key) {
            T::reach(self);
        }
    }
}

/// Whether a value of type `T` may have another one in it, other than behind `Rc` or `Arc`.
pub(crate) fn contains_itself<T: Checkpoint>() -> bool {
    let mut reach = Reach {
        wanted: type_key::<T>(),
        seen: Keys::default(),
        found: false,
    };
    T::reach(&mut reach);
    reach.found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Decoder, Encoder, LoadError};
    use std::collections::HashMap;

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
