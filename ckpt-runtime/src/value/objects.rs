//! Shared objects (`Rc`, `Arc`): one table per type for the whole checkpoint, and a number wherever one is referred to.
//!
//! While saving, an object met for the first time gets a number and waits in a queue, so that long chains of objects
//! do not recurse. At the end the tables are put in an order in which every object stands after those it refers to;
//! a reader therefore finds everything an object needs already made. A cycle has no such order and is refused.

use std::any::{Any, TypeId};
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use super::column::{Column, Data, Group};
use super::cursor::{Context, Cursor};
use super::decode::Decoder;
use super::encode::Encoder;
use super::error::{LoadError, LoadProblem, SaveError};
use crate::files::{OpenFiles, ReopenedFiles, WrittenFile};

/// The objects of one checkpoint while it is being saved, and the first error.
#[derive(Default)]
pub(crate) struct Objects {
    variable: String,
    error: Option<SaveError>,
    tables: Vec<Table>,
    table_of: HashMap<TypeId, u32>,
    known: HashMap<(TypeId, usize), usize>,
    objects: Vec<Object>,
    queue: VecDeque<usize>,
    current: Option<usize>,
    pub files: OpenFiles,
    now: OnceCell<Instant>,
}

struct Table {
    type_name: &'static str,
    count: u64,
}

type SaveObject = fn(&dyn Any, &mut Encoder<'_>);

struct Object {
    table: u32,
    id: u64,
    keep: Box<dyn Any>,
    save: SaveObject,
    variable: String,
    refers_to: Vec<usize>,
    column: Column,
}

/// A table of shared objects as it is stored: the objects of one type, and the number of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ObjectTable {
    pub type_name: String,
    /// `ids[k]`: the number under which the object in row `k` is referred to.
    pub ids: Vec<u64>,
    pub items: Column,
}

impl Objects {
    /// The moment of the checkpoint, from which all others are told.
    pub fn now(&self) -> Instant {
        *self.now.get_or_init(Instant::now)
    }

    /// Names the variable that is saved next, for messages.
    pub fn enter(&mut self, variable: &str) {
        self.variable.clear();
        self.variable.push_str(variable);
    }

    pub fn fail(&mut self, why: String) {
        self.error.get_or_insert_with(|| SaveError {
            variable: self.variable.clone(),
            why,
        });
    }

    pub fn failed(&self) -> bool {
        self.error.is_some()
    }

    /// The table and number of the object at `address`; it is saved later if it is new. `keep` holds the object alive,
    /// so that its address stays its own until the checkpoint is complete.
    pub fn refer<P: Any + Clone>(
        &mut self,
        pointer: &P,
        address: usize,
        type_name: &'static str,
        save: SaveObject,
    ) -> (u32, u64) {
        let kind = TypeId::of::<P>();
        let next = self.tables.len() as u32;
        let table = *self.table_of.entry(kind).or_insert(next);
        if table == next {
            self.tables.push(Table { type_name, count: 0 });
        }
        let index = match self.known.get(&(kind, address)) {
            Some(&index) => index,
            None => {
                let index = self.objects.len();
                let id = self.tables[table as usize].count;
                self.tables[table as usize].count += 1;
                let keep: Box<dyn Any> = Box::new(pointer.clone());
                let variable = self.variable.clone();
                self.objects.push(Object {
                    table,
                    id,
                    keep,
                    save,
                    variable,
                    refers_to: vec![],
                    column: Column::Empty,
                });
                self.known.insert((kind, address), index);
                self.queue.push_back(index);
                index
            }
        };
        if let Some(current) = self.current {
            self.objects[current].refers_to.push(index);
        }
        (table, self.objects[index].id)
    }

    /// Saves every object that has been referred to so far.
    pub fn drain(&mut self) {
        while let Some(index) = self.queue.pop_front() {
            if self.failed() {
                return;
            }
            let object = &mut self.objects[index];
            let keep = std::mem::replace(&mut object.keep, Box::new(()));
            let save = object.save;
            self.variable = object.variable.clone();
            self.current = Some(index);
            let mut column = Column::Empty;
            save(keep.as_ref(), &mut Encoder::new(&mut column, true, self));
            self.current = None;
            self.objects[index].column = column;
            self.objects[index].keep = keep;
        }
    }

    /// The finished tables and the files that the program writes, or the first error of the whole checkpoint.
    pub fn finish(mut self) -> Result<(Vec<ObjectTable>, Vec<WrittenFile>), SaveError> {
        self.drain();
        let order = self.order();
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut tables: Vec<ObjectTable> = self
            .tables
            .iter()
            .map(|table| ObjectTable {
                type_name: table.type_name.to_owned(),
                ..ObjectTable::default()
            })
            .collect();
        for index in order {
            let object = &mut self.objects[index];
            let table = &mut tables[object.table as usize];
            table.ids.push(object.id);
            append(&mut table.items, std::mem::take(&mut object.column));
        }
        Ok((tables, self.files.written()))
    }

    /// Depth-first order of the references, children first, without recursion.
    fn order(&mut self) -> Vec<usize> {
        const NEW: u8 = 0;
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
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
                                "its shared pointers form a cycle through `{type_name}`; a checkpoint holds shared objects only if none refers back to itself: link by index, or rebuild the back links after the restart"
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

/// Appends the rows of `more`, which the same type saved.
fn append(to: &mut Column, more: Column) {
    match (to, more) {
        (_, Column::Empty) => {}
        (to @ Column::Empty, more) => *to = more,
        (Column::Data(Data { bytes, .. }), Column::Data(more)) => bytes.extend_from_slice(&more.bytes),
        (Column::Group(Group { children, .. }), Column::Group(more)) => {
            for ((_, child), (_, more)) in children.iter_mut().zip(more.children) {
                append(child, more);
            }
        }
        (Column::Array { items, .. }, Column::Array { items: more, .. }) => append(items, *more),
        // Only a `Checkpoint` written by hand can save two shapes for one type; reading it back reports the rest.
        _ => {}
    }
}

/// What the values of one checkpoint share while they are being restored.
#[derive(Default)]
pub(crate) struct Tables {
    tables: Vec<LoadTable>,
    pub files: ReopenedFiles,
    now: OnceCell<Instant>,
}

struct LoadTable {
    /// Row of each number.
    rows: HashMap<u64, usize>,
    /// The rows not yet made; borrowed while one is.
    items: RefCell<Cursor>,
    /// The objects made so far, `Vec<P>`.
    made: RefCell<Option<Box<dyn Any>>>,
}

impl Tables {
    pub fn new(tables: impl Iterator<Item = (Vec<u64>, Cursor)>) -> Self {
        let table = |(ids, items): (Vec<u64>, Cursor)| LoadTable {
            rows: ids.iter().enumerate().map(|(row, &id)| (id, row)).collect(),
            items: RefCell::new(items),
            made: RefCell::default(),
        };
        Tables {
            tables: tables.map(table).collect(),
            files: ReopenedFiles::default(),
            now: OnceCell::new(),
        }
    }

    /// The moment of the restart, in the place of the moment of the checkpoint.
    pub fn now(&self) -> Instant {
        *self.now.get_or_init(Instant::now)
    }

    /// The object `id` of table `number`, made now with everything before it if it is not there yet.
    pub fn get<P: Any + Clone>(
        &self,
        number: u32,
        id: u64,
        context: &Context<'_>,
        load: impl Fn(&mut Decoder<'_>) -> Result<P, LoadError>,
    ) -> Result<P, LoadError> {
        let table = self
            .tables
            .get(number as usize)
            .ok_or_else(|| invalid(format!("there is no shared table {number}")))?;
        let row = *table
            .rows
            .get(&id)
            .ok_or_else(|| invalid(format!("there is no shared object {id} in table {number}")))?;
        // Rows are in an order in which each needs only earlier ones: while one is made, those are there.
        while table.count::<P>(number)? <= row {
            let Ok(mut items) = table.items.try_borrow_mut() else {
                return Err(invalid(format!(
                    "shared object {id} of table {number} is needed before it can be made"
                )));
            };
            let object = load(&mut Decoder::new(&mut items, true, context));
            let object = object.map_err(|error| error.below(&format!("shared/{number}")))?;
            table.push(object);
        }
        table
            .made(|made: &mut Vec<P>| made.get(row).cloned())
            .flatten()
            .ok_or_else(|| invalid("it is lost".to_owned()))
    }
}

fn invalid(why: String) -> LoadError {
    LoadProblem::Invalid(why).into()
}

impl LoadTable {
    fn made<P: Any, R>(&self, with: impl FnOnce(&mut Vec<P>) -> R) -> Option<R> {
        let mut made = self.made.borrow_mut();
        let made = made.get_or_insert_with(|| Box::<Vec<P>>::default());
        made.downcast_mut::<Vec<P>>().map(with)
    }

    fn count<P: Any>(&self, number: u32) -> Result<usize, LoadError> {
        self.made(|made: &mut Vec<P>| made.len()).ok_or_else(|| {
            invalid(format!(
                "the shared objects of table {number} are wanted as two different types"
            ))
        })
    }

    fn push<P: Any>(&self, object: P) {
        self.made(|made: &mut Vec<P>| made.push(object));
    }
}
