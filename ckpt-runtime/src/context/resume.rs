//! A restart under way: the checkpoint, the frames taken up so far, and whether each still fits the program.

use std::collections::VecDeque;

use crate::base::printable::count;
use crate::base::report::{Fatal, Headline, headline};
use crate::base::sorted::{SortedMap, SortedSet};
use crate::base::typed::{right_program, typed};
use crate::format::{FrameInfo, Restored, VariableContent, VariableInfo};
use crate::plan::FunctionPlan;

/// A walk from `main` to the site of a checkpoint. It ends, and releases the file, on arrival.
#[derive(Debug)]
pub(crate) struct Resume {
    pub(crate) restored: Restored,
    /// The records of each thread that have not been taken up, from its outermost function inwards.
    left: SortedMap<u32, VecDeque<usize>>,
    force_layout: bool,
    /// The records of the other threads of a team that has another number of them now, in their order: all members take
    /// those of the first.
    alike: Vec<Vec<usize>>,
}

impl Resume {
    pub(crate) fn new(restored: Restored, force_layout: bool) -> Resume {
        let mut left = SortedMap::<u32, VecDeque<usize>>::new();
        for (record, frame) in restored.frames().iter().enumerate() {
            left.entry(frame.thread).or_default().push_back(record);
        }
        Resume {
            restored,
            left,
            force_layout,
            alike: Vec::new(),
        }
    }

    /// Gives a thread's next record to the function that it has just entered: its index, and the site to walk to.
    ///
    /// # Errors
    /// The record is of another function, or of another version of this one.
    pub(crate) fn take_up(&mut self, thread: u32, plan: &'static FunctionPlan) -> Result<(u32, u32), Fatal> {
        let Some(next) = self.next(thread) else {
            return Err(self.refuse(headline!(
                "E2021: the checkpoint ends in a function that `{}` is called from now",
                plan.function
            )));
        };
        let record = &self.restored.frames()[next];
        self.compare(record, plan)?;
        let site = record.site;
        if let Some(own) = self.left.get_mut(&thread) {
            own.pop_front();
        }
        Ok((next as u32, site))
    }

    /// The record that a thread takes up next, if there is one left.
    fn next(&self, thread: u32) -> Option<usize> {
        self.left.get(&thread)?.front().copied()
    }

    /// How many threads a team has to have.
    pub(crate) fn team_size(&self) -> usize {
        self.left.keys().filter(|thread| **thread > 0).count()
    }

    /// The team has so many members now, of which each begins with what all had. Gives whether they stood at the same
    /// site.
    pub(crate) fn spread(&mut self, members: usize) -> bool {
        let mut all: Vec<Vec<usize>> = Vec::new();
        for (_, records) in self.left.range(1..) {
            all.push(records.iter().copied().collect());
        }
        let Some(first) = all.first().cloned() else {
            return false;
        };
        let place = |record: &usize| {
            let frame = &self.restored.frames()[*record];
            (&frame.function, frame.site)
        };
        if !all
            .iter()
            .all(|one| one.iter().map(place).eq(first.iter().map(place)))
        {
            return false;
        }
        self.left.retain(|thread, _| *thread == 0);
        self.left
            .extend((1..=members as u32).map(|thread| (thread, first.iter().copied().collect())));
        self.alike = all;
        true
    }

    /// The records of the other members that have to say the same as this one.
    pub(crate) fn alike(&self, record: usize) -> Vec<usize> {
        let place = self
            .alike
            .first()
            .and_then(|first| first.iter().position(|one| *one == record));
        let others = self.alike.iter().skip(1);
        place.map_or_else(Vec::new, |place| others.map(|one| one[place]).collect())
    }

    /// # Errors
    /// The walk of a thread arrived at a site, but the checkpoint goes on below it.
    pub(crate) fn arrive(&self, thread: u32) -> Result<(), Fatal> {
        match self.next_function(thread) {
            None => Ok(()),
            Some(function) => Err(self.refuse(headline!(
                "E2022: the checkpoint goes on in `{function}`, but the program has no call there now"
            ))),
        }
    }

    /// The function of the record that would be taken up next.
    pub(crate) fn next_function(&self, thread: u32) -> Option<String> {
        self.function(self.next(thread)?)
    }

    pub(crate) fn function(&self, record: usize) -> Option<String> {
        self.restored
            .frames()
            .get(record)
            .map(|frame| frame.function.clone())
    }

    pub(crate) fn variable(&self, record: usize, key: &str) -> Option<&VariableInfo> {
        self.restored
            .frames()
            .get(record)?
            .variables
            .iter()
            .find(|variable| variable.key == key)
    }

    /// Where the value of a variable really is: its own record, or that of the variable it is lent to.
    pub(crate) fn home(&self, record: usize, key: &str) -> (usize, String) {
        match self.variable(record, key).map(|variable| &variable.content) {
            Some(VariableContent::Link { frame, key }) => (*frame, key.clone()),
            _ => (record, key.to_owned()),
        }
    }

    /// The name of parameter `index` of a record's function.
    pub(crate) fn parameter_name(&self, record: usize, index: u32) -> String {
        let variables = self
            .restored
            .frames()
            .get(record)
            .map(|frame| frame.variables.as_slice());
        let parameter = variables
            .unwrap_or_default()
            .iter()
            .find(|variable| variable.parameter == Some(index));
        parameter.map_or_else(|| format!("parameter {index}"), |variable| variable.key.clone())
    }

    fn refuse(&self, headline: Headline) -> Fatal {
        let id = self.restored.id();
        Fatal::refused(headline).at(format!("checkpoint {id} in {}", self.restored.path().display()))
    }

    fn compare(&self, record: &FrameInfo, plan: &FunctionPlan) -> Result<(), Fatal> {
        if (record.function.as_str(), record.module.as_str()) != (plan.function, plan.module) {
            let saved = format!("{}::{}", record.module, record.function);
            let now = format!("{}::{}", plan.module, plan.function);
            return Err(self
                .refuse(headline!(
                    "E2023: the checkpoint was taken in `{saved}`, the program now enters `{now}` there"
                ))
                .why(format!(
                    "`{saved}` was at {}:{}, `{now}` is at {}:{}",
                    record.file, record.line, plan.file, plan.line
                ))
                .help(right_program()));
        }
        if record.layout != plan.layout || record.site == 0 || record.site as usize > plan.sites.len() {
            return Err(self
                .refuse(headline!(
                    "E2024: `{}` is not the function that was checkpointed: {}",
                    plan.function,
                    difference(record, plan)
                ))
                .why(format!(
                    "its sites or saved variables changed; the checkpoint was taken at {}:{}, the function is at {}:{} now",
                    record.file, record.site_line, plan.file, plan.line
                ))
                .help(right_program()));
        }
        if record.source != plan.source && !self.force_layout {
            return Err(self
                .refuse(headline!("E2025: the source of `{}` ({}:{}) changed since the checkpoint", plan.function, plan.file, plan.line))
                .why("its sites and saved variables are the same, but the code around them is not; the result may be of neither version")
                .help(format!(
                    "if the change does not touch what was computed before line {}, {};\n{}",
                    record.site_line,
                    typed("give `--force-layout`", "set CKPT_FORCE_LAYOUT=1 (--force-layout)"),
                    right_program()
                )));
        }
        Ok(())
    }
}

/// What changed between a record and the plan of the same function, as far as the record shows.
fn difference(record: &FrameInfo, plan: &FunctionPlan) -> String {
    let Some(site) = plan.sites.get((record.site as usize).wrapping_sub(1)) else {
        return format!(
            "it has {} now, the checkpoint was taken at site {}",
            count(plan.sites.len() as u64, "site"),
            record.site
        );
    };
    let callee = site.kind.callee();
    let mut changes = Vec::new();
    if callee != record.callee.as_deref() {
        let name = |callee: Option<&str>| {
            callee.map_or("a checkpoint".to_owned(), |callee| {
                format!("a call of `{callee}`")
            })
        };
        changes.push(format!(
            "site {} was {}, and is {}",
            record.site,
            name(record.callee.as_deref()),
            name(callee)
        ));
    }
    let saved: SortedSet<&str> = record
        .variables
        .iter()
        .map(|variable| variable.key.as_str())
        .collect();
    let known: SortedSet<&str> = site.variables.iter().map(|variable| variable.key).collect();
    // A parameter that no caller restores is not in the file, which says nothing about the source.
    let needed = site
        .variables
        .iter()
        .filter(|variable| !variable.on_demand)
        .map(|variable| variable.key);
    let appeared = needed.filter(|key| !saved.contains(key)).collect();
    let disappeared = saved.difference(&known).copied().collect();
    changes.extend(listed(appeared, "appeared"));
    changes.extend(listed(disappeared, "disappeared"));
    if changes.is_empty() {
        changes.push("another site of it changed".into());
    }
    changes.join("; ")
}

/// "variables `a`, `b` appeared", if there are any.
fn listed(keys: Vec<&str>, what: &str) -> Option<String> {
    let word = match keys.len() {
        0 => return None,
        1 => "variable",
        _ => "variables",
    };
    let names: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    Some(format!("{word} {} {what} at the site", names.join(", ")))
}
