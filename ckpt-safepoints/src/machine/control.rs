//! Branches and loops, and what is not followed.

use super::{After, At, Mark, Rank, Sight, State, Wait};
use crate::skeleton::regions::{How, Piece};
use crate::skeleton::{ELEMENT, Op, Var, is_error};
use crate::values::provenance;
use crate::values::{Binary, Place, Step, Value};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;

impl Rank {
    pub(crate) fn enter(&mut self, pc: usize, sight: &Sight<'_>) {
        let code = self.frame().code;
        let Some(Op::Enter(exit)) = sight.skeleton.codes[code].ops.get(pc) else {
            return;
        };
        let piece = sight.pieces.piece(code, pc..*exit);
        let key = self.key_of(&piece, (code, pc), sight);
        let frame = self.frame();
        frame.marks.push(Mark {
            enter: pc,
            height: frame.stack.len(),
            key,
            again: false,
        });
        let mark = frame.marks.len() - 1;
        if piece.events {
            return;
        }
        let top = self.frames.len() - 1;
        if self.skips(code, Some(pc), sight) && self.try_abandon_loop(top, mark, sight) {
            return;
        }
        self.be_quiet(top, Some(mark), Some(pc), sight);
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

    /// What comes of a piece is told by what it looks at, if that is the same on all ranks.
    fn key_of(&self, piece: &Piece, at: At, sight: &Sight<'_>) -> Option<u64> {
        if !self.holds_now(piece.settled, sight) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        at.hash(&mut hasher);
        for var in &piece.reads {
            let value = match self.variable(*var)? {
                // Asked by key alone, it gives the same on all ranks.
                Value::Bag(inner, true) if piece.by_key.contains(var) => self.deep(inner)?,
                other => self.deep(other)?,
            };
            value.hash(&mut hasher);
        }
        Some(hasher.finish())
    }

    /// A value without references, if it is the same on all ranks that have it. What has not been given a value yet is `()`.
    pub(crate) fn deep(&self, value: &Value) -> Option<Value> {
        let value = self.value(value);
        value.is_same().then_some(value)
    }

    /// The truth value on top decides.
    pub(crate) fn branch(&mut self, other: usize, join: usize, sight: &mut Sight<'_>) -> Option<()> {
        let top = self.pop()?;
        let condition = self.value(&top);
        match self.decided(&condition, sight) {
            Some(true) => return Some(()),
            Some(false) => {
                self.frame().pc = other;
                return Some(());
            }
            None => {}
        }
        let pc = self.frame().pc - 1;
        let ops = &sight.skeleton.codes[self.frame().code].ops;
        let eventful = sight.pieces.has_events(self.frame().code);
        if ends(ops, pc + 1, join, eventful) {
            if !self.learn(&condition, false, pc) {
                self.frame().pc = other;
            }
            return Some(());
        }
        let is_loop = matches!(ops.get(join), Some(Op::Exit)) && other == join;
        if !is_loop && ends(ops, other, join, eventful) {
            self.learn(&condition, true, pc);
            return Some(());
        }
        if !is_loop && self.is_worth_deciding(&condition, pc, join, sight) {
            return self.ask_all(condition, pc, "whether this is done");
        }
        if self.pass_over(pc, join, is_loop, &condition, sight) {
            return Some(());
        }
        self.ask_all(condition, pc, "whether this is done")
    }

    /// A truth value, or what all ranks have decided about it.
    fn decided(&self, condition: &Value, sight: &Sight<'_>) -> Option<bool> {
        match condition {
            Value::Bool(known) => Some(*known),
            Value::Uniform(number) => {
                let decided = sight.decisions.get(&(number & !1))?;
                Some(*decided == (number & 1 == 0))
            }
            _ => None,
        }
    }

    /// The program goes on only with this answer: whether that tells of values, which are tried case by case then.
    fn learn(&mut self, condition: &Value, answer: bool, pc: usize) -> bool {
        let Value::Uniform(number) = condition else {
            return false;
        };
        if provenance::cases(*number, answer).is_none() {
            return false;
        }
        self.frame().stack.push(condition.clone());
        self.frame().pc = pc;
        self.state = State::Waits(Wait::Cases(number & !1, answer == (number & 1 == 0)));
        true
    }

    /// Whether a condition that is the same on all ranks is to be tried both ways though no message hangs on it at once:
    /// it decides about values that are used later.
    fn is_worth_deciding(&self, condition: &Value, pc: usize, join: usize, sight: &Sight<'_>) -> bool {
        let Some(frame) = self.frames.last() else {
            return false;
        };
        if !sight.fine || self.quiet.is_some() || !matches!(condition, Value::Uniform(_)) {
            return false;
        }
        let mut behind = sight.skeleton.codes[frame.code].ops.iter().skip(join);
        let gives = behind.find(|op| !matches!(op, Op::Clear(_)));
        let gives = !matches!(gives, Some(Op::Pop) | None);
        gives || sight.pieces.piece(frame.code, pc + 1..join).writes_outside
    }

    /// Waits for what all ranks decide alike, or is lost.
    fn ask_all(&mut self, condition: Value, pc: usize, what: &str) -> Option<()> {
        match condition {
            Value::Uniform(number) => {
                self.frame().stack.push(condition);
                self.frame().pc = pc;
                self.state = State::Waits(Wait::Decision(number & !1));
            }
            _ => self.lose(&format!(
                "{what} depends on data that may differ between the ranks"
            )),
        }
        Some(())
    }

    /// Goes on behind a piece without messages whose condition is not known.
    fn pass_over(
        &mut self,
        pc: usize,
        join: usize,
        is_loop: bool,
        condition: &Value,
        sight: &Sight<'_>,
    ) -> bool {
        let (code, top) = (self.frame().code, self.frames.len() - 1);
        if is_loop {
            let mark = self.frame().marks.len().wrapping_sub(1);
            return self.try_abandon_loop(top, mark, sight) || self.give_up_around(top, sight);
        }
        let piece = sight.pieces.piece(code, pc + 1..join);
        if piece.events {
            return false;
        }
        if !piece.returns && !piece.leaves {
            let key = match condition.is_same() {
                true => self.key_of(&piece, (code, pc), sight),
                false => None,
            };
            let key = key.map(|key| hash(&(key, condition)));
            self.forget_all(&piece, top, key);
            self.push(key.map_or(Value::Unknown, |key| Value::uniform(&("value", key))));
            self.frame().pc = join;
            return true;
        }
        self.give_up_around(top, sight)
    }

    /// Gives up the innermost loop without messages, or else the call.
    fn give_up_around(&mut self, top: usize, sight: &Sight<'_>) -> bool {
        let marks = self.frame().marks.len();
        if (0..marks)
            .rev()
            .any(|mark| self.try_abandon_loop(top, mark, sight))
        {
            return true;
        }
        if sight.pieces.has_events(self.frame().code) || top == 0 {
            return false;
        }
        self.abandon_call(top, sight);
        true
    }

    /// How many loops have been entered in a call.
    pub(crate) fn marks_of(&self, frame: usize) -> usize {
        self.frames.get(frame).map_or(0, |frame| frame.marks.len())
    }

    pub(crate) fn loop_piece(
        &self,
        frame: usize,
        mark: usize,
        sight: &Sight<'_>,
    ) -> Option<(Rc<Piece>, Range<usize>)> {
        let one = self.frames.get(frame)?;
        let enter = one.marks.get(mark)?.enter;
        let Op::Enter(exit) = sight.skeleton.codes[one.code].ops.get(enter)? else {
            return None;
        };
        Some((sight.pieces.piece(one.code, enter..*exit), enter..*exit))
    }

    /// Goes on behind a loop, if it has no messages and goes nowhere else.
    pub(crate) fn try_abandon_loop(&mut self, frame: usize, mark: usize, sight: &Sight<'_>) -> bool {
        match self.loop_piece(frame, mark, sight) {
            Some((piece, _)) if !piece.events && !piece.leaves && !piece.returns => {
                self.abandon_loop(frame, mark, sight);
                true
            }
            _ => false,
        }
    }

    pub(crate) fn abandon_loop(&mut self, frame: usize, mark: usize, sight: &Sight<'_>) {
        let Some((piece, range)) = self.loop_piece(frame, mark, sight) else {
            self.lose("a loop cannot be followed");
            return;
        };
        if piece.returns || piece.leaves {
            // It may as well not come out behind itself: the whole call is given up.
            if frame > 0 && !sight.pieces.has_events(self.frames[frame].code) {
                self.abandon_call(frame, sight);
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
        self.forget_all(&piece, frame, key);
        self.left();
    }

    pub(crate) fn abandon_call(&mut self, frame: usize, sight: &Sight<'_>) {
        self.frames.truncate(frame + 1);
        let Some(one) = self.frames.pop() else { return };
        for (parameter, value) in one.given.iter().enumerate() {
            self.forget_given(one.code, parameter, value, one.key, sight);
        }
        if sight.skeleton.codes[one.code].parent.is_some() {
            let all = 0..sight.skeleton.codes[one.code].ops.len();
            let piece = sight.pieces.piece(one.code, all);
            self.forget_captured(&piece, one.parent);
        }
        self.left();
        let value = one
            .key
            .map_or(Value::Unknown, |key| Value::uniform(&("value", key)));
        match one.after {
            After::Value => self.push(value),
            _ => self.push(Value::Unknown),
        }
    }

    pub(crate) fn forget_given(
        &mut self,
        code: usize,
        parameter: usize,
        value: &Value,
        key: Option<u64>,
        sight: &Sight<'_>,
    ) {
        match value {
            Value::Ref(place) => {
                for path in sight.pieces.writes_to(code, parameter) {
                    let mut at = place.clone();
                    for name in path {
                        match &**name {
                            ELEMENT if key.is_some() && !self.is_long_list(&at) => break,
                            ELEMENT => at.path.push(Step::Any),
                            _ => at.path.push(Step::Field(name.clone())),
                        }
                    }
                    self.forget(&at, key);
                }
            }
            other => self.leak(other),
        }
    }

    /// What a piece may write to is given up.
    pub(crate) fn forget_all(&mut self, piece: &Piece, frame: usize, key: Option<u64>) {
        for (var, path, how) in &piece.writes {
            if let Some(place) = self.place_from(*var, frame) {
                self.forget_written(place, path, *how, key);
            }
        }
    }

    fn place_from(&self, var: Var, mut frame: usize) -> Option<Place> {
        for _ in 0..var.up {
            frame = self.frames.get(frame)?.parent?;
        }
        Some(Place {
            frame,
            slot: var.slot,
            path: Vec::new(),
        })
    }

    /// Whether a list is there whose elements are not told apart: it keeps its length. Of what else is worked out alike on
    /// all ranks the whole is told.
    fn is_long_list(&self, at: &Place) -> bool {
        matches!(self.at_place(at), Some(Value::Many(_)))
    }

    fn forget_written(&mut self, place: Place, path: &[Rc<str>], how: How, key: Option<u64>) {
        let mut at = place;
        let mut through = matches!(self.at_place(&at), Some(Value::Ref(_)));
        for name in path {
            match &**name {
                ELEMENT if key.is_some() && !self.is_long_list(&at) => break,
                ELEMENT => at.path.push(Step::Any),
                _ => at.path.push(Step::Field(name.clone())),
            }
            through |= matches!(self.at_place(&at), Some(Value::Ref(_)));
        }
        let held = self.at_place(&at).unwrap_or_default();
        match how {
            How::Itself => {
                // What its parts refer to may have been written to as well: an iterator that gives references.
                if !matches!(held, Value::Ref(_)) {
                    self.leak_parts(&held);
                }
                self.forget(&at, key);
            }
            How::Through if through => self.forget(&at, key),
            How::Held => self.leak(&held),
            How::Through => {}
        }
    }

    /// What a closure may write to of what is around it.
    pub(crate) fn forget_captured(&mut self, piece: &Piece, parent: Option<usize>) {
        let Some(parent) = parent else { return };
        for (var, path, how) in piece.writes.iter().filter(|(var, ..)| var.up > 0) {
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
    pub(crate) fn next_element(&mut self, slot: usize, exit: usize, sight: &mut Sight<'_>) -> Option<()> {
        let pc = self.frame().pc - 1;
        let iterator = self.frame().slots.get(slot)?.clone();
        let by_program = !matches!(iterator, Value::List(_) | Value::Range(_) | Value::Many(_));
        if by_program && sight.pieces.method_has_events("next") {
            self.lose("an iterator of the program exchanges messages");
            return Some(());
        }
        let (goes_on, element, rest) = match &iterator {
            Value::List(parts) => match parts.split_first() {
                Some((first, rest)) => (Value::Bool(true), first.clone(), Value::list(rest.to_vec())),
                None => (Value::Bool(false), Value::Unit, iterator.clone()),
            },
            Value::Range(parts) => next_number(parts),
            Value::Many(parts) => {
                let [from, count, element] = &**parts;
                let next = Binary::Add.apply(from, &Value::Int(1));
                (
                    Binary::Lt.apply(from, count),
                    element.at(from),
                    Value::Many(Rc::new([next, count.clone(), element.clone()])),
                )
            }
            other if other.is_same() => (
                Value::uniform(&("more", other)),
                Value::uniform(&("element", other)),
                Value::uniform(&("rest", other)),
            ),
            _ => (Value::Data, Value::Unknown, Value::Unknown),
        };
        match self.decided(&goes_on, sight) {
            Some(true) => {
                let frame = self.frame();
                frame.slots[slot] = rest;
                let again = frame
                    .marks
                    .last_mut()
                    .is_some_and(|mark| std::mem::replace(&mut mark.again, true));
                let is_one_of_many = again && sight.few_turns && matches!(goes_on, Value::Uniform(_));
                self.push(match is_one_of_many {
                    true => in_any_turn(&iterator, element),
                    false => element,
                });
            }
            Some(false) => self.frame().pc = exit,
            None => {
                let (frame, mark) = (self.frames.len() - 1, self.frame().marks.len().wrapping_sub(1));
                if self.try_abandon_loop(frame, mark, sight) || self.give_up_around(frame, sight) {
                    return Some(());
                }
                self.ask_all(goes_on, pc, "how often this loop goes round")?;
                // The question is asked anew from the iterator.
                if matches!(self.state, State::Waits(_)) {
                    self.pop()?;
                }
            }
        }
        Some(())
    }
}

/// The element of a turn that stands for all.
fn in_any_turn(iterator: &Value, element: Value) -> Value {
    match (iterator, &element) {
        (Value::Range(_), Value::Int(_)) => provenance::in_any_turn(&element),
        (Value::Many(parts), _) => parts[2].at(&provenance::in_any_turn(&parts[0])),
        _ => element,
    }
}

fn next_number(parts: &[Value; 3]) -> (Value, Value, Value) {
    let [from, to, by] = parts;
    let backwards = matches!(by, Value::Int(by) if *by < 0);
    let goes_on = match to {
        Value::Unit => Value::Bool(true),
        to if backwards => Binary::Gt.apply(from, to),
        to => Binary::Lt.apply(from, to),
    };
    let next = Binary::Add.apply(from, by);
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
            Some(Op::End) => return true,
            Some(Op::Return) => return eventful && is_error(ops, pc),
            Some(Op::Branch(_, behind)) => *behind,
            Some(Op::Enter(exit)) => *exit,
            Some(Op::Jump(_) | Op::Leave(..) | Op::Again(..) | Op::Next(..)) | None => return false,
            Some(_) => pc + 1,
        };
        let leaves = |op: &Op| matches!(op, Op::Return | Op::Leave(..) | Op::Again(..));
        if over > pc + 1 && ops.get(pc..over).is_none_or(|piece| piece.iter().any(leaves)) {
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
