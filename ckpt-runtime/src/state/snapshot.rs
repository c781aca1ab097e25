//! The in-memory copy of a program's state at a site: what is taken while the program waits and handed to the store.

use std::borrow::Cow;
use std::path::Path;

use crate::base::forked::Copier;
use crate::base::room::NO_MEMORY;
use crate::handles::{HeldInput, WrittenFile};
use crate::plan::FunctionPlan;
use crate::state::statics::{self, SHARED_STATICS_NOTE};
use crate::value::{
    Capture, Checkpoint, Column, Encoder, FILES, Finished, Kind, ObjectTable, Objects, Owner, Refill, Region,
    SaveError, Seen, SharedStatic, Wanted,
};

/// The state of every instrumented function that is active, outermost first.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The process that copies large lists: before it has ended their values are not there. It is waited for before they
    /// are dropped.
    copier: Option<Copier>,
    /// One record per active instrumented function.
    pub frames: Vec<FrameRecord>,
    /// The objects behind `Rc` and `Arc` of all variables, by type.
    pub(crate) tables: Vec<ObjectTable>,
    /// The program's global state, each under its name.
    pub(crate) statics: Vec<VariableRecord>,
    /// The files that the program writes to.
    pub(crate) files: Vec<WrittenFile>,
    /// The variables and where they are, if somebody wants to know.
    pub(crate) seen: Vec<Seen>,
    /// Whether a restart writes lists of it to where the program does not have them in its memory.
    pub(crate) has_elsewhere: bool,
    /// The statics that are shared pointers, where others lead to the same.
    pub(crate) shared_statics: Vec<SharedStatic>,
}

/// One active function: where it stands and the variables it needs to go on.
#[derive(Debug)]
pub struct FrameRecord {
    /// The function.
    pub plan: &'static FunctionPlan,
    /// The site it stands at; ids begin with 1.
    pub site: u32,
    /// The thread it runs on: 0 is that of the session, then the members of the team in the order of their beginning.
    pub thread: u32,
    /// Its variables.
    pub variables: Vec<VariableRecord>,
}

/// One variable of a frame.
#[derive(Debug)]
pub struct VariableRecord {
    /// Its name, unique within the frame.
    pub key: Cow<'static, str>,
    /// Line of its declaration.
    pub line: u32,
    /// The Rust type it was saved as.
    pub rust_type: &'static str,
    /// Which parameter of the function it is, if it is one.
    pub parameter: Option<u32>,
    /// The value, or where it is.
    pub content: Content,
}

/// What a variable's record holds.
#[derive(Debug)]
pub enum Content {
    /// The value as columns.
    Value(Column),
    /// The value is that of another frame's variable, to which this one is lent.
    Link {
        /// Index of the frame.
        frame: usize,
        /// Key of the variable there; it is a value, never another link.
        key: String,
    },
}

impl Snapshot {
    /// What is noted of statics that are shared pointers, where others lead to the same.
    pub(crate) fn shared_statics_note(&self) -> Option<(String, String)> {
        let is_any = !self.shared_statics.is_empty();
        let says = is_any.then(|| serde_json::to_string(&self.shared_statics).unwrap_or_default())?;
        Some((SHARED_STATICS_NOTE.to_owned(), says))
    }

    /// Bytes of all values.
    pub fn bytes(&self) -> u64 {
        self.columns().map(Column::bytes).sum()
    }

    /// Bytes of the copies that it is made of.
    pub(crate) fn held(&self) -> u64 {
        self.columns().map(Column::held).sum()
    }

    /// Waits until all of it is there.
    ///
    /// # Errors
    /// The process that copies a part of it was ended.
    pub(crate) fn wait(&self) -> std::io::Result<()> {
        self.copier.as_ref().map_or(Ok(()), Copier::wait)
    }

    pub(crate) fn columns(&self) -> impl Iterator<Item = &Column> {
        let variables = self.frames.iter().flat_map(|frame| &frame.variables);
        let values = variables.chain(&self.statics);
        let values = values.filter_map(|variable| match &variable.content {
            Content::Value(column) => Some(column),
            Content::Link { .. } => None,
        });
        values.chain(self.tables.iter().map(|table| &table.items))
    }
}

const USED_UP: &str = "the thread that it has moved into has used it up; a restart starts that thread again, and ckpt cannot make another value of its type for it";

/// Takes a [`Snapshot`], frame by frame and variable by variable.
///
/// Not `Send`: it holds on to every `Rc` and `Arc` it has met until [`SnapshotBuilder::finish`].
#[derive(Default)]
pub struct SnapshotBuilder {
    frames: Vec<FrameRecord>,
    statics: Vec<VariableRecord>,
    objects: Objects,
    /// The first variable that a detector has found implausible.
    implausible: Option<Implausible>,
    /// The thread whose frames are being recorded.
    thread: u32,
    /// The variables of the session's thread that have moved into members, whose frames come later.
    moves: Vec<MovedToMember>,
    /// Nothing is saved: this one variable is made again.
    wanted: Option<Owner>,
    /// What it is saved as, once it has been.
    made: Option<Column>,
    /// A list in parts is being put together: what the frames from here on lend must stand at its own place, as the
    /// pointers' owners and those that see what is behind them would not agree otherwise.
    pub(crate) in_rows: bool,
}

/// A variable that has moved into a member of a team.
pub(crate) struct MovedToMember {
    /// The frame that had it.
    pub frame: usize,
    /// Its name there.
    pub key: &'static str,
    /// The line of its declaration.
    pub line: u32,
    /// Which parameter of the function it is, if it is one.
    pub parameter: Option<u32>,
    /// The function that is the member's body, which one member has.
    pub member: &'static str,
    /// The parameter of that.
    pub of_member: u32,
    /// Whether something else of its type can be passed, where the member has used it up.
    pub stands_in: fn() -> bool,
}

/// A variable that a detector of the program's has found implausible.
#[derive(Debug, Clone)]
pub(crate) struct Implausible {
    /// The variable.
    pub key: String,
    /// The frame that has it, at its site; none for a static.
    pub at: Option<(&'static FunctionPlan, u32)>,
    /// The detector.
    pub detector: &'static str,
}

impl SnapshotBuilder {
    /// An empty snapshot.
    pub fn new() -> Self {
        SnapshotBuilder::default()
    }

    /// An empty snapshot that takes large lists in blocks, and of those only what the references do not have.
    pub(crate) fn in_blocks(capture: Capture) -> Self {
        let mut builder = SnapshotBuilder::default();
        builder.objects.capture = Some(capture);
        builder
    }

    /// One for which nothing is saved: it is found out how large the lists are that will be.
    pub(crate) fn of_sizes() -> Self {
        let mut builder = SnapshotBuilder::default();
        builder.objects.sizes = Some(Vec::new());
        builder
    }

    /// The lists of one that was made for that.
    pub(crate) fn sizes(self) -> Vec<Wanted> {
        self.objects.sizes.unwrap_or_default()
    }

    /// One for which nothing is saved: the variable of this owner is made again where it says how.
    pub(crate) fn of_one_made_again(owner: Owner) -> Self {
        SnapshotBuilder {
            wanted: Some(owner),
            ..SnapshotBuilder::default()
        }
    }

    /// Whether it is one for which nothing is saved, and which variable is made again.
    pub(crate) fn wanted(&self) -> Option<Owner> {
        self.wanted
    }

    /// The variable that is wanted has been made again.
    pub(crate) fn is_made(&mut self, save: &dyn Fn(&mut Encoder<'_>)) {
        self.objects.capture = Some(Capture::default());
        self.made = Some(self.columns_at(false, false, save));
        self.objects.capture = None;
    }

    /// What the variable that was wanted is saved as, if it could be made.
    pub(crate) fn made(self) -> Option<Column> {
        self.made
    }

    /// Begins the record of the next frame, one call further in than the last, and returns its index.
    pub fn frame(&mut self, plan: &'static FunctionPlan, site: u32) -> usize {
        self.frames.push(FrameRecord {
            plan,
            site,
            thread: self.thread,
            variables: Vec::new(),
        });
        self.frames.len() - 1
    }

    /// From here on the frames are those of another thread. Gives the index that the first of them will have.
    pub(crate) fn begin_thread(&mut self, thread: u32) -> usize {
        self.thread = thread;
        self.frames.len()
    }

    /// How many frames there are.
    pub(crate) fn frame_count(&self) -> usize {
        self.frames.len()
    }

    /// Saves a variable into frame `frame`, an index that [`SnapshotBuilder::frame`] gave. A value that cannot be
    /// saved is reported by [`SnapshotBuilder::finish`].
    pub fn value<T: Checkpoint + ?Sized>(
        &mut self,
        frame: usize,
        key: impl Into<Cow<'static, str>>,
        line: u32,
        parameter: Option<u32>,
        value: &T,
    ) {
        let rust_type = std::any::type_name::<T>();
        self.value_as(frame, key.into(), line, parameter, false, rust_type, &|to| {
            value.save_part(to)
        });
    }

    /// As [`SnapshotBuilder::value`]; `as_row` saves it as one of many values, to be put among others of its type.
    /// It is not generic: it would be compiled again for every type of every program.
    #[expect(clippy::too_many_arguments, reason = "all that is known of a variable")]
    pub(crate) fn value_as(
        &mut self,
        frame: usize,
        key: Cow<'static, str>,
        line: u32,
        parameter: Option<u32>,
        as_row: bool,
        rust_type: &'static str,
        save: &dyn Fn(&mut Encoder<'_>),
    ) {
        self.objects.enter(&key);
        let in_place = self.in_rows && parameter.is_some();
        if let Some(capture) = &mut self.objects.capture {
            capture.begins(frame, key.clone());
        }
        let column = self.columns_at(as_row, in_place, save);
        if let Some(capture) = &mut self.objects.capture {
            capture.ends(&column);
        }
        let at = self.frames.get(frame).map(|record| (record.plan, record.site));
        self.note_implausible(&key, at);
        self.push(
            frame,
            VariableRecord {
                key,
                line,
                rust_type,
                parameter,
                content: Content::Value(column),
            },
        );
    }

    /// Whether what was saved last in a frame has a type of its own behind a trait object.
    pub(crate) fn last_is_object(&self, frame: usize) -> bool {
        let last = self.frames.get(frame).and_then(|record| record.variables.last());
        let content = last.map(|variable| &variable.content);
        matches!(content, Some(Content::Value(Column::Group(group))) if group.kind == Kind::Dyn)
    }

    /// Notes what a detector has said while this variable was saved.
    fn note_implausible(&mut self, key: &str, at: Option<(&'static FunctionPlan, u32)>) {
        if let Some(detector) = self.objects.implausible.take() {
            self.implausible.get_or_insert_with(|| Implausible {
                key: key.to_owned(),
                at,
                detector,
            });
        }
    }

    /// The first variable that a detector has found implausible.
    pub(crate) fn implausible(&self) -> Option<&Implausible> {
        self.implausible.as_ref()
    }

    /// Whether a detector has looked at anything.
    pub(crate) fn has_detectors(&self) -> bool {
        self.objects.has_detectors
    }

    /// The files that the values hold open, by their devices and numbers there, those behind shared pointers too.
    pub(crate) fn held_files(&mut self) -> Vec<(u64, u64)> {
        self.objects.drain();
        self.objects.files.ids()
    }

    /// Whether a variable holds an open file.
    pub(crate) fn has_files(&self) -> bool {
        self.objects.files.are_any()
    }

    /// The next variable stands in for what another one has, or, until `false` is given, is one.
    pub(crate) fn marks_stand_in(&mut self, stands_in: bool) {
        self.objects.stands_in = stands_in;
    }

    /// The next variable does not change between two visits of its site, or, until `None` is given, may.
    pub(crate) fn mark_clean(&mut self, owner: Option<Owner>) {
        if let Some(capture) = &mut self.objects.capture {
            capture.mark_clean(owner);
        }
    }

    /// Nor does anything look at it.
    pub(crate) fn mark_unread(&mut self) {
        if let Some(capture) = &mut self.objects.capture {
            capture.mark_unread();
        }
    }

    /// The next variable is in `region` of the program's memory; or, until this is said again, may have been made to be
    /// saved.
    pub(crate) fn stands_in(&mut self, region: Region) {
        if let Some(capture) = &mut self.objects.capture {
            capture.enter(region);
        }
    }

    /// Saves a part of the program's global state.
    pub(crate) fn global(
        &mut self,
        name: &'static str,
        rust_type: &'static str,
        global: &dyn statics::Place,
    ) {
        self.objects.enter(name);
        self.objects.in_static = true;
        let column = self.columns_at(false, false, &|to| global.save(to));
        self.objects.in_static = false;
        self.note_implausible(name, None);
        self.statics.push(VariableRecord {
            key: name.into(),
            line: 0,
            rust_type,
            parameter: None,
            content: Content::Value(column),
        });
    }

    /// Saves something that is not a variable of its own.
    pub(crate) fn columns(&mut self, as_row: bool, save: &dyn Fn(&mut Encoder<'_>)) -> Column {
        self.columns_at(as_row, self.in_rows, save)
    }

    fn columns_at(&mut self, as_row: bool, in_place: bool, save: &dyn Fn(&mut Encoder<'_>)) -> Column {
        let mut column = Column::Empty;
        self.objects.in_place = in_place;
        // What is put together from several places is put together as it is.
        let in_parts = self.in_rows.then(|| self.objects.capture.take());
        save(&mut Encoder::new(&mut column, as_row, &mut self.objects));
        if let Some(capture) = in_parts {
            self.objects.capture = capture;
        }
        self.objects.in_place = false;
        column
    }

    /// A variable cannot be saved.
    pub(crate) fn fails(&mut self, key: &str, why: &str) {
        self.objects.enter(key);
        self.objects.fail(why.to_owned());
    }

    /// Takes a value out of a frame, to put it among others; what was linked to it is elsewhere now.
    pub(crate) fn take(&mut self, frame: usize, key: &str) -> Column {
        for record in &mut self.frames {
            record.variables.retain(|variable| {
                !matches!(&variable.content, Content::Link { frame: target, key: name } if *target == frame && name == key)
            });
        }
        let Some(record) = self.frames.get_mut(frame) else {
            return Column::Empty;
        };
        let Some(index) = record.variables.iter().position(|variable| variable.key == key) else {
            return Column::Empty;
        };
        match record.variables.remove(index).content {
            Content::Value(column) => column,
            Content::Link { .. } => Column::Empty,
        }
    }

    /// Records that variable `key` of frame `frame`, the function's parameter `parameter` if it is one, is variable
    /// `target_key` of frame `target`.
    ///
    /// The target holds a value, not another link.
    pub fn link(
        &mut self,
        frame: usize,
        key: impl Into<Cow<'static, str>>,
        line: u32,
        parameter: Option<u32>,
        target: usize,
        target_key: impl Into<String>,
    ) {
        let content = Content::Link {
            frame: target,
            key: target_key.into(),
        };
        self.push(
            frame,
            VariableRecord {
                key: key.into(),
                line,
                rust_type: "",
                parameter,
                content,
            },
        );
    }

    /// A variable has moved into a member, which is asked later what it has.
    pub(crate) fn moves_to_member(&mut self, moved: MovedToMember) {
        self.moves.push(moved);
    }

    /// All members have said what they have: what has moved into them is led there, and so is what callers have of it.
    pub(crate) fn lead_to_members(&mut self) {
        for moved in std::mem::take(&mut self.moves) {
            let MovedToMember { frame, key, .. } = moved;
            let is_led = |one: &VariableRecord| matches!(&one.content, Content::Link { frame: target, key: name } if *target == frame && name == key);
            let target = self.place_in_member(&moved);
            for record in &mut self.frames {
                match &target {
                    Some((frame, key)) => {
                        record
                            .variables
                            .iter_mut()
                            .filter(|one| is_led(one))
                            .for_each(|one| {
                                one.content = Content::Link {
                                    frame: *frame,
                                    key: key.clone(),
                                };
                            })
                    }
                    None => record.variables.retain(|one| !is_led(one)),
                }
            }
            match target {
                Some((target, of)) => self.link(frame, key, moved.line, moved.parameter, target, of),
                None if self.wanted.is_some() || (moved.stands_in)() => {}
                None => self.fails(key, USED_UP),
            }
        }
    }

    /// Where the value is that has moved into a member, if it still has it.
    fn place_in_member(&self, moved: &MovedToMember) -> Option<(usize, String)> {
        let outer = self.frames.get(moved.frame)?.plan;
        let is_body = |one: &FrameRecord| {
            one.thread > 0 && (one.plan.function, one.plan.module) == (moved.member, outer.module)
        };
        let body = self.frames.iter().position(is_body)?;
        let variables = self.frames[body].variables.iter();
        let own = { variables }.find(|one| one.parameter == Some(moved.of_member))?;
        Some(match &own.content {
            Content::Value(_) => (body, own.key.clone().into_owned()),
            Content::Link { frame, key } => (*frame, key.clone()),
        })
    }

    /// Puts a variable, whose columns are there, into a frame.
    pub(crate) fn push(&mut self, frame: usize, variable: VariableRecord) {
        match self.frames.get_mut(frame) {
            Some(record) => record.variables.push(variable),
            None => self.objects.fail(format!(
                "it is saved into frame {frame}, which does not exist; this is a bug in ckpt"
            )),
        }
    }

    /// Waits for the lists that threads read beside what has been saved so far.
    pub(crate) fn wait_for_lists(&mut self) {
        self.objects.wait_for_lists();
    }

    /// It cannot be taken: what the program's files are cannot be kept.
    pub(crate) fn fail(&mut self, why: String) {
        self.objects.enter(FILES);
        self.objects.fail(why);
    }

    /// What is at a path, and its name, has to be on the disk before the checkpoint is. What is not there needs its name only.
    pub(crate) fn needs_on_disk(&mut self, path: &Path) {
        self.objects.files.written_elsewhere(path);
    }

    /// What the values have of standard input.
    pub(crate) fn held_input(&self) -> HeldInput {
        self.objects.files.input
    }

    /// Ends the snapshot.
    ///
    /// # Errors
    /// The first variable that could not be saved.
    pub fn finish(mut self) -> Result<Snapshot, SaveError> {
        self.check_links();
        self.check_columns();
        let seen = self
            .objects
            .capture
            .as_mut()
            .and_then(|capture| capture.seen.take());
        let Finished {
            tables,
            files,
            copier,
            has_elsewhere,
            shared_statics,
        } = self.objects.finish()?;
        Ok(Snapshot {
            frames: self.frames,
            statics: self.statics,
            tables,
            files,
            copier,
            seen: seen.unwrap_or_default(),
            has_elsewhere,
            shared_statics,
        })
    }

    /// Bytes for which there was no memory are missed here at the latest.
    fn check_columns(&mut self) {
        let variables = self.frames.iter().flat_map(|frame| &frame.variables);
        let mut all = variables.chain(&self.statics);
        let incomplete = all
            .find(|variable| matches!(&variable.content, Content::Value(column) if column.is_incomplete()));
        if let Some(variable) = incomplete {
            self.objects.enter(&variable.key);
            self.objects.fail(NO_MEMORY.to_owned());
        }
    }

    /// A link must lead to a value: readers refuse a file in which one does not.
    fn check_links(&mut self) {
        let dangling = self
            .frames
            .iter()
            .flat_map(|frame| &frame.variables)
            .find(|variable| match &variable.content {
                Content::Link { frame, key } => !self.frames.get(*frame).is_some_and(|frame| {
                    frame
                        .variables
                        .iter()
                        .any(|target| target.key == *key && matches!(target.content, Content::Value(_)))
                }),
                Content::Value(_) => false,
            });
        if let Some(variable) = dangling {
            self.objects.enter(&variable.key);
            self.objects.fail(
                "it is lent to a variable that is not in the checkpoint; this is a bug in ckpt".to_owned(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::sync::{Arc, Mutex, RwLock};

    use super::*;
    use crate::value::Checkpoint;

    static PLAN: FunctionPlan = FunctionPlan::SAMPLE;

    /// What is said of a checkpoint with this value.
    fn told<T: Checkpoint>(value: &T) -> String {
        let mut builder = SnapshotBuilder::new();
        let frame = builder.frame(&PLAN, 1);
        builder.value(frame, "plain", 2, None, &1);
        builder.value(frame, "tallies", 3, None, value);
        builder.finish().map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn locks_that_are_poisoned_or_held_are_refused_by_name() {
        let poisoned = Mutex::new(1);
        let panics = catch_unwind(AssertUnwindSafe(|| {
            let _guard = poisoned.lock();
            resume_unwind(Box::new("while it is held"));
        }));
        assert!(panics.is_err());
        let held = RwLock::new(2);
        let _guard = held.write();
        let poisoned = told(&vec![Arc::new(poisoned)]);
        assert!(
            poisoned.contains("`tallies`") && poisoned.contains("is poisoned"),
            "{poisoned}"
        );
        let held = told(&held);
        assert!(
            held.contains("`tallies`") && held.contains("is locked at the site"),
            "{held}"
        );
    }

    /// The variables of a snapshot in which `x` of the caller has moved into parameter 0 of `outer`, and on into parameter 2 of a thread.
    fn moved(has_it: bool, stands_in: fn() -> bool) -> Result<Vec<Vec<String>>, SaveError> {
        static BODY: FunctionPlan = FunctionPlan {
            function: "outer_thread_1",
            ..FunctionPlan::SAMPLE
        };
        let mut builder = SnapshotBuilder::new();
        let caller = builder.frame(&PLAN, 1);
        let outer = builder.frame(&PLAN, 1);
        builder.link(caller, "x", 1, None, outer, "given");
        builder.moves_to_member(MovedToMember {
            frame: outer,
            key: "given",
            line: 2,
            parameter: Some(0),
            member: BODY.function,
            of_member: 2,
            stands_in,
        });
        builder.begin_thread(1);
        builder.frame(&PLAN, 1);
        builder.begin_thread(2);
        let body = builder.frame(&BODY, 1);
        if has_it {
            builder.value(body, "own", 3, Some(2), &4.5);
        }
        builder.lead_to_members();
        let described = |variable: VariableRecord| match variable.content {
            Content::Value(_) => variable.key.into_owned(),
            Content::Link { frame, key } => format!("{} -> {frame}/{key}", variable.key),
        };
        let snapshot = builder.finish()?;
        let frames = snapshot.frames.into_iter();
        Ok(frames
            .map(|frame| frame.variables.into_iter().map(described).collect())
            .collect())
    }

    #[test]
    fn what_has_moved_into_a_thread_is_looked_for_there() {
        let all = moved(true, || false).unwrap();
        assert_eq!(
            all,
            [vec!["x -> 3/own"], vec!["given -> 3/own"], vec![], vec!["own"]]
        );
        let none = moved(false, || true).unwrap();
        assert!(none.iter().all(Vec::is_empty), "{none:?}");
        let refused = moved(false, || false).unwrap_err().to_string();
        assert!(
            refused.contains("`given`") && refused.contains("has used it up"),
            "{refused}"
        );
    }
}
