//! Types behind objects of a trait that the crate of the trait cannot name: those of crates that use it. A list that ends in `..` is
//! completed by them, by what [`crate::object!`] says at the start of the program.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};
use std::{rc, sync};

use super::dynamic::{DynTable, DynType, MakeObject};

/// How a value of one type comes behind pointers to the objects of a trait, `dyn Trait` or `dyn Trait + Send`.
pub struct ObjectMaker<O: ?Sized + 'static> {
    /// From a checkpoint.
    pub make: MakeObject<Box<O>>,
    /// A `Weak` whose value is gone.
    pub dead: fn() -> rc::Weak<O>,
    /// The same for `Arc`.
    pub dead_sync: fn() -> sync::Weak<O>,
}

/// One type of a trait.
struct Late {
    id: TypeId,
    name: String,
    ty: DynType,
}

/// Those of the process, whatever session there is.
#[derive(Default)]
struct All {
    /// By the trait.
    types: BTreeMap<TypeId, Vec<Late>>,
    /// By the object and the type.
    makers: BTreeMap<(TypeId, TypeId), Box<dyn Any + Send + Sync>>,
    /// The tables of traits whose values have been asked for.
    whole: BTreeMap<TypeId, &'static DynTable>,
}

static ALL: RwLock<All> = RwLock::new(All {
    types: BTreeMap::new(),
    makers: BTreeMap::new(),
    whole: BTreeMap::new(),
});

/// Lists a type, under this name, with the objects `O` of a trait.
pub fn list_object<O: ?Sized + 'static, T: 'static>(name: &str, module: &str, ty: DynType) {
    let mut all = ALL.write().unwrap_or_else(PoisonError::into_inner);
    let types = all.types.entry(TypeId::of::<O>()).or_default();
    if types.iter().any(|one| one.id == TypeId::of::<T>()) {
        return;
    }
    let name = name.replace(' ', "");
    let name = match types.iter().any(|one| one.name == name) {
        true => format!("{module}::{name}"),
        false => name,
    };
    types.push(Late {
        id: TypeId::of::<T>(),
        name,
        ty,
    });
    all.whole.remove(&TypeId::of::<O>());
}

/// Says how a type comes behind objects, of a trait that has it by [`list_object`].
pub fn list_maker<O: ?Sized + 'static, T: 'static>(maker: ObjectMaker<O>) {
    let mut all = ALL.write().unwrap_or_else(PoisonError::into_inner);
    let key = (TypeId::of::<O>(), TypeId::of::<T>());
    all.makers.entry(key).or_insert_with(|| Box::new(maker));
}

/// The list of a trait with what other crates have added to it.
pub(super) fn whole(of: TypeId, table: &'static DynTable) -> &'static DynTable {
    if let Some(whole) = ALL.read().unwrap_or_else(PoisonError::into_inner).whole.get(&of) {
        return whole;
    }
    let mut all = ALL.write().unwrap_or_else(PoisonError::into_inner);
    let late = all.types.get(&of).map(Vec::as_slice).unwrap_or_default();
    let name = |one: &Late| -> Cow<'static, str> {
        match table.names.contains(&Cow::Borrowed(one.name.as_str())) {
            true => (one.ty.rust_name()).into(),
            false => one.name.clone().into(),
        }
    };
    let names: Vec<Cow<'static, str>> = table.names.iter().cloned().chain(late.iter().map(name)).collect();
    let children = [Cow::Borrowed("variant")]
        .into_iter()
        .chain(names.iter().cloned());
    let types = table.types.iter().copied().chain(late.iter().map(|one| one.ty));
    let late = late.iter().map(|one| one.id);
    // A few tables in the life of a process, which are asked for at every checkpoint.
    let whole: &'static DynTable = Box::leak(Box::new(DynTable {
        name: table.name,
        children: Vec::leak(children.collect()),
        names: Vec::leak(names),
        types: Vec::leak(types.collect()),
        late: Vec::leak(late.collect()),
        of: None,
    }));
    all.whole.insert(of, whole);
    whole
}

/// How a type that was listed comes behind an object.
pub(super) fn maker<O: ?Sized + 'static>(of: TypeId) -> Option<MakeObject<Box<O>>> {
    let all = ALL.read().unwrap_or_else(PoisonError::into_inner);
    let maker = all.makers.get(&(TypeId::of::<O>(), of))?;
    Some(maker.downcast_ref::<ObjectMaker<O>>()?.make)
}

/// A `Weak` of a trait of which no type is known to its crate, whose value is gone.
#[must_use]
pub fn dead_object<O: ?Sized + 'static>() -> Option<rc::Weak<O>> {
    any_of::<O>().map(|(dead, _)| dead())
}

/// The same for `Arc`.
#[must_use]
pub fn dead_object_sync<O: ?Sized + 'static>() -> Option<sync::Weak<O>> {
    any_of::<O>().map(|(_, dead)| dead())
}

type Dead<O> = (fn() -> rc::Weak<O>, fn() -> sync::Weak<O>);

/// Any of them does: there is no value.
fn any_of<O: ?Sized + 'static>() -> Option<Dead<O>> {
    let all = ALL.read().unwrap_or_else(PoisonError::into_inner);
    let mut makers = all.makers.iter().filter(|((of, _), _)| *of == TypeId::of::<O>());
    let maker = makers.next()?.1.downcast_ref::<ObjectMaker<O>>()?;
    Some((maker.dead, maker.dead_sync))
}
