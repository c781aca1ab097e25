//! Regions without messages: they are followed for some steps, then what they may write to is given up.

use super::{Continuation, QuietRegion, Rank, Traversal, View};
use crate::values::Value;

/// Steps that a region without messages may take before it is given up.
const QUIET_STEPS: usize = 800;

/// So many loops in a call without messages may be given up before the call as a whole is.
const QUIET_LOOPS: usize = 16;

impl Rank {
    /// One step less for a region without messages; when there are none left, what it may write to is given up.
    pub(crate) fn spend(&mut self, view: &View<'_>) {
        let Some(quiet) = &mut self.quiet else { return };
        if quiet.fuel > 0 {
            quiet.fuel -= 1;
            return;
        }
        let (frame, mark) = (quiet.frame, quiet.mark);
        match mark {
            Some(mark) => {
                self.note_long_loop(frame, mark, view);
                self.abandon_loop(frame, mark, view);
            }
            // What a method counts, and what it works out, are distinguished by giving up its loop alone.
            None if self.give_up_a_loop_of_the_call(frame, view) => {}
            None => {
                view.regions.note_long(self.frames[frame].code, None);
                self.abandon_call(frame, view);
            }
        }
    }

    fn note_long_loop(&self, frame: usize, mark: usize, view: &View<'_>) {
        let one = &self.frames[frame];
        let enter = one.marks.get(mark).map(|mark| mark.enter);
        view.regions.note_long(one.code, enter);
    }

    /// Goes on behind the outermost loop that a call without messages is in, itself or in what it calls.
    fn give_up_a_loop_of_the_call(&mut self, call: usize, view: &View<'_>) -> bool {
        let Some(quiet) = self.quiet.as_mut().filter(|quiet| quiet.loops > 0) else {
            return false;
        };
        let goes_on = |at: &usize| {
            let frame = &self.frames[*at];
            !frame.marks.is_empty() || (*at > call && matches!(frame.after, Continuation::Each(_)))
        };
        let Some(inner) = (call..self.frames.len()).find(goes_on) else {
            return false;
        };
        quiet.loops -= 1;
        quiet.fuel = QUIET_STEPS;
        if inner > call && matches!(self.frames[inner].after, Continuation::Each(_)) {
            view.regions.note_long(self.frames[inner].code, None);
            self.abandon_each(inner, view);
            return true;
        }
        self.note_long_loop(inner, 0, view);
        self.try_abandon_loop(inner, 0, view)
    }

    /// Whether a loop or closure that is known to be long is given up at once, alone, in a call without messages.
    pub(crate) fn skips(&self, code: usize, enter: Option<usize>, view: &View<'_>) -> bool {
        let in_a_call = self.quiet.as_ref().is_some_and(|quiet| quiet.mark.is_none());
        in_a_call && view.regions.is_long(code, enter)
    }

    /// Goes on behind a list that goes through a closure: what comes of it is not known.
    fn abandon_each(&mut self, frame: usize, view: &View<'_>) {
        self.frames.truncate(frame + 1);
        let Some(one) = self.frames.pop() else { return };
        if let Continuation::Each(each) = one.after {
            self.skip_each(one.code, one.parent, each, view);
        }
        self.left();
    }

    /// What the rest of a list would do in a closure is given up.
    pub(crate) fn skip_each(&mut self, code: usize, parent: Option<usize>, each: Traversal, view: &View<'_>) {
        for element in each.todo.iter().chain([&each.current]) {
            self.forget_given(code, 0, element, None, view);
        }
        let all = 0..view.skeleton.codes[code].ops.len();
        let region = view.regions.region(code, all);
        self.forget_captured(&region, parent);
        self.push(Value::Unknown);
    }

    /// Follows a region without messages for some steps; for none if it is known to be long.
    pub(crate) fn be_quiet(
        &mut self,
        frame: usize,
        mark: Option<usize>,
        enter: Option<usize>,
        view: &View<'_>,
    ) {
        if self.quiet.is_none() {
            let long = view.regions.is_long(self.frames[frame].code, enter);
            self.quiet = Some(QuietRegion {
                frame,
                mark,
                fuel: if long { 0 } else { QUIET_STEPS },
                loops: if long { 0 } else { QUIET_LOOPS },
            });
        }
    }

    /// The loop or call that is followed quietly has been left.
    pub(crate) fn left(&mut self) {
        let frames = self.frames.len();
        let marks = self.frames.last().map_or(0, |frame| frame.marks.len());
        if self.quiet.as_ref().is_some_and(|quiet| {
            frames <= quiet.frame
                || (frames == quiet.frame + 1 && quiet.mark.is_some_and(|mark| marks <= mark))
        }) {
            self.quiet = None;
        }
    }
}
