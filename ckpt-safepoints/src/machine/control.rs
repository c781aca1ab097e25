//! Branches and loops, and what is not followed.

use super::way_out::WayOut;
use super::{BlockedOn, Continuation, LoopMark, Lost, ProgramPoint, Rank, RankState, View};
use crate::skeleton::regions::{RegionEffects, WriteKind};
use crate::skeleton::{ControlOp, ELEMENT, MemoryOp, Op, ValueOp, Var, is_error};
use crate::values::{Binary, MemoryPlace, Projection, Provenance, Value};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;

impl Rank {
    /// Nothing where the stack has not what the step needs.
    pub(super) fn control_op(&mut self, op: &ControlOp, pc: usize, view: &mut View<'_>) -> Option<()> {
        match op {
            ControlOp::Jump(to) => self.frame().pc = *to,
            ControlOp::Branch(other, join) => self.branch(*other, *join, view)?,
            ControlOp::Enter(_) => self.enter(pc, view),
            ControlOp::Next(slot, exit) => self.next_element(*slot, *exit, view)?,
            ControlOp::Break(ends, to) => self.leave(*ends, *to),
            ControlOp::Continue(ends, to) => self.again(*ends, *to)?,
            ControlOp::Exit => self.exit(),
            ControlOp::Return => {
                let value = self.pop()?;
                self.give_back(value, view)?;
            }
            ControlOp::Try => {
                let top = self.pop()?;
                self.question_mark(top, view)?;
            }
            ControlOp::Boundary(index) => {
                if view.regions.is_site(*index) {
                    self.state = RankState::Blocked(BlockedOn::Site(*index));
                }
            }
            ControlOp::End => self.state = RankState::Ended,
            ControlOp::Opaque(why) => self.lose(why),
        }
        Some(())
    }

    pub(crate) fn enter(&mut self, pc: usize, view: &View<'_>) {
        let code = self.frame().code;
        let Some(Op::Control(ControlOp::Enter(exit))) = view.skeleton.codes[code].ops.get(pc) else {
            return;
        };
        let region = view.regions.region(code, pc..*exit);
        let key = self.key_of(&region, (code, pc), view);
        let frame = self.frame();
        frame.marks.push(LoopMark {
            enter: pc,
            height: frame.stack.len(),
            key,
            again: false,
        });
        let mark = frame.marks.len() - 1;
        if region.events {
            return;
        }
        let top = self.frames.len() - 1;
        if self.skips(code, Some(pc), view) && self.try_abandon_loop(top, mark, view) {
            return;
        }
        self.be_quiet(top, Some(mark), Some(pc), view);
    }

    pub(crate) fn exit(&mut self) {
        let frame = self.frame();
        if let Some(mark) = frame.marks.pop() {
            frame.stack.truncate(mark.height);
        }
        self.left();
    }

    pub(crate) fn leave(&mut self, ends: usize, to: usize) {
        let frame = self.frame();
        for _ in 0..ends {
            if let Some(mark) = frame.marks.pop() {
                frame.stack.truncate(mark.height);
            }
        }
        frame.pc = to;
        self.left();
    }

    pub(crate) fn again(&mut self, ends: usize, to: usize) -> Option<()> {
        self.leave(ends, to);
        let frame = self.frame();
        let height = frame.marks.last()?.height;
        frame.stack.truncate(height);
        Some(())
    }

    /// The result of a region follows from what it looks at, if that is the same on all ranks.
    fn key_of(&self, region: &RegionEffects, at: ProgramPoint, view: &View<'_>) -> Option<u64> {
        if !self.holds_now(region.determinacy, view) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        at.hash(&mut hasher);
        for var in &region.reads {
            let value = match self.variable(*var)? {
                // Asked by key alone, it returns the same on all ranks.
                Value::Unordered(inner, true) if region.by_key.contains(var) => self.deep(inner)?,
                other => self.deep(other)?,
            };
            value.hash(&mut hasher);
        }
        Some(hasher.finish())
    }

    /// A value without references, if it is the same on all ranks that have it. What has not been given a value yet is `()`.
    pub(crate) fn deep(&self, value: &Value) -> Option<Value> {
        let value = self.value(value);
        value.is_uniform().then_some(value)
    }

    /// The truth value on top decides.
    pub(crate) fn branch(&mut self, other: usize, join: usize, view: &mut View<'_>) -> Option<()> {
        let top = self.pop()?;
        let condition = self.value(&top);
        match self.decided(&condition, view) {
            Some(true) => return Some(()),
            Some(false) => {
                self.frame().pc = other;
                return Some(());
            }
            None => {}
        }
        let pc = self.frame().pc - 1;
        let ops = &view.skeleton.codes[self.frame().code].ops;
        let eventful = view.regions.has_events(self.frame().code);
        if ends(ops, pc + 1, join, eventful) {
            if !self.learn(&condition, false, pc) {
                self.frame().pc = other;
            }
            return Some(());
        }
        let is_loop = matches!(ops.get(join), Some(Op::Control(ControlOp::Exit))) && other == join;
        if !is_loop && ends(ops, other, join, eventful) {
            self.learn(&condition, true, pc);
            return Some(());
        }
        if !is_loop && self.is_worth_deciding(&condition, pc, join, view) {
            return self.ask_all(condition, pc, "whether this is done");
        }
        if self.pass_over(pc, join, is_loop, &condition, view) {
            return Some(());
        }
        if !is_loop && !condition.is_uniform() {
            let ways = [(pc + 1, other), (other, pc + 1)];
            if let Some((_, stays)) = { ways }
                .into_iter()
                .find(|(leaves, _)| self.is_over(*leaves, join, view))
            {
                self.frame().pc = stays;
                self.state = RankState::Blocked(BlockedOn::Leaving);
                return Some(());
            }
        }
        self.ask_all(condition, pc, "whether this is done")
    }

    /// Whether the rank, if it goes on from a step of the innermost call, does not come to where the branch is over, and ends
    /// without another message or site.
    fn is_over(&self, from: usize, join: usize, view: &View<'_>) -> bool {
        let inner = self.frames.len() - 1;
        self.frames.iter().enumerate().all(|(index, frame)| {
            let returns = matches!(frame.after, Continuation::Value | Continuation::Some);
            let (from, never) = match index == inner {
                true => (from, Some(join)),
                false => (frame.pc, None),
            };
            returns && view.regions.is_over_from(frame.code, from, never)
        })
    }

    /// A truth value, or what all ranks have decided about it.
    fn decided(&self, condition: &Value, view: &View<'_>) -> Option<bool> {
        match condition {
            Value::Bool(known) => Some(*known),
            Value::Uniform(number) => {
                let decided = view.decisions.get(&(number & !1))?;
                Some(*decided == (number & 1 == 0))
            }
            _ => None,
        }
    }

    /// The program goes on only with this answer: whether that constrains values, which are tried case by case then.
    fn learn(&mut self, condition: &Value, answer: bool, pc: usize) -> bool {
        let Value::Uniform(number) = condition else {
            return false;
        };
        if self.provenance.cases(*number, answer).is_none() {
            return false;
        }
        self.frame().stack.push(condition.clone());
        self.frame().pc = pc;
        self.state = RankState::Blocked(BlockedOn::Cases(number & !1, answer == (number & 1 == 0)));
        true
    }

    /// Whether a condition that is the same on all ranks is to be tried both ways though no message hangs on it at once:
    /// it decides about values that are used later.
    fn is_worth_deciding(&self, condition: &Value, pc: usize, join: usize, view: &View<'_>) -> bool {
        let Some(frame) = self.frames.last() else {
            return false;
        };
        if !view.fine || self.quiet.is_some() || !matches!(condition, Value::Uniform(_)) {
            return false;
        }
        let mut behind = view.skeleton.codes[frame.code].ops.iter().skip(join);
        let gives = behind.find(|op| !matches!(op, Op::Memory(MemoryOp::Clear(_))));
        let gives = !matches!(gives, Some(Op::Value(ValueOp::Pop)) | None);
        gives || view.regions.region(frame.code, pc + 1..join).writes_outside
    }

    /// Waits for what all ranks decide alike, or is lost.
    fn ask_all(&mut self, condition: Value, pc: usize, what: &str) -> Option<()> {
        match condition {
            Value::Uniform(number) => {
                self.frame().stack.push(condition);
                self.frame().pc = pc;
                self.state = RankState::Blocked(BlockedOn::Decision(number & !1));
            }
            _ => {
                let why = format!("{what} depends on data that may differ between the ranks").into();
                self.state = RankState::Lost(Lost {
                    why,
                    on_data: true,
                    way: WayOut::DecideAlike,
                });
            }
        }
        Some(())
    }

    /// Goes on behind a region without messages whose condition is not known.
    fn pass_over(
        &mut self,
        pc: usize,
        join: usize,
        is_loop: bool,
        condition: &Value,
        view: &View<'_>,
    ) -> bool {
        let (code, top) = (self.frame().code, self.frames.len() - 1);
        if is_loop {
            let mark = self.frame().marks.len().wrapping_sub(1);
            return self.try_abandon_loop(top, mark, view) || self.give_up_around(top, view);
        }
        let region = view.regions.region(code, pc + 1..join);
        if region.events {
            return false;
        }
        if !region.returns && !region.leaves {
            let key = match condition.is_uniform() {
                true => self.key_of(&region, (code, pc), view),
                false => None,
            };
            let key = key.map(|key| hash(&(key, condition)));
            self.forget_all(&region, top, key);
            self.push(key.map_or(Value::Unknown, |key| Value::uniform(&("value", key))));
            self.frame().pc = join;
            return true;
        }
        self.give_up_around(top, view)
    }

    /// Gives up the innermost loop without messages, or else the call.
    fn give_up_around(&mut self, top: usize, view: &View<'_>) -> bool {
        let marks = self.frame().marks.len();
        if (0..marks)
            .rev()
            .any(|mark| self.try_abandon_loop(top, mark, view))
        {
            return true;
        }
        if view.regions.has_events(self.frame().code) || top == 0 {
            return false;
        }
        self.abandon_call(top, view);
        true
    }

    /// How many loops have been entered in a call.
    pub(crate) fn marks_of(&self, frame: usize) -> usize {
        self.frames.get(frame).map_or(0, |frame| frame.marks.len())
    }

    pub(crate) fn loop_region(
        &self,
        frame: usize,
        mark: usize,
        view: &View<'_>,
    ) -> Option<(Rc<RegionEffects>, Range<usize>)> {
        let one = self.frames.get(frame)?;
        let enter = one.marks.get(mark)?.enter;
        let Op::Control(ControlOp::Enter(exit)) = view.skeleton.codes[one.code].ops.get(enter)? else {
            return None;
        };
        Some((view.regions.region(one.code, enter..*exit), enter..*exit))
    }

    /// Goes on behind a loop, if it has no messages and goes nowhere else.
    pub(crate) fn try_abandon_loop(&mut self, frame: usize, mark: usize, view: &View<'_>) -> bool {
        match self.loop_region(frame, mark, view) {
            Some((region, _)) if !region.events && !region.leaves && !region.returns => {
                self.abandon_loop(frame, mark, view);
                true
            }
            _ => false,
        }
    }

    pub(crate) fn abandon_loop(&mut self, frame: usize, mark: usize, view: &View<'_>) {
        let Some((region, range)) = self.loop_region(frame, mark, view) else {
            self.lose("a loop cannot be followed");
            return;
        };
        if region.returns || region.leaves {
            // It may as well not come out behind itself: the whole call is given up.
            if frame > 0 && !view.regions.has_events(self.frames[frame].code) {
                self.abandon_call(frame, view);
            } else {
                self.lose("a loop without messages may leave in ways that cannot be followed");
            }
            return;
        }
        self.frames.truncate(frame + 1);
        let one = self.frame();
        let key = one.marks[mark].key;
        one.stack.truncate(one.marks[mark].height);
        one.marks.truncate(mark + 1);
        one.pc = range.end;
        self.forget_all(&region, frame, key);
        self.left();
    }

    pub(crate) fn abandon_call(&mut self, frame: usize, view: &View<'_>) {
        self.frames.truncate(frame + 1);
        let Some(one) = self.frames.pop() else { return };
        for (parameter, value) in one.given.iter().enumerate() {
            self.forget_given(one.code, parameter, value, one.key, view);
        }
        if view.skeleton.codes[one.code].parent.is_some() {
            let all = 0..view.skeleton.codes[one.code].ops.len();
            let region = view.regions.region(one.code, all);
            self.forget_captured(&region, one.parent);
        }
        self.left();
        let value = one
            .key
            .map_or(Value::Unknown, |key| Value::uniform(&("value", key)));
        match one.after {
            Continuation::Value => self.push(value),
            _ => self.push(Value::Unknown),
        }
    }

    pub(crate) fn forget_given(
        &mut self,
        code: usize,
        parameter: usize,
        value: &Value,
        key: Option<u64>,
        view: &View<'_>,
    ) {
        match value {
            Value::Ref(place) => {
                for path in view.regions.writes_to(code, parameter) {
                    let mut at = place.clone();
                    for name in path {
                        match &**name {
                            ELEMENT if key.is_some() && !self.is_long_list(&at) => break,
                            ELEMENT => at.path.push(Projection::Any),
                            _ => at.path.push(Projection::Field(name.clone())),
                        }
                    }
                    self.forget(&at, key);
                }
            }
            other => self.leak(other),
        }
    }

    /// What a region may write to is given up.
    pub(crate) fn forget_all(&mut self, region: &RegionEffects, frame: usize, key: Option<u64>) {
        for (var, path, how) in &region.writes {
            if let Some(place) = self.place_from(*var, frame) {
                self.forget_written(place, path, *how, key);
            }
        }
    }

    fn place_from(&self, var: Var, mut frame: usize) -> Option<MemoryPlace> {
        for _ in 0..var.up {
            frame = self.frames.get(frame)?.parent?;
        }
        Some(MemoryPlace {
            frame,
            slot: var.slot,
            path: Vec::new(),
        })
    }

    /// Whether a list is there whose elements are not distinguished: it keeps its length. Of what else is worked out alike on
    /// all ranks the whole is known.
    fn is_long_list(&self, at: &MemoryPlace) -> bool {
        matches!(self.at_place(at), Some(Value::Summary(_)))
    }

    fn forget_written(&mut self, place: MemoryPlace, path: &[Rc<str>], how: WriteKind, key: Option<u64>) {
        let mut at = place;
        let mut through = matches!(self.at_place(&at), Some(Value::Ref(_)));
        for name in path {
            match &**name {
                ELEMENT if key.is_some() && !self.is_long_list(&at) => break,
                ELEMENT => at.path.push(Projection::Any),
                _ => at.path.push(Projection::Field(name.clone())),
            }
            through |= matches!(self.at_place(&at), Some(Value::Ref(_)));
        }
        let held = self.at_place(&at).unwrap_or_default();
        match how {
            WriteKind::Itself => {
                // What its parts refer to may have been written to as well: an iterator that yields references.
                if !matches!(held, Value::Ref(_)) {
                    self.leak_parts(&held);
                }
                self.forget(&at, key);
            }
            WriteKind::Through if through => self.forget(&at, key),
            WriteKind::Held => self.leak(&held),
            WriteKind::Through => {}
        }
    }

    /// What a closure may write to of what is around it.
    pub(crate) fn forget_captured(&mut self, region: &RegionEffects, parent: Option<usize>) {
        let Some(parent) = parent else { return };
        for (var, path, how) in region.writes.iter().filter(|(var, ..)| var.up > 0) {
            let outer = Var {
                up: var.up - 1,
                ..*var
            };
            if let Some(place) = self.place_from(outer, parent) {
                self.forget_written(place, path, *how, None);
            }
        }
    }

    /// The next element of an iterator, or on behind the loop.
    pub(crate) fn next_element(&mut self, slot: usize, exit: usize, view: &mut View<'_>) -> Option<()> {
        let pc = self.frame().pc - 1;
        let iterator = self.frame().slots.get(slot)?.clone();
        let by_program = !matches!(iterator, Value::List(_) | Value::Range(_) | Value::Summary(_));
        if by_program && view.regions.method_has_events("next") {
            self.lose("an iterator of the program exchanges messages");
            return Some(());
        }
        let (goes_on, element, rest) = match &iterator {
            Value::List(parts) => match parts.split_first() {
                Some((first, rest)) => (Value::Bool(true), first.clone(), Value::list(rest.to_vec())),
                None => (Value::Bool(false), Value::Unit, iterator.clone()),
            },
            Value::Range(parts) => next_number(parts, &self.provenance),
            Value::Summary(parts) => {
                let [from, count, element] = &**parts;
                let next = Binary::Add.apply(from, &Value::Int(1), &self.provenance);
                (
                    Binary::Lt.apply(from, count, &self.provenance),
                    element.at(from),
                    Value::Summary(Rc::new([next, count.clone(), element.clone()])),
                )
            }
            other if other.is_uniform() => (
                Value::uniform(&("more", other)),
                Value::uniform(&("element", other)),
                Value::uniform(&("rest", other)),
            ),
            _ => (Value::Data, Value::Unknown, Value::Unknown),
        };
        match self.decided(&goes_on, view) {
            Some(true) => {
                let frame = self.frame();
                frame.slots[slot] = rest;
                let again = frame
                    .marks
                    .last_mut()
                    .is_some_and(|mark| std::mem::replace(&mut mark.again, true));
                let is_one_of_many = again && view.few_turns && matches!(goes_on, Value::Uniform(_));
                self.push(match is_one_of_many {
                    true => in_any_turn(&iterator, element, &self.provenance),
                    false => element,
                });
            }
            Some(false) => self.frame().pc = exit,
            None => {
                let (frame, mark) = (self.frames.len() - 1, self.frame().marks.len().wrapping_sub(1));
                if self.try_abandon_loop(frame, mark, view) || self.give_up_around(frame, view) {
                    return Some(());
                }
                self.ask_all(goes_on, pc, "how often this loop goes round")?;
                // The question is asked anew from the iterator.
                if matches!(self.state, RankState::Blocked(_)) {
                    self.pop()?;
                }
            }
        }
        Some(())
    }
}

/// The element of a turn that stands for all.
fn in_any_turn(iterator: &Value, element: Value, provenance: &Provenance) -> Value {
    match (iterator, &element) {
        (Value::Range(_), Value::Int(_)) => provenance.in_any_turn(&element),
        (Value::Summary(parts), _) => parts[2].at(&provenance.in_any_turn(&parts[0])),
        _ => element,
    }
}

fn next_number(parts: &[Value; 3], provenance: &Provenance) -> (Value, Value, Value) {
    let [from, to, by] = parts;
    let backwards = matches!(by, Value::Int(by) if *by < 0);
    let goes_on = match to {
        Value::Unit => Value::Bool(true),
        to if backwards => Binary::Gt.apply(from, to, provenance),
        to => Binary::Lt.apply(from, to, provenance),
    };
    let next = Binary::Add.apply(from, by, provenance);
    (
        goes_on,
        from.clone(),
        Value::Range(Box::new([next, to.clone(), by.clone()])),
    )
}

/// Whether the process ends on the way from a step, before anything is decided. An error that leaves a function which
/// exchanges messages is taken to end the program.
fn ends(ops: &[Op], mut pc: usize, join: usize, eventful: bool) -> bool {
    while pc < join {
        let over = match ops.get(pc) {
            Some(Op::Control(ControlOp::End)) => return true,
            Some(Op::Control(ControlOp::Return)) => return eventful && is_error(ops, pc),
            Some(Op::Control(ControlOp::Branch(_, behind))) => *behind,
            Some(Op::Control(ControlOp::Enter(exit))) => *exit,
            Some(
                Op::Control(ControlOp::Jump(_))
                | Op::Control(ControlOp::Break(..))
                | Op::Control(ControlOp::Continue(..))
                | Op::Control(ControlOp::Next(..)),
            )
            | None => return false,
            Some(_) => pc + 1,
        };
        let leaves = |op: &Op| {
            matches!(
                op,
                Op::Control(ControlOp::Return)
                    | Op::Control(ControlOp::Break(..))
                    | Op::Control(ControlOp::Continue(..))
            )
        };
        if over > pc + 1 && ops.get(pc..over).is_none_or(|region| region.iter().any(leaves)) {
            return false;
        }
        pc = over;
    }
    false
}

pub(crate) fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
