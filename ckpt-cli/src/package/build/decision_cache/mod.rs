//! What was decided about a package the last time, for the first question to rustc after a change of its sources.
//!
//! A cache may be wrong: the sources have changed. It must never make an answer wrong, nor cost a site. So what is
//! remembered is either what rustc refuses where it no longer holds, or saves more than is needed; or it is about a
//! function, and the types and signatures of the whole program, which read as before, and is asked for again where
//! there is a rule for it. Where the rounds that start from a cache do not end well, they are started without.

mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use ckpt_analysis::decisions::changed_inputs::inputs_change;
use ckpt_analysis::decisions::effects::Effects;
use ckpt_analysis::decisions::objects::object_edits;
use ckpt_analysis::decisions::other_branches::is_used_elsewhere;
use ckpt_analysis::decisions::refill;
use ckpt_analysis::decisions::saved_types::Types;
use ckpt_analysis::decisions::writers::output_edits;
use ckpt_analysis::edits::{Decisions, Place};
use ckpt_analysis::items::FnId;
use ckpt_analysis::placement::{ChooseOptions, Placement};
use ckpt_analysis::source::locate::{self, Found};
use ckpt_analysis::{Analysis, FileId, place};
use serde::{Deserialize, Serialize};

use crate::package::build::decide::{OUTPUTS, file_of};
use crate::package::build::driver::Wanted;
use crate::package::build::fingerprint::tool;
use crate::package::copy::home::Home;
use crate::package::read::{ReadPackage, settings_files};
use texts::{Change, Now};

/// Where rounds with rustc start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    /// What is decided.
    pub decisions: Decisions,
    /// Where no site can be.
    pub refused: Refused,
    /// Whether nothing is executed again only to save less.
    pub saves_all: bool,
}

/// Places of sites that cannot be, each with the reason and the function that rustc refused.
pub type Refused = BTreeMap<(usize, usize), (String, Place)>;

impl Start {
    /// The wishes for the placement.
    pub fn wishes(&self, ranks: Option<usize>) -> ChooseOptions {
        let refused = self.refused.iter();
        ChooseOptions {
            ranks,
            refused: refused.map(|(&key, (reason, _))| (key, reason.clone())).collect(),
            ..ChooseOptions::default()
        }
    }
}

/// The file that remembers.
#[derive(Debug)]
pub struct DecisionCache {
    path: PathBuf,
    /// Of what else than the sources the decisions depend on.
    about: u64,
}

/// A place: the number of the file, and the byte.
type At = (usize, usize);

#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    about: u64,
    files: Vec<(PathBuf, String)>,
    derives: Vec<At>,
    opaque: Vec<(At, String)>,
    refilled: Vec<At>,
    parts: Vec<(At, Vec<String>)>,
    replayed: Vec<At>,
    variables: Vec<(At, String)>,
    parameters: Vec<(At, String)>,
    fields: Vec<(At, String)>,
    /// Each trait, and whether it needs edits.
    objects: Vec<(String, bool)>,
    bounds: Vec<At>,
    serde: bool,
    not_serde: Vec<At>,
    refused: Vec<(At, String, At)>,
    saves_all: bool,
}

impl DecisionCache {
    /// Of a program that is built so; nothing where nothing can be kept.
    pub fn of(package: &ReadPackage, wanted: Wanted, ranks: Option<usize>) -> Option<Self> {
        let home = Home::open(package).ok()?;
        let mut hasher = DefaultHasher::new();
        (tool(), package.options.words(), ranks).hash(&mut hasher);
        package.options.no_default_features.hash(&mut hasher);
        let manifests = package.workspace.packages.iter();
        let mut files: Vec<PathBuf> = manifests.map(|one| one.folder().join("Cargo.toml")).collect();
        let root = package.workspace_root();
        files.extend(["Cargo.toml", "Cargo.lock"].map(|name| root.join(name)));
        files.extend(settings_files(&package.workspace));
        for file in files {
            fs::read(file).ok().hash(&mut hasher);
        }
        let target = &package.workspace.choice.target;
        Some(Self {
            path: home
                .folder
                .join(format!("{target}.{wanted:?}.decided").to_lowercase()),
            about: hasher.finish(),
        })
    }

    /// Keeps what has led to a package that compiles. Where that fails, the next time starts from nothing.
    pub fn keep(&self, package: &ReadPackage, start: &Start) {
        let record = Record::of(self.about, package, start);
        if let Ok(text) = serde_json::to_vec(&record) {
            let _ = fs::write(&self.path, text);
        }
    }

    /// What still holds of what was kept.
    pub fn recall(&self, package: &ReadPackage, analysis: &Analysis, main: FnId) -> Option<Start> {
        let record: Record = serde_json::from_slice(&fs::read(&self.path).ok()?).ok()?;
        if record.about != self.about {
            return None;
        }
        Recall::new(&record, package, analysis)?.start(main)
    }
}

impl Record {
    fn of(about: u64, package: &ReadPackage, start: &Start) -> Self {
        let at = |place: &Place| (place.0.0, place.1);
        let list = |places: &BTreeSet<Place>| places.iter().map(at).collect();
        let words = |marks: &BTreeMap<Place, &'static str>| {
            marks
                .iter()
                .map(|(place, word)| (at(place), (*word).to_owned()))
                .collect()
        };
        let decisions = &start.decisions;
        let objects = decisions.objects.iter();
        let refused = start.refused.iter();
        Self {
            about,
            files: package
                .program
                .files
                .iter()
                .map(|file| (file.path.clone(), file.text.clone()))
                .collect(),
            derives: list(&decisions.derives),
            opaque: decisions
                .opaque
                .iter()
                .map(|(place, field)| (at(place), field.clone()))
                .collect(),
            refilled: list(&decisions.refilled),
            parts: decisions
                .parts
                .iter()
                .map(|(place, parts)| (at(place), parts.clone()))
                .collect(),
            replayed: list(&decisions.replayed),
            variables: words(&decisions.variables),
            parameters: words(&decisions.parameters),
            fields: words(&decisions.fields),
            objects: objects
                .map(|(name, edits)| (name.clone(), !edits.is_empty()))
                .collect(),
            bounds: list(&decisions.bounds),
            serde: decisions.serde,
            not_serde: list(&decisions.not_serde),
            refused: refused
                .map(|(&site, (reason, cause))| (site, reason.clone(), at(cause)))
                .collect(),
            saves_all: start.saves_all,
        }
    }
}

/// A record, read in the light of the sources as they are.
struct Recall<'r> {
    record: &'r Record,
    package: &'r ReadPackage,
    analysis: &'r Analysis,
    effects: Effects<'r>,
    types: Types,
    /// For each file of the record: which it is now, and what has changed.
    files: Vec<Option<(FileId, Change)>>,
    /// Whether all types and signatures of the program read as before.
    only_inside: bool,
}

impl<'r> Recall<'r> {
    fn new(record: &'r Record, package: &'r ReadPackage, analysis: &'r Analysis) -> Option<Self> {
        let program = &package.program;
        let files: Vec<Option<(FileId, Change)>> = record
            .files
            .iter()
            .map(|(path, text)| {
                let file = file_of(program, path)?;
                Some((file, Change::between(text, &program.file(file).text)?))
            })
            .collect();
        let is_inside = |file: &Option<(FileId, Change)>| file.as_ref().is_some_and(|one| one.1.only_inside);
        Some(Self {
            only_inside: files.len() == program.files.len() && files.iter().all(is_inside),
            record,
            package,
            analysis,
            effects: Effects::of(program, analysis),
            types: Types::of(program),
            files,
        })
    }

    fn now(&self, at: At) -> Option<(FileId, Now)> {
        let (file, change) = self.files.get(at.0)?.as_ref()?;
        Some((*file, change.now(at.1)?))
    }

    /// A place that is in the program still.
    fn anywhere(&self, at: &At) -> Option<Place> {
        let (file, Now::Unchanged(byte) | Now::Similar(byte) | Now::Outside(byte)) = self.now(*at)?;
        Some((file, byte))
    }

    /// A place in a function that reads as before, in a program whose types and signatures do.
    fn as_before(&self, at: &At) -> Option<Place> {
        match self.now(*at)? {
            (file, Now::Unchanged(byte)) if self.only_inside => Some((file, byte)),
            _ => None,
        }
    }

    fn start(&self, main: FnId) -> Option<Start> {
        let record = self.record;
        let mut start = Start::default();
        start.decisions.serde = record.serde;
        start.decisions.derives = record.derives.iter().filter_map(|at| self.type_at(at)).collect();
        start.decisions.bounds = record.bounds.iter().filter_map(|at| self.anywhere(at)).collect();
        start.decisions.not_serde = record
            .not_serde
            .iter()
            .filter_map(|at| self.as_before(at))
            .collect();
        if self.only_inside {
            start.saves_all = record.saves_all;
            let opaque = record.opaque.iter();
            start.decisions.opaque = opaque
                .filter_map(|(at, field)| Some((self.type_at(at)?, field.clone())))
                .collect();
            for (site, reason, cause) in &record.refused {
                if let (Some(site), Some(cause)) = (self.as_before(site), self.as_before(cause)) {
                    start.refused.insert((site.0.0, site.1), (reason.clone(), cause));
                }
            }
        }
        self.fields(&mut start.decisions)?;
        self.objects(&mut start.decisions);
        let placement = place(self.analysis, main, &start.wishes(None));
        self.variables(&mut start.decisions, &placement);
        for (at, word) in &record.parameters {
            if let Some(place) = self.as_before(at) {
                start.decisions.parameters.insert(place, known(word)?);
            }
        }
        Some(start)
    }

    /// The type that begins there.
    fn type_at(&self, at: &At) -> Option<Place> {
        let place = self.anywhere(at)?;
        self.types.get(place).map(|_| place)
    }

    /// What goes through serde is saved or refused by rustc; what a restart keeps, only where all types are as they were.
    fn fields(&self, decisions: &mut Decisions) -> Option<()> {
        for (at, word) in &self.record.fields {
            if let Some(place) = self.anywhere(at)
                && word == "serde"
            {
                decisions.fields.insert(place, "serde");
            }
        }
        let refilled = self.record.refilled.iter().filter(|_| self.only_inside);
        for ty in refilled.filter_map(|at| self.type_at(at)) {
            decisions
                .fields
                .extend(refill::words_of_fields(&self.package.program, ty)?);
            decisions.refilled.insert(ty);
        }
        Some(())
    }

    /// The types behind a trait's objects are looked for anew.
    fn objects(&self, decisions: &mut Decisions) {
        let program = &self.package.program;
        for (name, is_edited) in &self.record.objects {
            if name == OUTPUTS {
                if self.only_inside {
                    let edits = if *is_edited {
                        output_edits(program)
                    } else {
                        Vec::new()
                    };
                    decisions.objects.insert(name.clone(), edits);
                }
            } else if let Ok(needed) = object_edits(program, &self.analysis.items, &self.types, name) {
                decisions.objects.insert(name.clone(), needed.edits);
                decisions.derives.extend(needed.derives);
            }
        }
    }

    fn variables(&self, decisions: &mut Decisions, placement: &Placement) {
        for (at, word) in &self.record.variables {
            let found = match word.as_str() {
                "serde" | "save" => self.same_let(at),
                "reexecute" => self.same_let(at).or_else(|| self.as_before(at)).filter(|&place| {
                    let program = &self.package.program;
                    self.effects.may_run_again(place)
                        && !inputs_change(program, self.analysis, placement, place)
                }),
                "elsewhere" => self.as_before(at).filter(|&place| {
                    is_used_elsewhere(&self.package.program, self.analysis, placement, place)
                }),
                "refill" => self.as_before(at).filter(|&place| self.may_be_filled(at, place)),
                _ => None,
            };
            if let (Some(place), Some(word)) = (found, known(word)) {
                decisions.variables.insert(place, word);
            }
        }
        for (at, parts) in &self.record.parts {
            if let Some(place) = self
                .as_before(at)
                .filter(|place| decisions.variables.contains_key(place))
            {
                decisions.parts.insert(place, parts.clone());
            }
        }
        for at in &self.record.replayed {
            if let Some(place) = self
                .as_before(at)
                .filter(|place| decisions.variables.contains_key(place))
            {
                decisions.replayed.insert(place);
            }
        }
    }

    fn may_be_filled(&self, at: &At, place: Place) -> bool {
        if self.record.replayed.contains(at) {
            return self.effects.may_be_gone_over_again(place);
        }
        let program = &self.package.program;
        let is_exchanged = match locate::locate(program, place.0, place.1) {
            Some(Found::Let { names, .. }) => refill::is_exchanged(&self.analysis.items, place, &names[0]),
            _ => true,
        };
        let parts = self.record.parts.iter().find(|(of, _)| of == at);
        let is_so = |(_, parts): &(At, Vec<String>)| {
            let mut types = self.record.refilled.iter().filter_map(|at| self.type_at(at));
            parts.is_empty() || types.any(|ty| refill::parts_of(program, place, ty).as_ref() == Some(parts))
        };
        let named = parts.iter().flat_map(|(_, parts)| parts);
        let lent: Vec<String> = named
            .filter_map(|part| Some(part.strip_prefix("&mut ")?.to_owned()))
            .collect();
        !is_exchanged && self.effects.may_be_made_again_from(place, &lent) && parts.is_none_or(is_so)
    }

    /// A `let` that reads as before, whatever is around it.
    fn same_let(&self, at: &At) -> Option<Place> {
        let place = self.anywhere(at)?;
        let (_, old) = self.record.files.get(at.0)?;
        let new = &self.package.program.file(place.0).text;
        let statement = locate::statement_at(&self.package.program, place.0, place.1)?;
        let reads_as_before = statement.start == place.1 && old[at.1..].starts_with(&new[statement]);
        reads_as_before.then_some(place)
    }
}

/// The word as the decisions have it.
fn known(word: &str) -> Option<&'static str> {
    [
        "reexecute",
        "refill",
        "elsewhere",
        "serde",
        "save",
        "keep",
        "through",
    ]
    .into_iter()
    .find(|known| *known == word)
}
