//! Shared objects (`Rc`, `Arc`): one table per type for the whole checkpoint, and a number wherever one is referred to.
//!
//! While saving, an object met for the first time gets a number and waits in a queue, so that long chains of objects
//! do not recurse. At the end the tables are put in an order in which every object stands after those it refers to;
//! a reader therefore finds everything an object needs already made. A cycle has no such order and is refused.
//!
//! A `Weak` has no part in that order: it may lead to an object that is not made yet. Then a value that stands in is put
//! where the object will be, and the object in its place before anybody looks at it.

use std::any::{Any, TypeId};
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Deref;
use std::ptr;
use std::rc::Rc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::body::{Capture, Unread};
use super::column::{Column, Data, Group};
use super::cursor::{Context, Cursor};
use super::decode::Decoder;
use super::encode::Encoder;
use super::error::{LoadError, LoadProblem, SaveError};
use super::impls::shared::Shared;
use super::keys::Keyed;
use super::owned::{Depth, Made, OwningType};
use super::ready::Wanted;
use crate::base::forked::Copier;
use crate::base::room::{self, NO_MEMORY};
use crate::handles::{OpenFiles, ReopenedFiles, WrittenFile};

/// The objects of one checkpoint while it is being saved, and the first error.
#[derive(Default)]
pub(crate) struct Objects {
    variable: Rc<str>,
    error: Option<SaveError>,
    /// Whether a detector has looked at anything.
    pub has_detectors: bool,
    /// The detector that has found the variable that is being saved implausible.
    pub implausible: Option<&'static str>,
    /// What is being saved stands in for something else: what detectors say of it means nothing.
    pub stands_in: bool,
    tables: Vec<Table>,
    table_of: Keyed<TypeId, u32>,
    /// The tables of what types own that contain themselves; `None` for types that do not.
    owned: Keyed<TypeId, Option<u32>>,
    /// The objects by their addresses.
    known: Keyed<usize, usize>,
    objects: Vec<Object>,
    /// Which kinds of pointers may lead to an object before it is made.
    may_be_early: Keyed<TypeId, bool>,
    queue: VecDeque<usize>,
    /// What has been referred to by the objects that are being saved, the innermost last.
    refers_to: Vec<usize>,
    /// What types own that contain themselves is saved at its own place, not in a table: columns that are only to be
    /// compared, and those that are put together from several.
    pub in_place: bool,
    /// Nothing is saved: these are the large lists so far.
    pub sizes: Option<Vec<Wanted>>,
    /// Large lists are taken in blocks.
    pub capture: Option<Capture>,
    pub(super) depth: Depth,
    pub files: OpenFiles,
    now: OnceCell<Instant>,
    /// Lists have been saved that are not in the program's memory.
    pub has_elsewhere: bool,
    /// The shared pointers that statics are, and stay for as long as the process.
    lasting: Vec<Lasting>,
    /// What is being saved is a static.
    pub in_static: bool,
    /// The variables of those that are read beside, in their order.
    read_beside: Vec<Rc<str>>,
}

#[derive(Default)]
struct Table {
    type_name: &'static str,
    /// The type that owns what is in it; none for shared objects.
    owner: Option<TypeId>,
    count: u64,
    /// The rows that are finished: they refer to finished ones only.
    ids: Vec<u64>,
    items: Column,
    /// Columns for one row each, to be used again.
    spare: Vec<Column>,
}

type SaveObject = fn(&dyn Any, &mut Encoder<'_>);

struct Object {
    table: u32,
    id: u64,
    /// The type of the pointers that lead to it.
    kind: TypeId,
    /// Whether a pointer that keeps it alive leads to it, not only a `Weak`.
    is_owned: bool,
    /// Whether a static leads to it itself.
    in_static: bool,
    keep: Box<dyn Any>,
    save: SaveObject,
    variable: Rc<str>,
    refers_to: Vec<usize>,
    column: Column,
}

/// A shared pointer that a static is.
struct Lasting {
    name: Rc<str>,
    /// Which one, of those that the static has in it.
    number: usize,
    kind: TypeId,
    address: usize,
}

/// What a shared pointer that a static is leads to, where something else in the checkpoint leads there as well: a restart leaves
/// the pointer as it is, and has the others lead to where it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SharedStatic {
    /// The static.
    pub name: String,
    /// Which of the pointers in it.
    pub number: usize,
    /// The object: its table and its number there.
    pub object: (u32, u64),
}

/// A table of shared objects as it is stored: the objects of one type, and the number of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ObjectTable {
    pub type_name: String,
    /// `ids[k]`: the number under which the object in row `k` is referred to. None if that is `k` for all of them.
    pub ids: Vec<u64>,
    pub items: Column,
}

/// What is there when all values have been saved.
#[derive(Debug)]
pub(crate) struct Finished {
    pub tables: Vec<ObjectTable>,
    /// The files that the program writes.
    pub files: Vec<WrittenFile>,
    /// The process that copies large lists.
    pub copier: Option<Copier>,
    /// Whether lists are among it that are not in the program's memory.
    pub has_elsewhere: bool,
    /// The shared pointers of statics that lead to objects of the tables.
    pub shared_statics: Vec<SharedStatic>,
}

impl Objects {
    /// The moment of the checkpoint, relative to which all others are written.
    pub fn now(&self) -> Instant {
        *self.now.get_or_init(Instant::now)
    }

    /// Names the variable that is saved next, for messages.
    pub fn enter(&mut self, variable: &str) {
        self.variable = variable.into();
        self.refers_to.clear();
    }

    pub fn fail(&mut self, why: String) {
        self.error.get_or_insert_with(|| SaveError {
            variable: self.variable.to_string(),
            why,
        });
    }

    pub fn failed(&self) -> bool {
        self.error.is_some()
    }

    /// A list of the variable is read by another thread.
    pub fn is_read_beside(&mut self) {
        self.read_beside.push(self.variable.clone());
    }

    /// Waits for those lists.
    pub fn wait_for_lists(&mut self) {
        let unread = self.capture.as_mut().map(Capture::wait_for_lists);
        let variables = std::mem::take(&mut self.read_beside);
        if let Some(Unread { number, why }) = unread.and_then(|unread| unread.into_iter().next()) {
            self.variable = variables[number].clone();
            self.fail(why);
        }
    }

    /// The table and number of the object that `pointer` points to; it is saved later if it is new. A clone of the pointer
    /// holds the object alive, so that its address stays its own until the checkpoint is complete.
    pub fn refer<P: Shared>(&mut self, pointer: &P) -> (u32, u64) {
        let (table, index) = self.known_or_new(pointer);
        let Some(index) = index else {
            return (table, 0);
        };
        self.objects[index].is_owned = true;
        self.stands_after(index);
        (table, self.objects[index].id)
    }

    /// The same for a `Weak`, of which `pointer` was made: it keeps nothing alive, and may lead back.
    pub fn refer_weakly<P: Shared>(&mut self, pointer: &P) -> (u32, u64) {
        let (table, index) = self.known_or_new(pointer);
        let Some(index) = index else {
            return (table, 0);
        };
        let may_be_early = self.may_be_early.entry(TypeId::of::<P>());
        if !*may_be_early.or_insert_with(P::may_be_early) {
            self.stands_after(index);
        }
        (table, self.objects[index].id)
    }

    /// The static that is being saved is, or has in it, a shared pointer, of which nothing but what it leads to is saved.
    pub fn is_lasting(&mut self, kind: TypeId, address: usize) {
        let name = self.variable.clone();
        let number = self.lasting.iter().filter(|one| one.name == name).count();
        self.lasting.push(Lasting {
            name,
            number,
            kind,
            address,
        });
    }

    /// The shared pointers of statics that lead where others lead as well.
    fn shared_statics(&mut self) -> Vec<SharedStatic> {
        let lasting = std::mem::take(&mut self.lasting);
        let mut shared = Vec::new();
        let mut objects = Vec::new();
        for one in lasting {
            let Some(&index) = self.known.get(&one.address) else {
                continue;
            };
            let object = &self.objects[index];
            self.variable = one.name.clone();
            if object.kind != one.kind {
                self.fail(
                    "it is shared as two types; a restart would make two of it: use one type for all pointers to it".to_owned(),
                );
            }
            let object = &mut self.objects[index];
            object.is_owned = true;
            shared.push(SharedStatic {
                name: one.name.to_string(),
                number: one.number,
                object: (object.table, object.id),
            });
            objects.push(index);
        }
        self.refuse_those_inside(&objects);
        shared
    }

    /// Refuses pointers of statics that lead to one of these objects from inside of others: a restart puts statics back one after the
    /// other, and would make those objects before it comes to the static that is the pointer.
    fn refuse_those_inside(&mut self, lasting: &[usize]) {
        let mut of_statics: Vec<usize> = (0..self.objects.len())
            .filter(|index| !lasting.is_empty() && self.objects[*index].in_static)
            .collect();
        let mut seen: HashSet<usize> = of_statics.iter().copied().collect();
        while let Some(index) = of_statics.pop() {
            for &inside in &self.objects[index].refers_to {
                if lasting.contains(&inside) {
                    self.variable.clone_from(&self.objects[index].variable);
                    return self.fail(
                        "it leads to what another static is a shared pointer to; a restart would make two of it: keep that pointer in a `OnceLock` or a `Mutex` in its static".to_owned(),
                    );
                }
                if seen.insert(inside) {
                    of_statics.push(inside);
                }
            }
        }
    }

    /// The table of the pointer's kind, and the object; none where it cannot be saved.
    fn known_or_new<P: Shared>(&mut self, pointer: &P) -> (u32, Option<usize>) {
        let (kind, address) = (TypeId::of::<P>(), pointer.address());
        let next = self.tables.len() as u32;
        let table = *self.table_of.entry(kind).or_insert(next);
        if table == next {
            self.tables.push(Table {
                type_name: std::any::type_name::<P>(),
                ..Table::default()
            });
        }
        if let Some(&index) = self.known.get(&address) {
            self.objects[index].in_static |= self.in_static;
            let known = &self.objects[index];
            if known.kind != kind {
                let other = self.tables[known.table as usize].type_name;
                self.fail(format!(
                    "it is shared as `{}` and as `{other}`; a restart would make two of it: use one of the two types for all pointers to it",
                    std::any::type_name::<P>()
                ));
                return (table, None);
            }
            return (table, Some(index));
        }
        if !self.has_room_for_one() {
            return (table, None);
        }
        let index = self.objects.len();
        let id = self.tables[table as usize].count;
        self.tables[table as usize].count += 1;
        let keep: Box<dyn Any> = Box::new(pointer.clone());
        let variable = self.variable.clone();
        self.objects.push(Object {
            table,
            id,
            kind,
            is_owned: false,
            in_static: self.in_static,
            keep,
            save: |object, to| {
                if let Some(pointer) = object.downcast_ref::<P>() {
                    pointer.save_value(to);
                }
            },
            variable,
            refers_to: vec![],
            column: Column::Empty,
        });
        self.known.insert(address, index);
        self.queue.push_back(index);
        (table, Some(index))
    }

    /// What is being saved stands after this object.
    fn stands_after(&mut self, index: usize) {
        if room::grow(&mut self.refers_to, 1) {
            self.refers_to.push(index);
        } else {
            self.fail(NO_MEMORY.to_owned());
        }
    }

    /// Whether there is memory for one object more; where there is not, that is reported.
    fn has_room_for_one(&mut self) -> bool {
        /// Objects after which it is asked again whether there is memory for what is small of each.
        const SOME: usize = 16;
        let has_room = room::grow(&mut self.objects, 1)
            && self.known.try_reserve(1).is_ok()
            && self.queue.try_reserve(1).is_ok()
            && (!self.objects.len().is_multiple_of(SOME) || room::is_there(0));
        if !has_room {
            self.fail(NO_MEMORY.to_owned());
        }
        has_room
    }

    /// Whether the table has what a `P` owns; a box around a shared pointer is stored as the pointer.
    pub fn is_table_of(&self, table: u32, owner: TypeId) -> bool {
        let table = self.tables.get(table as usize);
        table.is_some_and(|table| table.owner == Some(owner))
    }

    /// The table for values of a type that owns others of its own; `None` for other types.
    pub fn table_of_owned(&mut self, of: &OwningType) -> Option<u32> {
        if self.in_place {
            return None;
        }
        let tables = &mut self.tables;
        *self.owned.entry(of.key).or_insert_with(|| {
            (of.contains_itself)().then(|| {
                tables.push(Table {
                    type_name: of.type_name,
                    owner: Some(of.key),
                    ..Table::default()
                });
                tables.len() as u32 - 1
            })
        })
    }

    /// Saves a value as a row of `table`, and returns its number.
    pub fn own(&mut self, table: u32, save: &mut dyn FnMut(&mut Encoder<'_>)) -> u64 {
        let place = table as usize;
        let mut row = self.tables[place].spare.pop().unwrap_or_default();
        let first = self.refers_to.len();
        self.deeper(&mut |objects| save(&mut Encoder::new(&mut row, true, objects)));
        let table = &mut self.tables[place];
        let id = table.count;
        table.count += 1;
        if self.refers_to.len() == first {
            let has_room = room::grow(&mut table.ids, 1) && move_row(&mut table.items, &mut row);
            if has_room {
                table.ids.push(id);
                table.spare.push(row);
            } else {
                self.fail(NO_MEMORY.to_owned());
            }
            return id;
        }
        if !self.has_room_for_one() || !room::grow(&mut self.refers_to, 1) {
            self.fail(NO_MEMORY.to_owned());
            return id;
        }
        // It stands after the shared objects that it leads to, whose order is not known yet.
        let refers_to = self.refers_to.split_off(first);
        self.refers_to.push(self.objects.len());
        self.objects.push(Object {
            table: place as u32,
            id,
            kind: TypeId::of::<()>(),
            is_owned: true,
            in_static: self.in_static,
            keep: Box::new(()),
            save: |_, _| {},
            variable: self.variable.clone(),
            refers_to,
            column: row,
        });
        id
    }

    /// Saves every object that has been referred to so far.
    pub fn drain(&mut self) {
        /// Objects after which it is asked again whether there is memory for what is small of each.
        const SOME: usize = 16;
        while let Some(index) = self.queue.pop_front() {
            if self.failed() {
                return;
            }
            if index.is_multiple_of(SOME) && !room::is_there(0) {
                return self.fail(NO_MEMORY.to_owned());
            }
            let object = &mut self.objects[index];
            let keep = std::mem::replace(&mut object.keep, Box::new(()));
            let save = object.save;
            self.variable = object.variable.clone();
            self.refers_to.clear();
            let mut column = Column::Empty;
            save(keep.as_ref(), &mut Encoder::new(&mut column, true, self));
            self.objects[index].refers_to = std::mem::take(&mut self.refers_to);
            self.objects[index].column = column;
            self.objects[index].keep = keep;
        }
    }

    /// The finished tables and the files that the program writes, or the first error of the whole checkpoint.
    pub fn finish(mut self) -> Result<Finished, SaveError> {
        self.in_static = false;
        self.drain();
        let shared_statics = self.shared_statics();
        self.wait_for_lists();
        self.look_for_owners();
        let order = self.order();
        let sizes = self.objects.iter().map(|object| object.column.bytes() as usize);
        if !self.failed() && !room::is_there(sizes.sum::<usize>()) {
            self.fail(NO_MEMORY.to_owned());
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        let copier = self.capture.as_mut().and_then(Capture::finish);
        let mut tables: Vec<ObjectTable> = self
            .tables
            .into_iter()
            .map(|table| ObjectTable {
                type_name: table.type_name.to_owned(),
                ids: table.ids,
                items: table.items,
            })
            .collect();
        for index in order {
            let object = &mut self.objects[index];
            let table = &mut tables[object.table as usize];
            let has_room =
                room::grow(&mut table.ids, 1) && append(&mut table.items, std::mem::take(&mut object.column));
            if !has_room {
                return Err(SaveError {
                    variable: object.variable.to_string(),
                    why: NO_MEMORY.to_owned(),
                });
            }
            table.ids.push(object.id);
        }
        for table in &mut tables {
            // Without columns nothing else would tell how many there are.
            let in_order =
                table.items != Column::Empty && table.ids.iter().copied().eq(0..table.ids.len() as u64);
            if in_order {
                table.ids = Vec::new();
            }
        }
        Ok(Finished {
            tables,
            files: self.files.written(),
            copier,
            has_elsewhere: self.has_elsewhere,
            shared_statics,
        })
    }

    /// What only a `Weak` leads to would be gone after a restart.
    fn look_for_owners(&mut self) {
        let Some(lost) = self.objects.iter().find(|object| !object.is_owned) else {
            return;
        };
        self.variable = lost.variable.clone();
        let type_name = self.tables[lost.table as usize].type_name;
        self.fail(format!(
            "a `Weak` in it leads to what no `{type_name}` in the checkpoint keeps alive; a restart would find it gone: let a variable that is saved hold it (`#[ckpt(save)]`), or drop it before the site"
        ));
    }

    /// Depth-first order of the references, children first, without recursion.
    fn order(&mut self) -> Vec<usize> {
        const NEW: u8 = 0;
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        // Each is open, waits to be gone on with, and has a place once.
        let each = 2 * size_of::<(usize, usize)>() + size_of::<usize>() + 1;
        if self.failed() || !room::is_there(self.objects.len() * each) {
            self.fail(NO_MEMORY.to_owned());
            return Vec::new();
        }
        let mut state = vec![NEW; self.objects.len()];
        let mut order = Vec::with_capacity(self.objects.len());
        for root in 0..self.objects.len() {
            let mut path = vec![(root, 0)];
            if state[root] == DONE {
                continue;
            }
            state[root] = OPEN;
            while let Some((object, next)) = path.last_mut() {
                let object = *object;
                match self.objects[object].refers_to.get(*next) {
                    Some(&child) => {
                        *next += 1;
                        if state[child] == NEW {
                            state[child] = OPEN;
                            path.push((child, 0));
                        } else if state[child] == OPEN {
                            self.variable = self.objects[child].variable.clone();
                            let type_name = self.tables[self.objects[child].table as usize].type_name;
                            self.fail(format!(
                                "its shared pointers form a cycle through `{type_name}`; a checkpoint holds shared objects only if none refers back to itself: make one pointer of the cycle a `Weak`, or link by index"
                            ));
                            return order;
                        }
                    }
                    None => {
                        state[object] = DONE;
                        order.push(object);
                        path.pop();
                    }
                }
            }
        }
        order
    }
}

/// Moves a row to the end of a table; what is left has its shape, for the next. Whether there is memory for it.
#[must_use]
fn move_row(to: &mut Column, row: &mut Column) -> bool {
    /// Longer rows are not kept.
    const KEPT: usize = 4096;
    match (to, row) {
        (_, Column::Empty) => true,
        (to @ Column::Empty, row) => {
            *to = std::mem::take(row);
            true
        }
        (Column::Data(Data { bytes, .. }), Column::Data(row)) => {
            let has_room = bytes.append(&row.bytes);
            row.bytes.clear();
            row.bytes.shrink_to(KEPT);
            has_room
        }
        (Column::Group(Group { children, .. }), Column::Group(row)) => {
            let mut pairs = children.iter_mut().zip(&mut row.children);
            pairs.all(|((_, child), (_, row))| move_row(child, row))
        }
        (Column::Array { items, .. }, Column::Array { items: row, .. }) => move_row(items, row),
        // As in `append`.
        (_, row) => {
            *row = Column::Empty;
            true
        }
    }
}

/// Appends the rows of `more`, which the same type saved; whether there is memory for them.
#[must_use]
fn append(to: &mut Column, more: Column) -> bool {
    match (to, more) {
        (_, Column::Empty) => true,
        (to @ Column::Empty, more) => {
            *to = more;
            true
        }
        (Column::Data(Data { bytes, .. }), Column::Data(more)) => bytes.append(&more.bytes),
        (Column::Group(Group { children, .. }), Column::Group(more)) => {
            let mut pairs = children.iter_mut().zip(more.children);
            pairs.all(|((_, child), (_, more))| append(child, more))
        }
        (Column::Array { items, .. }, Column::Array { items: more, .. }) => append(items, *more),
        // Only a `Checkpoint` written by hand can save two shapes for one type; reading it back reports the rest.
        _ => true,
    }
}

/// What the values of one checkpoint share while they are being restored.
#[derive(Default)]
pub(crate) struct Tables {
    tables: Vec<LoadTable>,
    pub files: ReopenedFiles,
    now: OnceCell<Instant>,
    /// Which types contain themselves, of those that have been asked for.
    contain_themselves: RefCell<Keyed<TypeId, bool>>,
    /// The pointers to what stands in for an object that is not made yet, by its table and row.
    early: RefCell<Keyed<(u32, usize), Box<dyn Any>>>,
    /// What makes these objects.
    waiting: RefCell<Vec<MakeLater>>,
    /// The pointers that statics are, in the place of which none is made, by the table and row of what they lead to.
    lasting: RefCell<Keyed<(u32, usize), Box<dyn Any>>>,
    /// Those of the static that is being put back.
    of_static: RefCell<OfStatic>,
}

/// The shared pointers of the static that is being put back.
#[derive(Default)]
struct OfStatic {
    /// How many have been come to.
    count: usize,
    shared: Vec<SharedStatic>,
}

type MakeLater = Box<dyn FnOnce(&Context<'_>) -> Result<(), LoadError>>;

struct LoadTable {
    rows: Rows,
    /// The rows not yet made; borrowed while one is.
    items: RefCell<Cursor>,
    /// The shared objects made so far, `Vec<P>`.
    made: RefCell<Option<Box<dyn Any>>>,
    /// The owned ones.
    owned: Made,
}

/// In which row a number is.
enum Rows {
    /// In the row of that number, below the count.
    InOrder(u64),
    Of(HashMap<u64, usize>),
}

impl Tables {
    pub fn new(tables: impl Iterator<Item = (Vec<u64>, Cursor)>, files: ReopenedFiles) -> Self {
        let table = |(ids, items): (Vec<u64>, Cursor)| LoadTable {
            rows: if ids.is_empty() {
                // The columns bear out the count: no number leads beyond what the file has.
                Rows::InOrder(items.rows().unwrap_or(0))
            } else {
                Rows::Of(ids.iter().enumerate().map(|(row, &id)| (id, row)).collect())
            },
            items: RefCell::new(items),
            made: RefCell::default(),
            owned: Made::default(),
        };
        Tables {
            tables: tables.map(table).collect(),
            files,
            now: OnceCell::new(),
            contain_themselves: RefCell::default(),
            early: RefCell::default(),
            waiting: RefCell::default(),
            lasting: RefCell::default(),
            of_static: RefCell::default(),
        }
    }

    /// Whether a number in table `number` stands for a whole value of this type. If not, it is part of one that is stored as the
    /// shared pointer in it.
    pub fn is_table_of(&self, number: u32, of: &OwningType) -> bool {
        let table = self.tables.get(number as usize);
        table.is_some_and(|table| table.owned.has(of.key))
            || *self
                .contain_themselves
                .borrow_mut()
                .entry(of.key)
                .or_insert_with(of.contains_itself)
    }

    /// The moment of the restart, in the place of the moment of the checkpoint.
    pub fn now(&self) -> Instant {
        *self.now.get_or_init(Instant::now)
    }

    /// The object `id` of table `number`, made now with everything before it if it is not there yet.
    pub fn get<P: Shared>(&self, number: u32, id: u64, context: &Context<'_>) -> Result<P, LoadError> {
        let (table, row) = self.find(number, id)?;
        // Rows are in an order in which each needs only earlier ones: while one is made, those are there.
        loop {
            let at = table.count::<P>(number)?;
            if at > row {
                break;
            }
            let mut value = None;
            table.next(number, id, context, &mut |from| {
                value = Some(P::load_value(from)?);
                Ok(())
            })?;
            let Some(value) = value else {
                return Err(invalid("it is lost".to_owned()));
            };
            let lasting = self.lasting.borrow_mut().remove(&(number, at));
            if let Some(lasting) = lasting {
                // What it leads to is put back with the static.
                P::let_go(value);
                table.push(*lasting.downcast::<P>().map_err(|_| two_types(number))?);
                continue;
            }
            let early = self.early.borrow_mut().remove(&(number, at));
            table.push(match early {
                Some(early) => early
                    .downcast::<P>()
                    .map_err(|_| two_types(number))?
                    .settle(value)?,
                None => P::of(value),
            });
        }
        table
            .made(|made: &mut Vec<P>| made.get(row).cloned())
            .flatten()
            .ok_or_else(|| invalid("it is lost".to_owned()))
    }

    /// The same for a `Weak`: if the object is not there yet, a pointer to where it will be after [`Tables::settle`].
    pub fn get_early<P: Shared>(&self, number: u32, id: u64, context: &Context<'_>) -> Result<P, LoadError> {
        let (table, row) = self.find(number, id)?;
        if row < table.count::<P>(number)? {
            return self.get(number, id, context);
        }
        if let Some(lasting) = self.lasting.borrow().get(&(number, row)) {
            let lasting = lasting.downcast_ref::<P>().cloned();
            return lasting.ok_or_else(|| two_types(number));
        }
        if let Some(early) = self.early.borrow().get(&(number, row)) {
            return early
                .downcast_ref::<P>()
                .cloned()
                .ok_or_else(|| two_types(number));
        }
        let Some(early) = P::early() else {
            return self.get(number, id, context);
        };
        self.early
            .borrow_mut()
            .insert((number, row), Box::new(early.clone()));
        self.waiting.borrow_mut().push(Box::new(move |context| {
            context.tables.get::<P>(number, id, context).map(drop)
        }));
        Ok(early)
    }

    /// A static is put back that has these shared pointers in it.
    pub fn begin_static(&self, shared: Vec<SharedStatic>) {
        *self.of_static.borrow_mut() = OfStatic { count: 0, shared };
    }

    /// The number of the next shared pointer in the static that is being put back.
    pub fn next_of_static(&self) -> usize {
        let mut of_static = self.of_static.borrow_mut();
        of_static.count += 1;
        of_static.count - 1
    }

    /// That pointer: what else leads to its value leads where it does.
    pub fn lasts<P: Any + Clone + Deref>(&self, number: usize, pointer: &P) -> Result<(), LoadError> {
        let of_static = self.of_static.borrow();
        let Some(shared) = of_static.shared.iter().find(|one| one.number == number) else {
            return Ok(());
        };
        let (table, id) = shared.object;
        let (found, row) = self.find(table, id)?;
        let is_made = found.made(|made: &mut Vec<P>| {
            let Some(place) = made.get_mut(row) else {
                return false;
            };
            let address = |one: &P| ptr::from_ref(&**one).cast::<()>();
            if address(place) != address(pointer) {
                // A static that was put back before has asked for it. It is put back once more, and gets this one.
                std::mem::forget(std::mem::replace(place, pointer.clone()));
            }
            true
        });
        if !is_made.ok_or_else(|| two_types(table))? {
            let pointer: Box<dyn Any> = Box::new(pointer.clone());
            self.lasting.borrow_mut().insert((table, row), pointer);
        }
        Ok(())
    }

    /// Makes the objects that a `Weak` has led to before they were there.
    pub fn settle(&self, context: &Context<'_>) -> Result<(), LoadError> {
        loop {
            let next = self.waiting.borrow_mut().pop();
            match next {
                Some(make) => make(context)?,
                None => return Ok(()),
            }
        }
    }

    /// The owned object `id` of table `number`, which nothing else may take; made as [`Tables::get`] makes it.
    pub fn take<P>(
        &self,
        number: u32,
        id: u64,
        context: &Context<'_>,
        load: fn(&mut Decoder<'_>) -> Result<P, LoadError>,
    ) -> Result<P, LoadError> {
        let (table, row) = self.find(number, id)?;
        loop {
            let mut is_made = false;
            let found = table.owned.with(|made: &mut Vec<Option<P>>| {
                is_made = row < made.len();
                if is_made { made[row].take() } else { None }
            });
            match found {
                Some(Some(object)) => return Ok(object),
                Some(None) if is_made => {
                    return Err(invalid(format!("object {id} of table {number} has two owners")));
                }
                Some(None) => {}
                None => return Err(two_types(number)),
            }
            let mut object = None;
            table.next(number, id, context, &mut |from| {
                object = Some(load(from)?);
                Ok(())
            })?;
            if table.owned.with(|made| made.push(object)).is_none() {
                return Err(two_types(number));
            }
        }
    }

    fn find(&self, number: u32, id: u64) -> Result<(&LoadTable, usize), LoadError> {
        let table = self
            .tables
            .get(number as usize)
            .ok_or_else(|| invalid(format!("there is no shared table {number}")))?;
        let row = match &table.rows {
            Rows::InOrder(count) if id < *count => usize::try_from(id).ok(),
            Rows::InOrder(_) => None,
            Rows::Of(rows) => rows.get(&id).copied(),
        };
        match row {
            Some(row) => Ok((table, row)),
            None => Err(invalid(format!(
                "there is no shared object {id} in table {number}"
            ))),
        }
    }
}

fn two_types(number: u32) -> LoadError {
    invalid(format!(
        "the objects of table {number} are wanted as two different types"
    ))
}

fn invalid(why: String) -> LoadError {
    LoadProblem::Invalid(why).into()
}

impl LoadTable {
    /// Has the next row loaded, on the way to the object `id`. It is not generic: it would be compiled again for every type of every
    /// program.
    fn next(
        &self,
        number: u32,
        id: u64,
        context: &Context<'_>,
        load: &mut dyn FnMut(&mut Decoder<'_>) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        let Ok(mut items) = self.items.try_borrow_mut() else {
            return Err(invalid(format!(
                "shared object {id} of table {number} is needed before it can be made"
            )));
        };
        load(&mut Decoder::new(&mut items, true, context))
            .map_err(|error| error.below(&format!("shared/{number}")))
    }

    fn made<P: Any, R>(&self, with: impl FnOnce(&mut Vec<P>) -> R) -> Option<R> {
        let mut made = self.made.borrow_mut();
        let made = made.get_or_insert_with(|| Box::<Vec<P>>::default());
        made.downcast_mut::<Vec<P>>().map(with)
    }

    fn count<P: Any>(&self, number: u32) -> Result<usize, LoadError> {
        self.made(|made: &mut Vec<P>| made.len())
            .ok_or_else(|| two_types(number))
    }

    fn push<P: Any>(&self, object: P) {
        self.made(|made: &mut Vec<P>| made.push(object));
    }
}
