//! What a frame says at a site: the variables it saves, those it lent to its callee, the parameters it offers its caller.

use std::fmt;

use super::thread::{Place, site_plan};
use crate::plan::VariablePlan;
use crate::snapshot::SnapshotBuilder;
use crate::value::Checkpoint;

/// Gathers one checkpoint, frame after frame from the outermost in. A registrar without a builder verifies: it copies no
/// value and only finds out whether every parameter that a caller needs is offered by its callee.
pub struct Registrar {
    builder: Option<SnapshotBuilder>,
    /// What the frames said, outermost first; the last one is speaking.
    frames: Vec<Said>,
    /// Parameters that the caller of the speaking frame needs.
    demanded: Vec<u32>,
    /// Parameters that the speaking frame needs from its callee.
    demands: Vec<u32>,
    /// Parameters that the speaking frame offered.
    offered: Vec<u32>,
    /// Parameters that the speaking frame restores itself.
    required: Vec<&'static str>,
    /// Where in the site's plan the next variable is expected.
    next: usize,
}

/// What a frame said about parameters.
struct Said {
    variables: &'static [VariablePlan],
    /// Variables that live in a parameter of the callee.
    links: Vec<Link>,
    /// Parameters saved in this frame's own record.
    values: Vec<(u32, &'static str)>,
}

struct Link {
    key: &'static str,
    line: u32,
    /// The own parameter that the variable is, if it is one.
    parameter: Option<u32>,
    callee_parameter: u32,
}

impl Registrar {
    pub(super) fn new(builder: Option<SnapshotBuilder>) -> Registrar {
        Registrar {
            builder,
            frames: Vec::new(),
            demanded: Vec::new(),
            demands: Vec::new(),
            offered: Vec::new(),
            required: Vec::new(),
            next: 0,
        }
    }

    /// Lets the next frame speak.
    ///
    /// # Errors
    /// The first parameter that the frame's caller needs and the frame does not offer.
    pub(super) fn hear(&mut self, (plan, site): Place, frame: &dyn Fn(&mut Registrar)) -> Result<(), u32> {
        if let Some(builder) = &mut self.builder {
            builder.frame(plan, site);
        }
        let variables = site_plan((plan, site)).variables;
        self.frames.push(Said {
            variables,
            links: Vec::new(),
            values: Vec::new(),
        });
        std::mem::swap(&mut self.demanded, &mut self.demands);
        self.demands.clear();
        self.offered.clear();
        self.required.clear();
        self.next = 0;
        frame(self);
        match self
            .demanded
            .iter()
            .find(|parameter| !self.offered.contains(parameter))
        {
            Some(parameter) => Err(*parameter),
            None => Ok(()),
        }
    }

    /// Ends the gathering: every link is led to the frame that has the value, however many calls it was lent through.
    pub(super) fn finish(self) -> Option<SnapshotBuilder> {
        let mut builder = self.builder?;
        let mut below: Vec<(u32, (usize, &'static str))> = Vec::new();
        for (index, frame) in self.frames.into_iter().enumerate().rev() {
            let mut here: Vec<_> = frame
                .values
                .into_iter()
                .map(|(parameter, key)| (parameter, (index, key)))
                .collect();
            for link in frame.links {
                let Some((_, target)) = below
                    .iter()
                    .find(|(parameter, _)| *parameter == link.callee_parameter)
                else {
                    continue;
                };
                builder.link(index, link.key, link.line, link.parameter, target.0, target.1);
                here.extend(link.parameter.map(|parameter| (parameter, *target)));
            }
            below = here;
        }
        Some(builder)
    }

    /// Saves a variable.
    pub fn save<T: Checkpoint + ?Sized>(&mut self, key: &'static str, value: &T) {
        self.record(key, None, value);
    }

    /// This frame's variable lives in the callee's parameter `parameter` for the time of the call.
    pub fn lent(&mut self, key: &'static str, parameter: u32) {
        self.link(key, None, parameter);
    }

    /// This frame needs the callee's by-value parameter `parameter` to make the call again.
    pub fn wants(&mut self, parameter: u32) {
        self.demands.push(parameter);
    }

    /// The walk of this very frame restores its parameter `key`, whether or not the caller needs it. Said before the
    /// parameter is offered.
    pub fn required(&mut self, key: &'static str) {
        self.required.push(key);
    }

    /// Offers parameter `index` to the caller.
    pub fn parameter<T: Checkpoint + ?Sized>(&mut self, index: u32, key: &'static str, value: &T) {
        if self.offer(index, key) {
            self.record(key, Some(index), value);
        }
    }

    /// Offers parameter `index` to the caller; it is itself lent on, to the callee's parameter `callee_parameter`.
    pub fn lent_parameter(&mut self, index: u32, key: &'static str, callee_parameter: u32) {
        if self.offer(index, key) {
            self.link(key, Some(index), callee_parameter);
        }
    }

    fn offer(&mut self, index: u32, key: &'static str) -> bool {
        self.offered.push(index);
        self.demanded.contains(&index) || self.required.contains(&key)
    }

    fn record<T: Checkpoint + ?Sized>(&mut self, key: &'static str, parameter: Option<u32>, value: &T) {
        if self.builder.is_none() {
            return;
        }
        let line = self.line(key);
        let index = self.frames.len().saturating_sub(1);
        if let (Some(builder), Some(frame)) = (&mut self.builder, self.frames.last_mut()) {
            builder.value(index, key, line, parameter, value);
            frame.values.extend(parameter.map(|parameter| (parameter, key)));
        }
    }

    fn link(&mut self, key: &'static str, parameter: Option<u32>, callee_parameter: u32) {
        self.demands.push(callee_parameter);
        let line = self.line(key);
        if let Some(frame) = self.frames.last_mut() {
            frame.links.push(Link {
                key,
                line,
                parameter,
                callee_parameter,
            });
        }
    }

    /// The line of a variable's declaration. Variables are named in the plan's order, so a search is the exception.
    fn line(&mut self, key: &str) -> u32 {
        let Some(frame) = self.frames.last() else { return 0 };
        let expected = frame
            .variables
            .get(self.next)
            .filter(|variable| variable.key == key);
        self.next += 1;
        match expected.or_else(|| frame.variables.iter().find(|variable| variable.key == key)) {
            Some(variable) => variable.line,
            None => 0,
        }
    }
}

impl fmt::Debug for Registrar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registrar")
            .field("saves", &self.builder.is_some())
            .finish_non_exhaustive()
    }
}
