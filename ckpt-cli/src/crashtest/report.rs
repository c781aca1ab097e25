//! The result of a crash test: a table of what was tried, what varies by itself, and the first difference of every trial
//! that went wrong.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use serde::Serialize;

use super::flips::{Fate, Flips};
use super::plan::{Kill, Kind};
use super::text::Unsteady;
use super::trial::{Done, Summary, Verdict};
use crate::render;

/// The whole result, as `--format json` prints it.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The program's name.
    pub program: String,
    /// Options and arguments that start it with `cargo ckpt run`.
    pub command: String,
    /// Seed of the random choices: the same seed tries the same kills.
    pub seed: u64,
    /// True if every trial gave the answer of the uninterrupted run.
    pub passed: bool,
    /// The share of the run that has checkpoints, from 0 to 1, if most of it has none.
    pub reaches_only: Option<f64>,
    /// Where the program draws random numbers that no two runs have alike, if it is known to.
    pub unseeded: Option<String>,
    /// Where it adds floats up in parallel, block by block, if it does.
    pub adds_in_blocks: Option<String>,
    /// The uninterrupted run.
    pub reference: Summary,
    /// Size of the largest checkpoint file, in bytes.
    pub checkpoint_bytes: Option<u64>,
    /// Restarts over all trials.
    pub restarts: Restarts,
    /// The trials in order.
    pub trials: Vec<Done>,
    /// The scratch folder, if it was kept.
    pub scratch: Option<PathBuf>,
}

/// How often the program was restarted, by where it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Restarts {
    /// Restarts that continued from a checkpoint.
    pub from_checkpoint: usize,
    /// Restarts of a process that was killed before its first checkpoint.
    pub from_start: usize,
}

impl Restarts {
    /// Those of these trials.
    pub fn of(trials: &[Done]) -> Self {
        let all = || trials.iter().flat_map(|done| &done.resumed);
        Self {
            from_checkpoint: all().filter(|checkpoint| checkpoint.is_some()).count(),
            from_start: all().filter(|checkpoint| checkpoint.is_none()).count(),
        }
    }
}

/// Of the time of a run, that has to lie within reach of a site.
const HALF: f64 = 0.5;
/// Failures shown in full unless all were asked for.
const FEW: usize = 5;

impl Done {
    /// Whether nothing went wrong that should not: the answer was that of an uninterrupted run; or a bit was turned, and nobody
    /// could notice.
    pub fn passed(&self) -> bool {
        match &self.bits {
            Some(bits) => bits.fate != Fate::NotRepaired,
            None => self.has_its_answer(),
        }
    }

    /// Whether the answer was that of an uninterrupted run.
    pub fn has_its_answer(&self) -> bool {
        matches!(
            self.verdict,
            Verdict::Same | Verdict::InLastDigits | Verdict::AsRunsDiffer | Verdict::Unsettled(_)
        )
    }

    /// The kills of this trial in words.
    fn kills(&self) -> String {
        let word = |kill: &Kill| match kill {
            Kill::Visit(visit) => format!("visit {visit}"),
            Kill::Commit(step) => format!("step {step} of the next commit"),
            Kill::Instant(fraction) => format!("{:.0} % of the run", fraction * 100.0),
            Kill::Rollback(visit) => format!("visit {visit}"),
            Kill::Flip(visit, _) => format!("visit {visit}"),
            Kill::FlipSnapshot(visit, _) => format!("visit {visit} in the snapshot"),
        };
        let done = match self.trial.kind {
            Kind::Flip | Kind::Flips => "bits turned",
            Kind::Rollback | Kind::Rollbacks | Kind::RollbackOfOne => "rolled back",
            _ => "killed",
        };
        let list: Vec<_> = self.trial.kills.iter().map(word).collect();
        if list.is_empty() {
            "no kill".into()
        } else {
            format!("{}{done} at {}", self.trial.victim.words(), list.join(", then "))
        }
    }
}

impl Report {
    /// Prints the report for people.
    pub fn print(&self, every_trial: bool) {
        let mut text = String::new();
        self.reference_lines(&mut text);
        render::print(&text);
        if every_trial {
            self.print_trials();
            self.print_fates();
        } else {
            self.print_kinds();
        }
        let mut text = String::new();
        if let Some(alone) = self.alone_in_words() {
            let _ = writeln!(text, "{alone}");
        }
        self.failures(&mut text, if every_trial { usize::MAX } else { FEW });
        self.verdict(&mut text);
        render::print(&text);
    }

    fn reference_lines(&self, out: &mut String) {
        let reference = &self.reference;
        let time = render::duration(std::time::Duration::from_secs_f64(reference.seconds));
        let _ = writeln!(
            out,
            "Uninterrupted: {time}, {}, {} on stdout{}",
            render::count(reference.visits as usize, "site visit"),
            render::count(reference.lines, "line"),
            self.sizes()
        );
        if let Some(reach) = reference.reach {
            let _ = writeln!(
                out,
                "  within reach of a site: {:.0} % of its time",
                reach * 100.0
            );
        }
        match &reference.unsteady {
            None => varying(out, "stdout", &reference.varying),
            Some(unsteady) => not_compared(out, unsteady),
        }
        for file in &reference.files {
            let place = file.path.display();
            if file.compared {
                let _ = writeln!(out, "  compared: {place} ({})", render::bytes(file.bytes));
                varying(out, &place.to_string(), &file.varying);
            } else {
                let _ = writeln!(
                    out,
                    "  not compared: {place}: it differs between uninterrupted runs"
                );
            }
        }
        if self.nothing_left() && self.only_words().is_none() {
            let _ = writeln!(
                out,
                "  warning[W3002]: no number is compared: the program prints and writes none that is the same in all uninterrupted runs"
            );
        }
        out.push('\n');
    }

    /// What a checkpoint takes, against what the program does.
    fn sizes(&self) -> String {
        let shown = |what: &str, bytes: Option<u64>| {
            bytes.map_or_else(String::new, |bytes| format!(", {what} {}", render::bytes(bytes)))
        };
        shown("resident at most", self.reference.peak_bytes)
            + &shown("largest checkpoint", self.checkpoint_bytes)
    }

    fn print_kinds(&self) {
        let mut kinds: BTreeMap<Kind, Vec<&Done>> = BTreeMap::new();
        for done in &self.trials {
            kinds.entry(done.trial.kind).or_default().push(done);
        }
        let mut table = render::table(&[
            "TRIALS",
            "NUMBER",
            "KILLS",
            "RESUMED",
            "STARTED OVER",
            "SAME ANSWER",
        ]);
        render::right(&mut table, &[1, 2, 3, 4, 5]);
        for (kind, list) in kinds {
            let restarts = || list.iter().flat_map(|done| &done.resumed);
            let passed = list.iter().filter(|done| done.has_its_answer()).count();
            table.add_row([
                kind.words().into(),
                list.len().into(),
                list.iter().map(|done| done.killed).sum::<usize>().into(),
                restarts().filter(|from| from.is_some()).count().into(),
                restarts().filter(|from| from.is_none()).count().into(),
                render::verdict(list.iter().all(|done| done.passed()), passed),
            ]);
        }
        render::print_table(&table);
        self.print_fates();
    }

    /// How often one rank went back without the others, of the times that one asked for it.
    fn alone_in_words(&self) -> Option<String> {
        let of_one = self
            .trials
            .iter()
            .filter(|done| done.trial.kind == Kind::RollbackOfOne);
        let (asked, alone) = of_one.fold((0, 0), |(asked, alone), done| {
            (asked + done.killed, alone + done.alone)
        });
        (asked > 0).then(|| {
            let asked = render::count(asked, "rollback");
            format!("{alone} of {asked} that one rank asked for went without the other ranks")
        })
    }

    /// What became of the bits that were turned.
    fn print_fates(&self) {
        let mut fates: BTreeMap<Fate, Vec<&Flips>> = BTreeMap::new();
        for bits in self.trials.iter().filter_map(|done| done.bits.as_ref()) {
            fates.entry(bits.fate).or_default().push(bits);
        }
        if fates.is_empty() {
            return;
        }
        let mut table = render::table(&["BITS TURNED", "TRIALS", "IN WHAT NO STATEMENT WRITES TO"]);
        render::right(&mut table, &[1, 2]);
        for (fate, list) in &fates {
            let unchanged = list
                .iter()
                .filter(|bits| bits.flips.iter().any(|flip| flip.unchanged));
            table.add_row([
                fate.words().to_owned(),
                list.len().to_string(),
                unchanged.count().to_string(),
            ]);
        }
        render::print_table(&table);
        let mut text = String::new();
        for bits in fates.get(&Fate::Silent).into_iter().flatten() {
            let Some(flip) = bits.flips.iter().find(|flip| !flip.variable.is_empty()) else {
                continue;
            };
            let _ = writeln!(
                text,
                "  silent: bit {} of `{}` of `{}`, behind visit {}: {}",
                flip.bit,
                flip.variable,
                flip.function,
                flip.visit,
                bits.why.unwrap_or_default()
            );
        }
        render::print(&text);
    }

    fn print_trials(&self) {
        let mut table = render::table(&["TRIAL", "EVERY", "WHAT", "RESUMED FROM", "ANSWER"]);
        for (index, done) in self.trials.iter().enumerate() {
            let from =
                |from: &Option<u64>| from.map_or_else(|| "the start".into(), |id| format!("checkpoint {id}"));
            let resumed: Vec<_> = done.resumed.iter().map(from).collect();
            let fate = done.bits.as_ref().map(|bits| bits.fate.words());
            let answer = match &done.verdict {
                _ if fate.is_some() => fate.unwrap_or_default(),
                Verdict::Same => "same",
                Verdict::InLastDigits => "in last digits",
                Verdict::AsRunsDiffer => "as runs differ",
                Verdict::Unsettled(_) => "as they may",
                Verdict::Different(_) => "different",
                Verdict::Failed { .. } => "failed",
            };
            table.add_row([
                (index + 1).into(),
                done.trial.every.into(),
                done.kills().into(),
                resumed.join(", ").into(),
                render::verdict(done.passed(), answer),
            ]);
        }
        render::print_table(&table);
    }

    fn failures(&self, out: &mut String, most: usize) {
        let failed = || self.trials.iter().enumerate().filter(|(_, done)| !done.passed());
        for (index, done) in failed().take(most) {
            let _ = writeln!(
                out,
                "\nTrial {} ({}, checkpoint every {}):",
                index + 1,
                done.kills(),
                done.trial.every
            );
            describe(out, &done.verdict);
            if let Some(again) = self.again(done) {
                let _ = writeln!(out, "  To see it again:\n{again}");
            }
        }
        let more = failed().count().saturating_sub(most);
        if more > 0 {
            let _ = writeln!(out, "\n... and {more} more; `--verbose` lists them");
        }
    }

    /// The commands that do the same by hand; none for a kill at an instant.
    fn again(&self, done: &Done) -> Option<String> {
        let separator = if self.command.is_empty() { "" } else { " " };
        if let Some(rollbacks) = Kill::rollbacks(&done.trial.kills, done.trial.victim) {
            let snapshots = done.trial.snapshot_every;
            let snapshots =
                snapshots.map_or_else(String::new, |every| format!("CKPT_SNAPSHOT_EVERY={every} "));
            return Some(format!(
                "    CKPT_FAULT={rollbacks} {snapshots}cargo ckpt run --dir again.ckpt.d --every {}{separator}{}",
                done.trial.every, self.command
            ));
        }
        let mut text = String::new();
        let kills = done
            .trial
            .kills
            .iter()
            .map(|kill| kill.fault(done.trial.victim).map(Some))
            .chain([Some(None)]);
        for (process, fault) in kills.enumerate() {
            let fault = fault?.map_or_else(String::new, |fault| format!("CKPT_FAULT={fault} "));
            let every = done.trial.every;
            text += &match process {
                0 => format!(
                    "    {fault}cargo ckpt run --dir again.ckpt.d --every {every}{separator}{}\n",
                    self.command
                ),
                _ => format!(
                    "    {fault}cargo ckpt restart --dir again.ckpt.d --every {}\n",
                    done.trial.then_every
                ),
            };
        }
        Some(text.trim_end().to_owned())
    }

    fn verdict(&self, out: &mut String) {
        let wrong = self.trials.iter().filter(|done| !done.passed()).count();
        out.push('\n');
        let buts = self.buts();
        let _ = if let Some(fates) = self.fates_in_words() {
            let word = if self.passed { "PASSED" } else { "FAILED" };
            writeln!(out, "{word}: {fates}")
        } else if self.passed {
            let word = if buts.is_empty() { "PASSED" } else { "PASSED, BUT" };
            writeln!(
                out,
                "{word}: {}, the answer of the uninterrupted run every time",
                self.restarts()
            )
        } else if let (0, Some(why)) = (wrong, self.trials.iter().find_map(|done| done.not_taken.as_ref())) {
            writeln!(
                out,
                "NOT TESTED: no checkpoint could be taken; the program said:\n  {why}"
            )
        } else if wrong == 0 {
            writeln!(
                out,
                "NOT TESTED: no restart found a checkpoint to resume from; choose a smaller `--every`"
            )
        } else {
            writeln!(
                out,
                "FAILED: {wrong} of {} (seed {})",
                render::count(self.trials.len(), "trial"),
                self.seed
            )
        };
        if self.passed && self.fates_in_words().is_none() {
            for but in buts {
                let _ = writeln!(out, "  but {but}");
            }
            if let Some(done) = self.unsettled().next() {
                describe(out, &done.verdict);
            }
            let as_runs_differ = |done: &&Done| matches!(done.verdict, Verdict::AsRunsDiffer);
            match self.trials.iter().filter(as_runs_differ).count() {
                0 => {}
                number => {
                    let _ = writeln!(
                        out,
                        "{} of {} differ from the first uninterrupted run as {} uninterrupted runs differ from one another, and nowhere else",
                        number,
                        render::count(self.trials.len(), "trial"),
                        self.reference.runs
                    );
                }
            }
        }
        if let Some(scratch) = &self.scratch {
            let _ = writeln!(out, "The scratch folder is kept: {}", scratch.display());
        }
    }

    /// How often each fate of a bit was met, where bits were turned.
    fn fates_in_words(&self) -> Option<String> {
        let mut fates: BTreeMap<Fate, usize> = BTreeMap::new();
        for bits in self.trials.iter().filter_map(|done| done.bits.as_ref()) {
            *fates.entry(bits.fate).or_default() += 1;
        }
        let words = fates
            .iter()
            .map(|(fate, number)| format!("{number} {}", fate.words()));
        let words: Vec<String> = words.collect();
        let of = self.trials.iter().filter(|done| done.bits.is_some()).count();
        (of > 0).then(|| format!("of {}, {}", render::count(of, "trial"), words.join(", ")))
    }

    /// What a test that has passed has not shown.
    fn buts(&self) -> Vec<String> {
        // What was measured goes before what the source tells.
        let measured = self.reference.reach.filter(|reach| *reach < HALF).map(|reach| {
            format!(
                "only {:.0} % of its time lies within reach of a site: what is lost elsewhere was not tested. `cargo ckpt plan` says \
                 what stands in the way; `cargo ckpt plan --profile -- ARGS` counts where the time goes, and the next test \
                 goes by that",
                reach * 100.0
            )
        });
        let estimated = || {
            let reached = self.reaches_only.filter(|_| self.reference.reach.is_none())?;
            Some(format!(
                "only {:.0} % of the run has checkpoints: what is lost elsewhere was not tested. The warning at the beginning \
                 says what stands in the way",
                reached * 100.0
            ))
        };
        let reach = measured.or_else(estimated);
        let nothing = self.nothing_left().then(|| match self.only_words() {
            Some(lines) => format!(
                "only words were compared, {} of them: it prints and writes no number",
                render::count(lines, "line")
            ),
            None => "no number that the program computes was compared: none is the same in all uninterrupted runs. \
                     Give it the seed of its random numbers, or let it write what is to be compared"
                .to_owned(),
        });
        let unsteady = self
            .reference
            .unsteady
            .as_ref()
            .filter(|_| nothing.is_none())
            .map(|_| {
                "what it prints was not compared: uninterrupted runs print different numbers of lines"
                    .to_owned()
            });
        let unsettled = self.unsettled().next().map(|_| {
            let place = self.unseeded.as_deref().unwrap_or_default();
            format!(
                "{} of {} differ from all {} uninterrupted runs where these are alike. It draws random numbers without a seed ({place}), \
                 so that this shows neither a right restart nor a wrong one. Give it a seed, or compare with `--compare` and `--ignore` \
                 what does not hang on them",
                self.unsettled().count(),
                render::count(self.trials.len(), "trial"),
                self.reference.runs
            )
        });
        let drawn = self.unseeded.as_ref().filter(|_| {
            let mut trials = self.trials.iter();
            nothing.is_none() && trials.any(|done| matches!(done.verdict, Verdict::AsRunsDiffer))
        });
        let drawn = drawn.map(|place| {
            format!("it draws random numbers without a seed ({place}): what hangs on them was not compared")
        });
        let added = self.adds_in_blocks.as_ref().and_then(|place| {
            let differs = |done: &&Done| matches!(done.verdict, Verdict::InLastDigits | Verdict::AsRunsDiffer);
            let number = self.trials.iter().filter(differs).count();
            let trials = render::count(self.trials.len(), "trial");
            (number > 0).then(|| {
                format!(
                    "{number} of {trials} differ in numbers that hang on floats which the program adds up in parallel ({place}): \
                     where a checkpoint cuts a sum, its parts are others. What varies so was not compared, of other numbers with a \
                     fraction the first nine digits were"
                )
            })
        });
        reach
            .into_iter()
            .chain(nothing)
            .chain(drawn)
            .chain(added)
            .chain(unsteady)
            .chain(unsettled)
            .collect()
    }

    /// The trials of which it cannot be told whether they went wrong.
    fn unsettled(&self) -> impl Iterator<Item = &Done> {
        let trials = self.trials.iter();
        trials.filter(|done| matches!(done.verdict, Verdict::Unsettled(_)))
    }

    /// Whether nothing that the program computes was compared.
    fn nothing_left(&self) -> bool {
        self.reference.numbers.compared == 0
    }

    /// The lines that were compared, where they have no numbers.
    fn only_words(&self) -> Option<usize> {
        let reference = &self.reference;
        let lines = reference.lines - reference.varying.len().min(reference.lines);
        (reference.numbers.all == 0 && reference.unsteady.is_none() && lines > 0).then_some(lines)
    }

    fn restarts(&self) -> String {
        format!(
            "{} from a checkpoint",
            render::count(self.restarts.from_checkpoint, "restart")
        )
    }
}

fn not_compared(out: &mut String, unsteady: &Unsteady) {
    let shown = |line: &Option<String>| line.clone().unwrap_or_else(|| "(nothing)".into());
    let _ = writeln!(
        out,
        "  warning[W3008]: two uninterrupted runs print different numbers of lines, {} and {}: what it prints is not compared, only how it ends\n    \
         the first difference is in line {}:\n    - {}\n    + {}\n    \
         where some lines come and go and others do not, leave them out with `--ignore REGEX`",
        unsteady.counts.0,
        unsteady.counts.1,
        unsteady.first.line,
        shown(&unsteady.first.expected),
        shown(&unsteady.first.found)
    );
}

fn varying(out: &mut String, place: &str, lines: &[String]) {
    const MOST: usize = 3;
    if lines.is_empty() {
        return;
    }
    let number = render::count(lines.len(), "line");
    let _ = writeln!(
        out,
        "  varies: {number} of {place}, compared but for what differs between uninterrupted runs (*):"
    );
    for line in lines.iter().take(MOST) {
        let _ = writeln!(out, "    {line}");
    }
    if lines.len() > MOST {
        let _ = writeln!(out, "    ...");
    }
}

fn describe(out: &mut String, verdict: &Verdict) {
    match verdict {
        Verdict::Same | Verdict::InLastDigits | Verdict::AsRunsDiffer => {}
        Verdict::Unsettled(difference) | Verdict::Different(difference) => {
            let place = match difference.line {
                0 => difference.place.clone(),
                line => format!("{}, line {line}", difference.place),
            };
            let _ = writeln!(out, "  {place}: {}", difference.what);
            if let Some(expected) = &difference.expected {
                let _ = writeln!(out, "  - {expected}");
            }
            if let Some(found) = &difference.found {
                let _ = writeln!(out, "  + {found}");
            }
        }
        Verdict::Failed { what, stderr } => {
            let _ = writeln!(out, "  {what}");
            for line in stderr.lines() {
                let _ = writeln!(out, "  | {line}");
            }
        }
    }
}
