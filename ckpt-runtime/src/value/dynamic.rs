//! Trait objects of the user's traits: a value behind `dyn Trait` is stored under the name of its own type, like the
//! variant of an enum. The code that `#[ckpt::object(..)]` writes is the list of the types, as a [`DynTable`].

use std::any::{Any, TypeId};
use std::borrow::Cow;

use super::column::Kind;
use super::cursor::Cursor;
use super::error::LoadProblem;
use super::{Checkpoint, Decoder, Encoder, LoadError, Reach, late_objects, owned};

/// What every implementor of a trait under `#[ckpt::object(..)]` has: its own type can be asked for.
pub trait Object: Any {
    /// The name of its type, for messages.
    fn ckpt_type_name(&self) -> &'static str;
}

impl<T: Any> Object for T {
    fn ckpt_type_name(&self) -> &'static str {
        std::any::type_name::<T>()
    }
}

/// `Send`, in a form that may be asked of a type that does not have it: the implementation does not exist then.
pub trait SendIn<'a>: Send {}
impl<T: Send> SendIn<'_> for T {}

/// `Sync`, likewise.
pub trait SyncIn<'a>: Sync {}
impl<T: Sync> SyncIn<'_> for T {}

/// The types that may stand behind `dyn Trait`.
#[derive(Debug)]
pub struct DynTable {
    /// `Solver`
    pub name: &'static str,
    /// The names of the types in the file.
    pub names: &'static [Cow<'static, str>],
    /// `"variant"` followed by the same names.
    pub children: &'static [Cow<'static, str>],
    /// The types.
    pub types: &'static [DynType],
    /// The last of them that were listed when the program began, by crates which the trait's cannot name.
    pub late: &'static [TypeId],
    /// If such crates may add to it: `dyn Trait`.
    pub of: Option<fn() -> TypeId>,
}

impl DynTable {
    /// With what other crates have added to it.
    pub(crate) fn whole(&'static self) -> &'static DynTable {
        self.of.map_or(self, |of| late_objects::whole(of(), self))
    }

    /// The number of the type of this name, as rustc says it; nothing where several types have that name.
    pub(crate) fn number_of(&self, rust_type: &str) -> Option<usize> {
        let mut numbers =
            (0..self.types.len()).filter(|number| (self.types[*number].rust_type)() == rust_type);
        match (numbers.next(), numbers.next()) {
            (Some(number), None) => Some(number),
            _ => None,
        }
    }

    /// Why a value of the type of this name cannot be saved behind the trait object.
    pub(crate) fn lacks(&self, found: &str) -> String {
        format!(
            "a `{found}` stands behind `dyn {}` in it, which the list on the trait does not have; add it: `#[ckpt::object({}, {found})]`",
            self.name,
            self.names.join(", ")
        )
    }
}

/// One of the types.
#[derive(Debug, Clone, Copy)]
pub struct DynType {
    rust_type: fn() -> &'static str,
    is: fn(&dyn Any) -> bool,
    save: fn(&dyn Any, &mut Encoder<'_>),
    reach: fn(&mut Reach),
}

impl DynType {
    /// The entry of a type.
    pub const fn of<T: Checkpoint + Any>() -> Self {
        DynType {
            rust_type: std::any::type_name::<T>,
            is: |value| value.is::<T>(),
            save: |value, to| {
                if let Some(value) = value.downcast_ref::<T>() {
                    value.save(to);
                }
            },
            reach: Reach::into_part::<T>,
        }
    }

    /// What rustc calls it.
    pub(super) fn rust_name(&self) -> &'static str {
        (self.rust_type)()
    }
}

/// Saves the value behind a pointer to a trait object, which may own others of its kind.
pub fn save_boxed<P: Checkpoint>(value: &P, to: &mut Encoder<'_>, save_here: fn(&P, &mut Encoder<'_>)) {
    owned::save(value, to, save_here);
}

/// Restores what [`save_boxed`] has saved.
///
/// # Errors
/// As [`load_object`].
pub fn load_boxed<P: Checkpoint>(
    from: &mut Decoder<'_>,
    load_here: fn(&mut Decoder<'_>) -> Result<P, LoadError>,
) -> Result<P, LoadError> {
    owned::load(from, load_here)
}

/// Names the types behind a trait object.
pub fn reach_objects(table: &'static DynTable, to: &mut Reach) {
    table.whole().types.iter().for_each(|one| (one.reach)(to));
}

/// Saves the value behind a trait object.
pub fn save_object<O: Object + ?Sized>(
    value: &O,
    any: &dyn Any,
    table: &'static DynTable,
    to: &mut Encoder<'_>,
) {
    let table = table.whole();
    // The recursion of a type that contains itself ends here when it is too deep.
    if to.failed() {
        return;
    }
    let Some(number) = table.types.iter().position(|one| (one.is)(any)) else {
        return to.fail(table.lacks(value.ckpt_type_name()));
    };
    let mut payload = to.dynamic(table.names, table.children, number);
    (table.types[number].save)(any, &mut payload);
}

/// Makes one of the types and puts it behind a pointer to the trait object.
pub type MakeObject<P> = fn(&mut Decoder<'_>) -> Result<P, LoadError>;

/// Restores the value behind a trait object; `make` has one function for each type of the table.
///
/// # Errors
/// When the file has a type that the table does not have, or not a value of that type.
pub fn load_object<O: ?Sized + 'static>(
    table: &'static DynTable,
    make: &[MakeObject<Box<O>>],
    from: &mut Decoder<'_>,
) -> Result<Box<O>, LoadError> {
    let table = table.whole();
    let known: Vec<[&str; 1]> = table.names.iter().map(|name| [name.as_ref()]).collect();
    let known: Vec<&[&str]> = known.iter().map(<[&str; 1]>::as_slice).collect();
    let (number, mut payload) = from
        .dynamic(&known)
        .map_err(|error| not_in_the_list(error, table))?;
    let late = || late_objects::maker::<O>(*table.late.get(number.checked_sub(make.len())?)?);
    let (Some(make), Some(payload)) = (make.get(number).copied().or_else(late), payload.as_mut()) else {
        return Err(LoadError::invalid("it has no columns"));
    };
    make(payload).map_err(|error| error.below(&table.names[number]))
}

fn not_in_the_list(error: LoadError, table: &DynTable) -> LoadError {
    match error.problem {
        LoadProblem::UnknownVariant { variant, known } => LoadError {
            path: error.path,
            problem: LoadProblem::UnknownObject {
                object: variant,
                name: table.name.to_owned(),
                known,
            },
        },
        _ => error,
    }
}

impl Cursor {
    /// What was lent as `&mut dyn Trait` is stored under the name of its type. Its owner knows the type, and reads what
    /// is below the name: that takes the place of the whole here. Whether there was such a name.
    pub(super) fn see_through(&mut self) -> bool {
        let Cursor::Group {
            kind: Kind::Dyn,
            children,
        } = self
        else {
            return false;
        };
        // What was lent is one value; the items of a list are many, and stay what they are.
        let is_one = matches!(children.first(), Some((_, Cursor::Data(variant))) if variant.single);
        if !is_one {
            return false;
        }
        // One owner has one type.
        let below = children.iter_mut().skip(1).map(|(_, child)| child);
        let mut there = below.filter(|child| !matches!(child, Cursor::Empty));
        let (Some(only), None) = (there.next(), there.next()) else {
            return false;
        };
        *self = std::mem::replace(only, Cursor::Empty);
        true
    }
}
