//! What is looked at, and what a key changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ckpt::store::{CheckpointId, NodeKind, Restored, RunId};

use crate::export::{self, Named};
use crate::failure::Outcome;
use crate::plot::raster::{Plane, Raster};
use crate::report::Life;
use crate::stores;
use crate::stores::lines::{Line, Lines, OutOfReach, Part};
use crate::stores::runs;
use crate::values::elements::Elements;
use crate::values::{is_number, summary};

/// Elements that are shown of what is no number.
const SHOWN: u64 = 200;

/// Ranks whose threads are looked at.
const RANKS_SHOWN: usize = 64;

/// The two views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// How the job stands.
    Job,
    /// What the store holds.
    Store,
}

/// What the user wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Tab,
    Up,
    Down,
    Open,
    Close,
    Keys,
}

/// Everything that is shown.
pub struct App {
    store: PathBuf,
    /// The run that was named.
    run: Option<RunId>,
    /// Whether there are checkpoints of others.
    pub several_runs: bool,
    /// The view.
    pub tab: Tab,
    /// What has happened on the store.
    pub life: Option<Life>,
    /// The checkpoints, oldest first.
    pub lines: Vec<Line>,
    /// Those of them that cannot be restored, and why.
    pub out_of_reach: OutOfReach,
    /// Ranks of which nothing is here, in words.
    pub not_here: Option<String>,
    /// What each thread of each rank has of the newest line.
    pub shares: Option<Shares>,
    /// The chosen checkpoint.
    pub selected: usize,
    /// The one that is open.
    pub opened: Option<Opened>,
    /// Whether the keys are shown.
    pub shows_keys: bool,
    /// What went wrong last.
    pub wrong: Option<String>,
}

/// What the threads of a team have of a line, by ranks.
pub struct Shares {
    id: CheckpointId,
    /// The name of a thread and the bytes that are its own; none where only one thread was at a site.
    pub of_rank: BTreeMap<u32, Vec<(String, u64)>>,
}

/// A checkpoint that is looked into.
pub struct Opened {
    /// It.
    pub checkpoint: Restored,
    /// Its values: name, type and shape, path in the tree.
    pub values: Vec<Value>,
    /// The chosen one.
    pub selected: usize,
    /// What it holds.
    pub shown: Shown,
}

/// A value of a checkpoint.
pub struct Value {
    /// `main/grid`.
    pub name: String,
    /// `f64 [512, 512]`.
    pub kind: String,
    /// Whose part it is, or its type in the program: ` (of sim: Simulation)`.
    pub of: String,
    path: String,
}

/// A value as it is shown.
#[derive(Debug, Default)]
pub struct Shown {
    /// In words.
    pub text: String,
    /// An array of numbers in cells.
    pub raster: Option<Raster>,
}

impl App {
    /// Looks at a store for the first time.
    pub fn new(store: &Path, run: Option<RunId>) -> App {
        let mut app = App {
            store: store.to_owned(),
            run,
            several_runs: false,
            tab: Tab::Job,
            life: None,
            lines: Vec::new(),
            out_of_reach: OutOfReach::new(),
            not_here: None,
            shares: None,
            selected: 0,
            opened: None,
            shows_keys: false,
            wrong: None,
        };
        app.look();
        app.selected = app.lines.len().saturating_sub(1);
        app
    }

    /// Looks again.
    pub fn look(&mut self) {
        let at_end = self.selected + 1 >= self.lines.len();
        let home = stores::home(&self.store);
        match runs::of(&self.store, self.run) {
            Ok(record) => {
                self.life = record.and_then(|record| {
                    let events = ckpt::session::events::read(&home, record.run);
                    Some(Life::of(record.job.ok()?, &events))
                });
            }
            Err(failure) => self.wrong = Some(failure.to_string()),
        }
        if let Err(failure) = self.look_at_lines() {
            self.wrong = Some(failure.to_string());
        }
        // Whoever looks at the newest goes with it.
        let last = self.lines.len().saturating_sub(1);
        self.selected = if at_end { last } else { self.selected.min(last) };
    }

    fn look_at_lines(&mut self) -> Outcome<()> {
        let lines = Lines::of_run(&self.store, self.run)?;
        self.several_runs = lines.has_several_runs();
        self.not_here = lines.not_here();
        let list = lines.list()?;
        let numbers = |list: &[Line]| list.iter().map(|line| line.id).collect::<Vec<_>>();
        // The journals may be long: they are read when there is another checkpoint.
        if numbers(&list) != numbers(&self.lines) {
            self.out_of_reach = lines.out_of_reach(&list)?;
        }
        self.lines = list;
        self.look_at_threads(&lines);
        Ok(())
    }

    /// A line does not change: it is looked into once.
    fn look_at_threads(&mut self, lines: &Lines) {
        let newest = self.lines.last().map(|line| line.id);
        if newest == self.shares.as_ref().map(|shares| shares.id) {
            return;
        }
        self.shares = newest.map(|id| {
            let parts = lines.parts.iter().take(RANKS_SHOWN);
            let of_part = |part: &Part| Some((part.rank, of_threads(&lines.load(part, id).ok()?)));
            Shares {
                id,
                of_rank: parts.filter_map(of_part).collect(),
            }
        });
    }

    /// Does what a key says.
    pub fn key(&mut self, key: Key) {
        self.wrong = None;
        match (key, self.tab, &mut self.opened) {
            (Key::Keys, ..) => self.shows_keys = !self.shows_keys,
            (Key::Close, ..) if self.shows_keys => self.shows_keys = false,
            (Key::Tab, Tab::Job, _) => self.tab = Tab::Store,
            (Key::Tab, Tab::Store, _) => self.tab = Tab::Job,
            (_, Tab::Job, _) => {}
            (Key::Up, _, None) => self.selected = self.selected.saturating_sub(1),
            (Key::Down, _, None) => {
                self.selected = (self.selected + 1).min(self.lines.len().saturating_sub(1))
            }
            (Key::Open, _, None) => self.open(),
            (Key::Up, _, Some(opened)) => opened.choose(opened.selected.saturating_sub(1)),
            (Key::Down, _, Some(opened)) => opened.choose(opened.selected + 1),
            (Key::Close, _, _) => self.opened = None,
            (Key::Open, _, Some(_)) => {}
        }
    }

    fn open(&mut self) {
        let Some(line) = self.lines.get(self.selected) else {
            return;
        };
        let lines = Lines::of_run(&self.store, self.run);
        let load = |lines: Lines| Some(lines.load(lines.parts.first()?, line.id));
        match lines.map_or_else(|failure| Some(Err(failure)), load) {
            Some(Ok(checkpoint)) => self.opened = Some(Opened::new(checkpoint)),
            Some(Err(failure)) => self.wrong = Some(failure.to_string()),
            None => {}
        }
    }
}

impl Opened {
    fn new(checkpoint: Restored) -> Opened {
        let value = |one: Named<'_>| Value {
            kind: one.kind(),
            of: one.declared(),
            path: one.node.path.clone(),
            name: one.name,
        };
        let values = export::all(&checkpoint).into_iter().map(value).collect();
        let mut opened = Opened {
            checkpoint,
            values,
            selected: 0,
            shown: Shown::default(),
        };
        opened.choose(0);
        opened
    }

    fn choose(&mut self, number: usize) {
        self.selected = number.min(self.values.len().saturating_sub(1));
        self.shown = match self.values.get(self.selected) {
            Some(value) => self
                .show(value)
                .unwrap_or_else(|text| Shown { text, raster: None }),
            None => Shown::default(),
        };
    }

    fn show(&self, value: &Value) -> Result<Shown, String> {
        let node = self
            .checkpoint
            .tree()
            .find(&value.path)
            .ok_or("it holds no value")?;
        let NodeKind::Dataset {
            dtype,
            shape,
            elements,
            ..
        } = &node.kind
        else {
            return self.words(node);
        };
        if !is_number(dtype) || *elements < 2 {
            return self.words(node);
        }
        let plane = Plane::with(&[], shape);
        let raster = plane
            .of_numbers(&self.checkpoint, node)
            .map_err(|failure| failure.to_string())?;
        let summary = summary::summary(&self.checkpoint, node).map_err(|failure| failure.to_string())?;
        let words = summary.map_or_else(String::new, |summary| summary.words());
        Ok(Shown {
            text: format!("{words} {}", plane.words(shape)),
            raster: Some(raster),
        })
    }

    fn words(&self, node: &ckpt::store::Node) -> Result<Shown, String> {
        let Some(elements) = Elements::of(node) else {
            return Ok(Shown::default());
        };
        let chosen = elements
            .chosen(&self.checkpoint, None, SHOWN)
            .map_err(|failure| failure.to_string())?;
        let all = chosen.runs.iter().flat_map(|(_, words)| words);
        Ok(Shown {
            text: all.cloned().collect::<Vec<_>>().join("\n"),
            raster: None,
        })
    }
}

/// The threads of the team that was at the site, and the bytes of what is theirs alone.
fn of_threads(checkpoint: &Restored) -> Vec<(String, u64)> {
    let threads = checkpoint.tree().find("/threads");
    let threads = threads.map_or(&[][..], |threads| threads.children());
    let of_thread = |thread: &ckpt::store::Node| (thread.name.clone(), thread.bytes());
    threads.iter().map(of_thread).collect()
}
