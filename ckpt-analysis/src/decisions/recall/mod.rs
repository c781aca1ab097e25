//! What was decided about a package the last time, for the first question to rustc after a change of its sources.
//!
//! A record may be wrong: the sources have changed. It must never make an answer wrong, nor cost a site. So what is
//! remembered is either what rustc refuses where it no longer holds, or saves more than is needed; or it is about a
//! function, and the types and signatures of the whole program, which read as before, and is asked for again where
//! there is a rule for it. Where the rounds that start from a record do not end well, they are started without.

mod texts;

use crate::decisions::Decisions;
use crate::decisions::changed_inputs::inputs_change;
use crate::decisions::effects::Effects;
use crate::decisions::knowledge::{Knowledge, RefusedSite};
use crate::decisions::objects::object_edits;
use crate::decisions::other_branches::is_used_elsewhere;
use crate::decisions::refill;
use crate::decisions::saved_types::Types;
use crate::decisions::writers::{Stream, stream_edits};
use crate::diagnostics::{OpaqueField, RustcObstacle};
use crate::items::FnId;
use crate::placement::Placement;
use crate::source::locate::{self, Found};
use crate::source::{FileId, Position, Program};
use crate::{Analysis, place};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use texts::{Change, Now};

/// A place: the number of the file, and the byte.
type At = (usize, usize);

/// What was decided, by places in the sources as they were then.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Record {
    files: Vec<(PathBuf, String)>,
    derives: Vec<At>,
    opaque: Vec<(At, OpaqueField)>,
    refilled: Vec<At>,
    parts: Vec<(At, Vec<String>)>,
    replayed: Vec<At>,
    variables: Vec<(At, String)>,
    parameters: Vec<(At, String)>,
    fields: Vec<(At, String)>,
    /// Each trait, and whether it needs edits.
    objects: Vec<(String, bool)>,
    bounds: Vec<At>,
    #[serde(default)]
    fixed: Vec<At>,
    serde: bool,
    #[serde(default)]
    channels: Option<bool>,
    not_serde: Vec<At>,
    /// Sites, what rustc has against each, what that is about, and the function.
    refused: Vec<(At, RustcObstacle, At, At)>,
    saves_all: bool,
}

impl Record {
    /// Of the sources as they are.
    pub fn of(program: &Program, known: &Knowledge) -> Self {
        let at = |place: &Position| (place.0.0, place.1);
        let list = |places: &BTreeSet<Position>| places.iter().map(at).collect();
        let words = |marks: &BTreeMap<Position, &'static str>| {
            marks
                .iter()
                .map(|(place, word)| (at(place), (*word).to_owned()))
                .collect()
        };
        let decisions = &known.decisions;
        let objects = decisions.objects.iter();
        let refused = known.refused.iter();
        Self {
            files: program
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
            fixed: list(&decisions.fixed),
            serde: decisions.serde,
            channels: decisions.channels,
            not_serde: list(&decisions.not_serde),
            refused: refused
                .map(|(&site, one)| (site, one.obstacle.clone(), at(&one.place), at(&one.function)))
                .collect(),
            saves_all: known.saves_all,
        }
    }
}

/// What still holds of what was decided, for so many ranks.
pub fn recall(
    record: &Record,
    program: &Program,
    analysis: &Analysis,
    main: FnId,
    ranks: Option<usize>,
) -> Option<Knowledge> {
    Recall::new(record, program, analysis)?.start(main, ranks)
}

/// A record, read in the light of the sources as they are.
struct Recall<'r> {
    record: &'r Record,
    program: &'r Program,
    analysis: &'r Analysis,
    effects: Effects<'r>,
    types: Types,
    /// For each file of the record: which it is now, and what has changed.
    files: Vec<Option<(FileId, Change)>>,
    /// Whether all types and signatures of the program read as before.
    only_inside: bool,
}

impl<'r> Recall<'r> {
    fn new(record: &'r Record, program: &'r Program, analysis: &'r Analysis) -> Option<Self> {
        let files: Vec<Option<(FileId, Change)>> = record
            .files
            .iter()
            .map(|(path, text)| {
                let file = program.file_at(path)?;
                Some((file, Change::between(text, &program.file(file).text)?))
            })
            .collect();
        let is_inside = |file: &Option<(FileId, Change)>| file.as_ref().is_some_and(|one| one.1.only_inside);
        Some(Self {
            only_inside: files.len() == program.files.len() && files.iter().all(is_inside),
            record,
            program,
            analysis,
            effects: Effects::of(program, analysis),
            types: Types::of(&analysis.library, program),
            files,
        })
    }

    fn now(&self, at: At) -> Option<(FileId, Now)> {
        let (file, change) = self.files.get(at.0)?.as_ref()?;
        Some((*file, change.now(at.1)?))
    }

    /// A place that is in the program still.
    fn anywhere(&self, at: &At) -> Option<Position> {
        let (file, Now::Unchanged(byte) | Now::Similar(byte) | Now::Outside(byte)) = self.now(*at)?;
        Some((file, byte))
    }

    /// A place in a function that reads as before, in a program whose types and signatures do.
    fn as_before(&self, at: &At) -> Option<Position> {
        match self.now(*at)? {
            (file, Now::Unchanged(byte)) if self.only_inside => Some((file, byte)),
            _ => None,
        }
    }

    fn start(&self, main: FnId, ranks: Option<usize>) -> Option<Knowledge> {
        let record = self.record;
        let mut start = Knowledge::default();
        start.decisions.serde = record.serde;
        start.decisions.derives = record.derives.iter().filter_map(|at| self.type_at(at)).collect();
        let anywhere = |places: &[At]| places.iter().filter_map(|at| self.anywhere(at)).collect();
        start.decisions.bounds = anywhere(&record.bounds);
        start.decisions.fixed = anywhere(&record.fixed);
        start.decisions.not_serde = record
            .not_serde
            .iter()
            .filter_map(|at| self.as_before(at))
            .collect();
        if self.only_inside {
            start.decisions.channels = record.channels;
            start.saves_all = record.saves_all;
            let opaque = record.opaque.iter();
            start.decisions.opaque = opaque
                .filter_map(|(at, field)| Some((self.type_at(at)?, field.clone())))
                .collect();
            for (site, obstacle, place, function) in &record.refused {
                let now = [site, place, function].map(|at| self.as_before(at));
                if let [Some(site), Some(place), Some(function)] = now {
                    let one = RefusedSite {
                        obstacle: obstacle.clone(),
                        place,
                        function,
                    };
                    start.refused.insert((site.0.0, site.1), one);
                }
            }
        }
        self.fields(&mut start.decisions)?;
        self.objects(&mut start.decisions);
        let placement = place(self.analysis, main, &start.wishes(ranks));
        self.variables(&mut start.decisions, &placement);
        for (at, word) in &record.parameters {
            if let Some(place) = self.as_before(at) {
                start.decisions.parameters.insert(place, known_word(word)?);
            }
        }
        Some(start)
    }

    /// The type that begins there.
    fn type_at(&self, at: &At) -> Option<Position> {
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
                .extend(refill::words_of_fields(&self.analysis.library, self.program, ty)?);
            decisions.refilled.insert(ty);
        }
        Some(())
    }

    /// The types behind a trait's objects are looked for anew.
    fn objects(&self, decisions: &mut Decisions) {
        let program = self.program;
        for (name, is_edited) in &self.record.objects {
            if let Some(stream) = Stream::of_key(name) {
                if self.only_inside {
                    let edits = if *is_edited {
                        stream_edits(stream, &self.analysis.library, program)
                    } else {
                        Vec::new()
                    };
                    decisions.objects.insert(name.clone(), edits);
                }
            } else if let Ok(needed) = object_edits(
                &self.analysis.library,
                program,
                &self.analysis.items,
                &self.types,
                name,
            ) {
                decisions.objects.insert(name.clone(), needed.edits);
                decisions.derives.extend(needed.derives);
            }
        }
    }

    fn variables(&self, decisions: &mut Decisions, placement: &Placement) {
        let made_again = |at| self.same_let(at).or_else(|| self.as_before(at));
        // All that was decided, also of what comes later here.
        let all = self.record.variables.iter();
        let marks = { all.filter_map(|(at, word)| Some((made_again(at)?, word.clone()))) }.collect();
        for (at, word) in &self.record.variables {
            let found = match word.as_str() {
                "serde" | "save" => self.same_let(at),
                "reexecute" => made_again(at).filter(|&place| {
                    let program = self.program;
                    self.effects.may_be_reexecuted(place)
                        && !inputs_change(
                            program,
                            self.analysis,
                            (placement, &marks),
                            // Its type is not known here: where that matters, rustc is asked again.
                            (place, true),
                            // What changes places is not remembered either.
                            &|at, place| self.effects.is_as_declared(at, place, &|_| false),
                        )
                }),
                "elsewhere" => self.as_before(at).filter(|&place| {
                    let marks = decisions.marks();
                    is_used_elsewhere(self.program, self.analysis, placement, &marks, place)
                }),
                "refill" => self.as_before(at).filter(|&place| self.may_be_filled(at, place)),
                _ => None,
            };
            if let (Some(place), Some(word)) = (found, known_word(word)) {
                decisions.variables.insert(place, word);
                decisions.give_content(&self.analysis.library, self.program, &self.analysis.items, place);
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

    fn may_be_filled(&self, at: &At, place: Position) -> bool {
        if self.record.replayed.contains(at) {
            return self.effects.may_be_replayed(place);
        }
        let program = self.program;
        let is_exchanged = match locate::locate(program, place.0, place.1) {
            Some(Found::Let { .. }) => {
                refill::is_exchanged(&self.analysis.library, program, &self.analysis.items, place)
            }
            _ => true,
        };
        let parts = self.record.parts.iter().find(|(of, _)| of == at);
        let lent = match parts.map(|(_, parts)| parts).filter(|parts| !parts.is_empty()) {
            Some(parts) => {
                let (library, items) = (&self.analysis.library, &self.analysis.items);
                let mut types = self.record.refilled.iter().filter_map(|at| self.type_at(at));
                let is_of = |ty: &Position| {
                    refill::parts_of(library, program, items, place, *ty).as_ref() == Some(parts)
                };
                let ty = types.find(is_of);
                ty.and_then(|ty| refill::lent_variables(library, program, items, place, ty))
            }
            None => Some(Vec::new()),
        };
        let may_be_rebuilt = |lent: Vec<String>| self.effects.may_be_rebuilt_from(place, &lent);
        // With which arrays it changes places is found out anew.
        let stays = self.effects.changing_places_with(place).is_empty();
        stays && !is_exchanged && lent.is_some_and(may_be_rebuilt)
    }

    /// A `let` that reads as before, whatever is around it.
    fn same_let(&self, at: &At) -> Option<Position> {
        let place = self.anywhere(at)?;
        let (_, old) = self.record.files.get(at.0)?;
        let new = &self.program.file(place.0).text;
        let statement = locate::statement_at(self.program, place.0, place.1)?;
        let reads_as_before = statement.start == place.1 && old[at.1..].starts_with(&new[statement]);
        reads_as_before.then_some(place)
    }
}

/// The word as the decisions have it.
fn known_word(word: &str) -> Option<&'static str> {
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
