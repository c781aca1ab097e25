//! How a caller saves what it has lent, where the callee cannot: inside `impl<T> Solver<T>` and behind `&mut dyn Trait`
//! nothing says that the value is `Checkpoint`, and its caller may know.

use super::Registrar;
use crate::value::{DynTable, Refill};
use std::any::type_name;

/// Where a value is in memory: only ever compared with other such numbers of the same run.
pub fn address<T: ?Sized>(value: &T) -> usize {
    std::ptr::from_ref(value).cast::<()>().addr()
}

/// Saves one value of a caller, as the type that the caller knows it by.
#[derive(Debug, Clone, Copy)]
pub struct Saver {
    address: usize,
    size: usize,
    // SAFETY: to be called with a pointer to a readable value of the type that the saver was made for.
    save: unsafe fn(*const (), &mut Registrar, u32, &'static str),
    /// Whether another value of the type will do, for a method that has used its receiver up.
    pub(super) stands_in: fn() -> bool,
    /// What may be in it, if it is a box around a trait object.
    pub(super) objects: Option<&'static DynTable>,
}

impl Saver {
    fn of<T: Refill>(value: &T) -> Self {
        Self {
            address: address(value),
            size: size_of::<T>(),
            save: save::<T>,
            stands_in: T::stands_in,
            objects: T::OBJECTS,
        }
    }

    /// Whether what a callee has is all of the value, and nothing else.
    fn is_for<P: ?Sized>(&self, part: &P) -> bool {
        self.address == address(part) && self.size == size_of_val(part)
    }
}

/// SAFETY: `value` points to a `T` that may be read for the time of the call.
unsafe fn save<T: Refill>(value: *const (), registrar: &mut Registrar, index: u32, key: &'static str) {
    // SAFETY: the caller's promise.
    let value = unsafe { &*value.cast::<T>() };
    registrar.parameter(index, key, value);
}

/// Saves a value that a caller has passed by value, as the type that the caller knows it by.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueSaver {
    rust_type: fn() -> &'static str,
    size: usize,
    // SAFETY: to be called with a pointer to a readable value of the type that the saver was made for.
    save: unsafe fn(*const (), &mut Registrar, u32, &'static str),
}

impl ValueSaver {
    pub(super) fn of<T: Refill>() -> Self {
        Self {
            rust_type: type_name::<T>,
            size: size_of::<T>(),
            save: save::<T>,
        }
    }

    /// Whether it was made for the type of the value.
    fn is_for<P>(&self) -> bool {
        self.size == size_of::<P>() && (self.rust_type)() == type_name::<P>()
    }
}

impl Registrar {
    /// Says that parameter `index` is needed as it is, and that the caller has to pass it again: where it has given it away, it is saved
    /// as what the caller knows it to be.
    pub fn needs<P>(&mut self, index: u32, key: &'static str, value: &P) {
        let demand = self.demanded.iter().find(|demand| demand.parameter == index);
        let Some(demand) = demand.filter(|demand| !demand.made_again) else {
            return self.needs_as_passed(index);
        };
        match demand.by_value.filter(ValueSaver::is_for::<P>) {
            Some(saver) => {
                let value = std::ptr::from_ref(value).cast::<()>();
                // SAFETY: the caller has passed a value of the type that the saver was made for as this very parameter, by value, so
                // that the types are the same but for lifetimes: their names and sizes are. `value` is borrowed until this returns.
                unsafe { (saver.save)(value, self, index, key) };
            }
            None => {
                self.unsaveable.push((index, key, type_name::<P>()));
                self.needs_as_passed(index);
            }
        }
    }

    /// Says that parameter `index` is there, but of a type that cannot be saved here. Where the caller knows how, it is
    /// offered all the same.
    pub fn cannot_offer<P: ?Sized>(
        &mut self,
        index: u32,
        key: &'static str,
        value: &P,
        rust_type: &'static str,
    ) {
        let demand = self.demanded.iter().find(|demand| demand.parameter == index);
        let saver = demand.and_then(|demand| demand.saver);
        match saver.filter(|saver| saver.is_for(value)) {
            Some(saver) => {
                let value = std::ptr::from_ref(value).cast::<()>();
                // SAFETY: the saver was made for a value at this address and of this size, which its maker has lent
                // exclusively until its call returns: the value is still there, nobody else changes it, and `value`
                // borrows all of it.
                unsafe { (saver.save)(value, self, index, key) };
            }
            None => self.unsaveable.push((index, key, rust_type)),
        }
    }
}

/// A variable that is lent to a call: `(&Lend(&x)).saver()` returns a `Saver` where its type is known to be one that can be
/// saved. Method lookup takes the candidate that needs fewer references.
#[derive(Debug)]
pub struct Lend<'a, T: ?Sized>(pub &'a T);

/// See [`Lend`].
pub trait KnownToLender {
    /// The saver.
    fn saver(&self) -> Option<Saver>;
}

impl<T: Refill> KnownToLender for Lend<'_, T> {
    #[inline(always)]
    fn saver(&self) -> Option<Saver> {
        Some(Saver::of(self.0))
    }
}

/// See [`Lend`].
pub trait UnknownToLender {
    /// No saver.
    #[inline(always)]
    fn saver(&self) -> Option<Saver> {
        None
    }
}

impl<T: ?Sized> UnknownToLender for &Lend<'_, T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::registrar::tests::gather;

    #[test]
    fn a_value_is_saved_by_its_caller_where_the_callee_cannot() {
        let value = vec![1u64, 2];
        let saver = Lend(&value).saver();
        let of_any_type: &dyn std::fmt::Debug = &value;
        let frames: [&dyn Fn(&mut Registrar); 3] = [
            &|registrar| registrar.lent("x", 0, saver),
            &|registrar| registrar.lent_parameter(0, "p", 1, None),
            &|registrar| registrar.cannot_offer(1, "x", of_any_type, "dyn Debug"),
        ];
        assert!(gather(&frames).is_ok());
    }

    #[test]
    fn a_part_of_a_value_is_not_the_value() {
        let pair = (1u64, 2u64);
        let saver = Lend(&pair).saver();
        let frames: [&dyn Fn(&mut Registrar); 2] =
            [&|registrar| registrar.lent("x", 0, saver), &|registrar| {
                registrar.cannot_offer(0, "x", &pair.0, "T")
            }];
        assert!(gather(&frames).is_err());
    }
}
