//! Types that contain themselves: trees, lists, expressions. What such a value owns (a box, a list, a map that may have
//! another of its own type in it) is a row of a table, and a number where it is. So the columns are as many as the types
//! have, however many values there are.
//!
//! A row is finished before what owns it: every row stands after those that it refers to. Saving recurses as the value
//! does, on stacks of its own where one is not enough; restoring goes from row to row.

use std::any::TypeId;
use std::cell::RefCell;

use super::objects::Objects;
use super::reach::{contains_itself, type_key};
use super::{Checkpoint, Decoder, Encoder, LoadError};

/// Values that own one another may be this deep.
pub(crate) const DEEPEST: u32 = 2_000_000;
/// How much of the program's own stack saving may use.
const OWN_STACK: usize = 256 << 10;
/// The stacks that saving goes on with.
const MORE_STACK: usize = 64 << 20;
/// What is left of them for one value.
const MARGIN: usize = 1 << 20;

/// Saves a value that owns others: here, or in a table if its type contains itself.
#[inline]
pub(crate) fn save<P: Checkpoint>(value: &P, to: &mut Encoder<'_>, save_here: fn(&P, &mut Encoder<'_>)) {
    // The recursion of a type that contains itself ends here when it is too deep.
    if to.failed() {
        return;
    }
    match to.table_of_owned(&OwningType::of::<P>()) {
        None => save_here(value, to),
        Some(_) if to.measures() => {}
        Some(table) => {
            let id = to.objects().own(table, &mut |to| save_here(value, to));
            to.object(table, id);
        }
    }
}

/// A type whose values own others, for what is compiled once and not for every type of every program.
pub(crate) struct OwningType {
    pub key: TypeId,
    pub type_name: &'static str,
    pub contains_itself: fn() -> bool,
}

impl OwningType {
    pub fn of<P: Checkpoint>() -> OwningType {
        OwningType {
            key: type_key::<P>(),
            type_name: std::any::type_name::<P>(),
            contains_itself: contains_itself::<P>,
        }
    }
}

/// How far saving has recursed, and where on which stack.
#[derive(Default)]
pub(super) struct Depth {
    nested: u32,
    base: usize,
    room: usize,
}

#[cfg(test)]
impl Objects {
    pub fn deeper_than_all(&mut self) {
        self.depth.nested = DEEPEST;
    }
}

fn address() -> usize {
    let here = 0_u8;
    std::hint::black_box(&raw const here) as usize
}

impl Objects {
    /// Goes one value deeper, on another stack if this one has no room.
    pub(super) fn deeper(&mut self, save: &mut dyn FnMut(&mut Objects)) {
        let here = address();
        if self.depth.nested == 0 {
            (self.depth.base, self.depth.room) = (here, OWN_STACK);
        }
        if self.depth.nested == DEEPEST {
            return self.fail(format!(
                "its values own one another more than {DEEPEST} deep; keep long chains in a `Vec` and link by index"
            ));
        }
        self.depth.nested += 1;
        if self.depth.base.abs_diff(here) < self.depth.room {
            save(self);
        } else {
            self.on_another_stack(save);
        }
        self.depth.nested -= 1;
    }

    #[cold]
    fn on_another_stack(&mut self, save: &mut dyn FnMut(&mut Objects)) {
        struct Lent<T>(T);
        // SAFETY: this thread does nothing until the other has ended, so what is lent is used by one of them at a time,
        // and starting and joining a thread orders what they do. Nothing that stays behind belongs to the other thread.
        unsafe impl<T> Send for Lent<T> {}

        let (base, room) = (self.depth.base, self.depth.room);
        let lent = Lent((&mut *self, save));
        let ended = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(MORE_STACK);
            let started = thread.spawn_scoped(scope, move || {
                let lent = lent;
                let Lent((objects, save)) = lent;
                (objects.depth.base, objects.depth.room) = (address(), MORE_STACK - MARGIN);
                save(objects);
            });
            started.map(std::thread::ScopedJoinHandle::join)
        });
        (self.depth.base, self.depth.room) = (base, room);
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => self.fail(format!(
                "there is no stack for values that deep in one another: {error}"
            )),
        }
    }
}

/// The owned values of one table that have been made and not been taken yet.
#[derive(Default)]
pub(super) struct Made(RefCell<Option<Rows>>);

/// `Vec<Option<P>>` of the type `P` that has the key. `Any` would not do: `P` may borrow.
struct Rows {
    key: TypeId,
    all: *mut (),
    end: unsafe fn(*mut ()),
}

impl Made {
    /// Whether the rows are known to be of the type with this key.
    pub fn has(&self, key: TypeId) -> bool {
        let rows = self.0.try_borrow();
        rows.is_ok_and(|rows| rows.as_ref().is_some_and(|rows| rows.key == key))
    }

    /// The rows as those of a `P`; `None` if they are of another type.
    pub fn with<P, R>(&self, with: impl FnOnce(&mut Vec<Option<P>>) -> R) -> Option<R> {
        let mut rows = self.0.try_borrow_mut().ok()?;
        let all = of_type(&mut rows, type_key::<P>(), new::<P>, end::<P>)?;
        // SAFETY: `all` was made from a box of this type by `new`: equal keys mean equal types but for lifetimes, and those
        // of a value that was made from a file, by code that is the same for all of them, hold for any. The borrow of
        // the cell keeps it the only reference.
        Some(with(unsafe { &mut *all.cast::<Vec<Option<P>>>() }))
    }
}

/// The rows of the type with this key, made if there are none; `None` if they are of another type. It is compiled once, not for every
/// type of every program.
fn of_type(
    rows: &mut Option<Rows>,
    key: TypeId,
    new: fn() -> *mut (),
    end: unsafe fn(*mut ()),
) -> Option<*mut ()> {
    let rows = rows.get_or_insert_with(|| Rows { key, all: new(), end });
    (rows.key == key).then_some(rows.all)
}

fn new<P>() -> *mut () {
    Box::into_raw(Box::new(Vec::<Option<P>>::new())).cast()
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(rows) = self.0.get_mut().take() {
            // SAFETY: `all` is a box of the type that `end` is for, and is not used again.
            unsafe { (rows.end)(rows.all) };
        }
    }
}

/// SAFETY: `all` is from a box of `Vec<Option<P>>`.
unsafe fn end<P>(all: *mut ()) {
    // SAFETY: as above.
    let all = unsafe { Box::from_raw(all.cast::<Vec<Option<P>>>()) };
    for row in &*all {
        if row.is_some() {
            // What a failed restart leaves may be a chain too long for the stack to drop.
            std::mem::forget(all);
            return;
        }
    }
}

/// Restores a value that [`save`] has saved.
#[inline]
pub(crate) fn load<P: Checkpoint>(
    from: &mut Decoder<'_>,
    load_here: fn(&mut Decoder<'_>) -> Result<P, LoadError>,
) -> Result<P, LoadError> {
    match from.owned_object(&OwningType::of::<P>())? {
        Some((table, id)) => from.context().tables.take(table, id, from.context(), load_here),
        None => load_here(from),
    }
}
