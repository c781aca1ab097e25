//! Everything that can happen, drawn by numbers or all of it, and what became of it by kind.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::calls::{self, Part};
use crate::commands::{self, Command};
use crate::damage::{self, Change};
use crate::inject::Failure;
use crate::memory;
use crate::power::{Cut, Recording};
use crate::program::Program;
use crate::verdict::Outcome;

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A call on a file fails.
    Calls,
    /// A call does less than was asked for.
    Short,
    /// The program is killed before a call.
    Kills,
    /// The power is cut.
    Power,
    /// The power is cut while the command is at work, or what it has started.
    PowerOfCommand,
    /// Bytes of the store are others than were written.
    Damage,
    /// There is no memory while a checkpoint is taken.
    Memory,
    /// Calls of the command fail, or it is killed.
    Commands,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 8] = [
        Kind::Calls,
        Kind::Short,
        Kind::Kills,
        Kind::Power,
        Kind::PowerOfCommand,
        Kind::Damage,
        Kind::Memory,
        Kind::Commands,
    ];

    /// How many of a hundred trials are of this kind.
    fn share(self) -> usize {
        match self {
            Kind::Calls => 30,
            Kind::Short => 5,
            Kind::Kills => 10,
            Kind::Power => 22,
            Kind::PowerOfCommand => 8,
            Kind::Damage => 15,
            Kind::Memory => 5,
            Kind::Commands => 5,
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Calls => "calls that fail",
            Kind::Short => "short reads and writes",
            Kind::Kills => "kills",
            Kind::Power => "power cuts",
            Kind::PowerOfCommand => "power cuts, the command",
            Kind::Damage => "damaged files",
            Kind::Memory => "memory that is not there",
            Kind::Commands => "calls of the command",
        }
    }
}

/// One thing that happens.
#[derive(Debug, Clone, Copy)]
pub enum Trial {
    /// To a call.
    Call(calls::Trial),
    /// To the disk, of the recording of this number.
    Cut(usize, Cut),
    /// The same while the command is at work.
    CutOfCommand(usize, Cut),
    /// To a store.
    Damage(damage::Trial),
    /// To memory, in a part of a program's life.
    Memory(memory::Trial, Part),
    /// To the command.
    Command(commands::Trial),
}

impl Trial {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Trial::Cut(..) => Kind::Power,
            Trial::CutOfCommand(..) => Kind::PowerOfCommand,
            Trial::Damage(_) => Kind::Damage,
            Trial::Memory(..) => Kind::Memory,
            Trial::Command(_) => Kind::Commands,
            Trial::Call(trial) => match trial.plan.failure {
                Failure::Error(_) => Kind::Calls,
                Failure::Short => Kind::Short,
                Failure::Kill => Kind::Kills,
            },
        }
    }
}

/// Everything that can happen to some programs.
#[derive(Debug)]
pub struct Catalogue {
    programs: Vec<Program>,
    calls: BTreeMap<Kind, Vec<calls::Trial>>,
    recordings: Vec<Recording>,
    /// None where the command has not been built.
    of_command: Vec<Recording>,
    memory: Vec<memory::Trial>,
    /// None where the command has not been built.
    commands: Vec<commands::Trial>,
    /// States of disks that have been tried.
    known: Mutex<HashSet<u64>>,
}

/// Random states of a disk after each operation, where all are tried.
const STATES: u64 = 4;
/// Damages of each kind of each program, where all are tried.
const DAMAGES: u64 = 1000;

impl Catalogue {
    /// Runs the programs once to see what they do, and those whose memory is bounded to see what they need.
    ///
    /// # Errors
    /// They cannot be run.
    pub fn of(programs: &[Program], bounded: &[Program]) -> io::Result<Catalogue> {
        let mut calls: BTreeMap<Kind, Vec<calls::Trial>> = BTreeMap::new();
        let mut recordings = Vec::new();
        let mut memory = Vec::new();
        for program in bounded {
            memory.extend(memory::trials(program)?);
        }
        for program in programs {
            for part in Part::ALL {
                for trial in calls::trials(program, part)? {
                    calls.entry(Trial::Call(trial).kind()).or_default().push(trial);
                }
            }
            recordings.push(Recording::of(program)?);
        }
        let (mut commands, mut of_command) = (Vec::new(), Vec::new());
        if commands::executable().is_some() {
            for program in programs.iter().filter(|program| program.files == "none") {
                for command in Command::ALL {
                    commands.extend(commands::trials(program, command)?);
                }
            }
            for program in programs.iter().filter(|program| program.waits()) {
                of_command.extend(Recording::of_the_command(program)?);
            }
        }
        Ok(Catalogue {
            programs: programs.to_vec(),
            calls,
            recordings,
            of_command,
            memory,
            commands,
            known: Mutex::default(),
        })
    }

    /// The trial of a number: one of a kind that is as frequent as it is meant to be, or of the kind that is asked for.
    pub fn draw(&self, seed: u64, number: u64, kind: Option<Kind>) -> Trial {
        let mut random = fastrand::Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number);
        let kind = kind.unwrap_or_else(|| {
            let shares: Vec<Kind> = Kind::ALL
                .into_iter()
                .flat_map(|kind| std::iter::repeat_n(kind, kind.share()))
                .collect();
            shares[random.usize(..shares.len())]
        });
        match kind {
            Kind::Memory if !self.memory.is_empty() => {
                let part = [Part::Run, Part::ToTheEnd][random.usize(..2)];
                Trial::Memory(self.memory[random.usize(..self.memory.len())], part)
            }
            Kind::Commands if !self.commands.is_empty() => {
                Trial::Command(self.commands[random.usize(..self.commands.len())])
            }
            Kind::Power if !self.recordings.is_empty() => {
                let which = random.usize(..self.recordings.len());
                Trial::Cut(which, self.recordings[which].draw(&mut random))
            }
            Kind::PowerOfCommand if !self.of_command.is_empty() => {
                let which = random.usize(..self.of_command.len());
                Trial::CutOfCommand(which, self.of_command[which].draw(&mut random))
            }
            Kind::Damage | Kind::Power | Kind::PowerOfCommand | Kind::Memory | Kind::Commands => {
                Trial::Damage(damage::Trial {
                    program: self.programs[random.usize(..self.programs.len())],
                    change: [Change::Flip, Change::Flip, Change::Cut, Change::Zero][random.usize(..4)],
                    seed: random.u64(..),
                })
            }
            Kind::Calls | Kind::Short | Kind::Kills => {
                let all = &self.calls[&kind];
                Trial::Call(all[random.usize(..all.len())])
            }
        }
    }

    /// Every call in every way, every moment of a power cut, and as many damages as one likes.
    pub fn all(&self, kind: Option<Kind>) -> Vec<Trial> {
        let mut all: Vec<Trial> = self.calls.values().flatten().copied().map(Trial::Call).collect();
        let cuts = |recordings: &[Recording]| -> Vec<(usize, Cut)> {
            let each = recordings.iter().enumerate();
            each.flat_map(|(which, recording)| {
                recording.cuts(STATES).into_iter().map(move |cut| (which, cut))
            })
            .collect()
        };
        let cut = |(which, cut)| Trial::Cut(which, cut);
        all.extend(cuts(&self.recordings).into_iter().map(cut));
        let cut = |(which, cut)| Trial::CutOfCommand(which, cut);
        all.extend(cuts(&self.of_command).into_iter().map(cut));
        for &program in &self.programs {
            for change in [Change::Flip, Change::Cut, Change::Zero] {
                let damages = (0..DAMAGES).map(|seed| damage::Trial {
                    program,
                    change,
                    seed,
                });
                all.extend(damages.map(Trial::Damage));
            }
        }
        for part in [Part::Run, Part::ToTheEnd] {
            all.extend(self.memory.iter().map(|&trial| Trial::Memory(trial, part)));
        }
        all.extend(self.commands.iter().copied().map(Trial::Command));
        all.retain(|trial| kind.is_none_or(|kind| trial.kind() == kind));
        all
    }

    /// Makes a trial. `None` where what was to happen did not, or had happened before.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make(&self, trial: &Trial) -> io::Result<Option<Outcome>> {
        match trial {
            Trial::Call(trial) => trial.make(),
            Trial::Cut(which, cut) => self.recordings[*which].cut(*cut, &self.known),
            Trial::CutOfCommand(which, cut) => self.of_command[*which].cut(*cut, &self.known),
            Trial::Damage(trial) => trial.make(),
            Trial::Memory(trial, part) => trial.make(*part),
            Trial::Command(trial) => trial.make(),
        }
    }
}

/// What became of trials, by kind.
#[derive(Debug, Default)]
pub struct Tally {
    counts: BTreeMap<Kind, [u64; 6]>,
    /// What ckpt promises that does not happen, the first of each kind.
    pub broken: Vec<String>,
    took: Duration,
}

/// So many broken promises are told in full.
const TOLD: usize = 20;

impl Tally {
    /// Makes trials, several at a time, until they are done or the time is over.
    ///
    /// # Errors
    /// One cannot be made.
    pub fn of(catalogue: &Catalogue, trials: &[Trial], time: Option<Duration>) -> io::Result<Tally> {
        let began = Instant::now();
        let tally = Mutex::new(Tally::default());
        let outcomes = harness::in_parallel(trials, |trial| {
            if time.is_some_and(|time| began.elapsed() > time) {
                return Ok(());
            }
            let outcome = catalogue.make(trial)?;
            let mut tally = tally.lock().unwrap_or_else(|e| e.into_inner());
            tally.add(trial.kind(), outcome);
            Ok(())
        });
        outcomes.into_iter().collect::<io::Result<()>>()?;
        let mut tally = tally.into_inner().unwrap_or_else(|e| e.into_inner());
        tally.took = began.elapsed();
        Ok(tally)
    }

    fn add(&mut self, kind: Kind, outcome: Option<Outcome>) {
        let (column, told) = match outcome {
            None => (5, None),
            Some(Outcome::Right) => (0, None),
            Some(Outcome::Refused) => (1, None),
            Some(Outcome::Unexplained(told)) => (2, Some(told)),
            Some(Outcome::Lost(told)) => (3, Some(told)),
            Some(Outcome::Wrong(told)) => (4, Some(told)),
        };
        self.counts.entry(kind).or_default()[column] += 1;
        if let Some(told) = told.filter(|_| self.broken.len() < TOLD) {
            let what = ["", "", "unexplained", "lost", "wrong"][column];
            self.broken.push(format!("{what}: {told}"));
        }
    }

    /// How many trials there were in which something happened.
    pub fn trials(&self) -> u64 {
        self.counts
            .values()
            .map(|counts| counts[..5].iter().sum::<u64>())
            .sum()
    }

    /// Whether everything was as promised.
    pub fn is_sound(&self) -> bool {
        self.counts
            .values()
            .all(|counts| counts[2..5].iter().sum::<u64>() == 0)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = [
            "right",
            "refused",
            "unexplained",
            "lost",
            "wrong",
            "nothing happened",
        ];
        write!(f, "{:24}", "")?;
        columns.iter().try_for_each(|column| write!(f, "{column:>18}"))?;
        writeln!(f)?;
        for (kind, counts) in &self.counts {
            write!(f, "{:24}", kind.name())?;
            counts.iter().try_for_each(|count| write!(f, "{count:18}"))?;
            writeln!(f)?;
        }
        let rate = self.trials() as f64 / self.took.as_secs_f64().max(0.001);
        writeln!(
            f,
            "{} trials in {:.0} s: {rate:.1} a second",
            self.trials(),
            self.took.as_secs_f64()
        )
    }
}
