//! The front door: one package, what is known of it, and what follows from that. The command knows nothing else of this
//! crate; what it is given are values.

use crate::Analysis;
use crate::calls::{Call, CallId, InBlocks, Loop};
use crate::cost::Costs;
use crate::cost::bytes::Bytes;
use crate::cost::profile::{Counter, Counters, Measured, Seen, counters};
use crate::decisions::chance::unseeded;
use crate::decisions::changed_places::place_edits;
use crate::decisions::closure_callers::{self, InlinedCall, Sources};
use crate::decisions::completed::completed_edits;
use crate::decisions::destructors::destructor_edits;
use crate::decisions::detectors::{Detector, NoDetector, attributes, detectors};
use crate::decisions::device_arrays::{DeviceArray, device_arrays};
use crate::decisions::device_numbers::{DeviceNumber, device_number};
use crate::decisions::devices::Devices;
use crate::decisions::effects::Effects;
use crate::decisions::functions::function_edits;
use crate::decisions::globals::{RefusedStatic, global_edits, refused_statics};
use crate::decisions::knowledge::Knowledge;
use crate::decisions::learn::{Finding, Lesson, learn};
use crate::decisions::mutable_loans::{lent_edits, list_lent_objects};
use crate::decisions::objects::late_edits;
use crate::decisions::outlined_kernels;
use crate::decisions::recall::{Record, recall};
use crate::decisions::reexecution::{Reexecuted, reexecuted};
use crate::decisions::refill;
use crate::decisions::replaced::replacing_edits;
use crate::decisions::spares::Spares;
use crate::decisions::threads::thread_edits;
use crate::decisions::watched_devices::{device_edits, number_edits};
use crate::edits::marks::{function_marks, on_any_devices, site_marks};
use crate::items::{Annotation, FnId, Function};
use crate::placement::asked::Answer;
use crate::placement::team_size::{SiteThreads, team_sizes};
use crate::placement::{Candidate, ChooseOptions, Holder, Placement};
use crate::source::edits::{Edit, Edited, edited};
use crate::source::included::device_texts;
use crate::source::locate::{Found, locate};
use crate::source::{FileId, Position, Program};
use ckpt_compiler::diagnostics::Diagnostic;
use ckpt_compiler::library::{CallTable, Library, Types};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

/// What is known of a package. What is asked of the stages of one function is asked once.
#[derive(Debug)]
pub struct PackageAnalysis {
    facts: Analysis,
    inlined: Vec<InlinedCall>,
}

/// A rewritten package, for rustc to look at.
#[derive(Debug)]
pub struct Attempt {
    /// What was known, with what the placement asks for.
    pub known: Knowledge,
    /// Where the sites are, and the functions that lead to them.
    pub placement: Placement,
    /// Statements that are re-executed though their values could be saved.
    pub reexecuted: Reexecuted,
    /// The edited files.
    pub edited: BTreeMap<FileId, Edited>,
}

/// What a stage that sees the whole package has made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Artefact {
    /// Functions, types, constants and global state.
    Items,
    /// Calls and loops.
    Calls,
    /// Trips, operations and shares of the loops.
    Cost,
    /// The calls that exchange messages, and those that lead to them.
    Communications,
    /// The chosen sites, and what was refused.
    Placement,
}

/// The files whose texts may be those of kernels, of a program that computes on devices.
pub fn files_of_kernels(program: &Program) -> Vec<PathBuf> {
    let library = Library::builtin();
    match Devices::of(library, program).are_used() {
        true => device_texts(library, program),
        false => Vec::new(),
    }
}

/// Whether a package of this name is for devices, and what it does is seen in the program's own sources alone.
pub fn is_watched_for_devices(package: &str) -> bool {
    Library::builtin().says(&package.replace('-', "_"), Types::DeviceWatchedCrates)
}

/// Whether a package of this name is one by which programs compute on devices.
pub fn is_for_devices(package: &str) -> bool {
    Library::builtin().says(&package.replace('-', "_"), Types::DeviceCrates)
}

/// Whether a package of this name is for devices, and only the program's own sources tell what it has there.
pub fn is_uncounted_on_devices(package: &str) -> bool {
    Library::builtin().says(&package.replace('-', "_"), Types::DeviceUncountedCrates)
}

impl PackageAnalysis {
    /// Of a program as it is, with what the user says that calls mean.
    pub fn of(program: &Program, tables: &CallTable) -> Self {
        Self {
            facts: crate::analyse_with(program, tables),
            inlined: Vec::new(),
        }
    }

    /// Of a program in which calls of functions that only call a closure are written out, where sites are behind them.
    pub fn inlining(sources: &mut dyn Sources, tables: &CallTable) -> Self {
        let (facts, inlined) = closure_callers::analyse(sources, tables);
        Self { facts, inlined }
    }

    /// The calls that are written out.
    pub fn inlined(&self) -> &[InlinedCall] {
        &self.inlined
    }

    /// The `main` of the chosen program: the first crate's.
    pub fn main(&self) -> Option<FnId> {
        self.facts.items.main_of(0)
    }

    /// Whether the user has put `#[ckpt::main]` on `main`, or uses the library by hand.
    pub fn is_written_for_ckpt(&self, program: &Program) -> bool {
        let is_annotated = self
            .main()
            .is_some_and(|main| matches!(self.function(main).annotation, Annotation::Main(_)));
        let by_hand = ["Session", "session"];
        let uses = |name: &&str| program.files.iter().any(|file| file.names(&["ckpt", name]));
        is_annotated || by_hand.iter().any(uses)
    }

    /// Whether a run that begins in `main` passes messages.
    pub fn passes_messages(&self, main: FnId, ranks: Option<usize>) -> bool {
        self.facts.safe_points(main, ranks).is_some()
    }

    /// Chooses the sites for a run that begins in `main`, such that the stages of one function accept them.
    pub fn place(&self, main: FnId, options: &ChooseOptions) -> Placement {
        crate::place(&self.facts, main, options)
    }

    /// What a stage that sees the whole package has made, as text.
    pub fn stages(&self, stage: Artefact, placement: &Placement) -> String {
        match stage {
            Artefact::Items => self.facts.items.to_string(),
            Artefact::Calls => self.facts.graph.to_string(),
            Artefact::Cost => crate::cost::show(&self.facts.items, &self.facts.graph, &placement.costs),
            Artefact::Communications => {
                let points = self.main().and_then(|main| self.facts.safe_points(main, None));
                points.map_or_else(
                    || "the program does not use MPI\n".to_owned(),
                    |points| points.skeleton(),
                )
            }
            Artefact::Placement => placement.to_string(),
        }
    }

    /// What the stages of one function make of a function of the placement, with words of `#[ckpt(..)]` on the statements
    /// and parameters that begin at these places.
    ///
    /// # Errors
    /// Where the sites cannot be put in.
    pub fn instrumented(
        &self,
        candidate: &Candidate,
        words: &BTreeMap<Position, String>,
    ) -> Result<Rc<Answer>, Vec<Diagnostic>> {
        let file = self.function(candidate.function).place.file;
        let here = words.iter().filter(|(place, _)| place.0 == file);
        let here = here.map(|(place, word)| (place.1, word.clone())).collect();
        self.facts.asked.answer(&self.facts, candidate, here)
    }

    /// The statements that are re-executed instead of saving what they declare; with `recompute`, those too that are
    /// cheap.
    pub fn reexecuted(&self, program: &Program, placement: &Placement, recompute: bool) -> Reexecuted {
        let effects = recompute.then(|| Effects::of(program, &self.facts));
        reexecuted(&self.facts, placement, effects.as_ref())
    }

    /// The first place where a run draws random numbers that no two runs have alike, and by which path.
    pub fn unseeded(&self, program: &Program) -> Option<(Position, String)> {
        let drawn = unseeded(&self.facts, program, self.main()?)?;
        Some((drawn.place, drawn.what))
    }

    /// The first place where a site stands between blocks of a parallel iterator of which floats, added up by other blocks,
    /// come to other last digits.
    pub fn adds_in_blocks(&self, placement: &Placement) -> Option<Position> {
        let graph = &self.facts.graph;
        placement.sites.iter().find_map(|site| {
            let Holder::Loop(id) = site.site.holder else {
                return None;
            };
            let one = graph.one_loop(id);
            let is_of_parts = one.in_blocks == Some(InBlocks::OfParts);
            is_of_parts.then_some((one.place.file, one.place.bytes.start))
        })
    }

    /// Statics that no checkpoint can hold, and that the run changes.
    pub fn lost_statics(&self, program: &Program) -> Vec<RefusedStatic> {
        let main = self.main();
        main.map_or_else(Vec::new, |main| refused_statics(program, &self.facts, main))
    }

    /// The arrays that the program has on devices, and what is done with each.
    pub fn device_arrays(&self, program: &Program) -> Vec<DeviceArray> {
        let main = self.main();
        main.map_or_else(Vec::new, |main| device_arrays(program, &self.facts, main))
    }

    /// What a restart may do with the number of devices; nothing in a program that computes on none.
    pub fn device_number(&self, program: &Program) -> Option<DeviceNumber> {
        self.main()?;
        device_number(&self.facts.library, program)
    }

    /// The functions that say whether a state is plausible, as the user's tables name them.
    ///
    /// # Errors
    /// The first name that stands for none.
    pub fn detectors(&self, program: &Program) -> Result<Vec<Detector>, NoDetector> {
        detectors(&self.facts, program)
    }

    /// The package with the sites of the placement in it, and all that these and what is known ask for. With `spares` it is
    /// for rustc alone, and not to be read.
    pub fn edits(
        &self,
        program: &Program,
        mut known: Knowledge,
        placement: Placement,
        recompute: bool,
        spares: bool,
    ) -> Attempt {
        let facts = &self.facts;
        list_lent_objects(program, facts, &placement, &mut known.decisions);
        let reexecuted = match known.saves_all {
            true => Reexecuted::new(),
            false => self.reexecuted(program, &placement, recompute),
        };
        let mut decisions = known.decisions.with_reexecuted(&reexecuted);
        // What is wrong with them has been said.
        decisions.detectors = attributes(&self.detectors(program).unwrap_or_default());
        let spares = spares.then(|| Spares::of(facts, &placement));
        let mut functions = function_marks(facts, &placement, spares.as_ref());
        if self.device_number(program) == Some(DeviceNumber::Any) {
            on_any_devices(&mut functions);
        }
        let sites = site_marks(&placement);
        let mut edits: Vec<Edit> = program.waited.values().flatten().cloned().collect();
        edits.extend(crate::edits::edits(program, &functions, &sites, &decisions));
        if let Some(main) = self.main() {
            // A static that is put back may hold a function.
            edits.extend(function_edits(program, facts, main, &decisions.unnamed_functions));
            edits.extend(late_edits(program, facts, main, decisions.objects.keys()));
            edits.extend(global_edits(program, facts, main).edits);
        }
        edits.extend(destructor_edits(facts, program, &decisions.derives));
        edits.extend(thread_edits(program, &facts.items, &facts.library));
        edits.extend(replacing_edits(
            &facts.library,
            program,
            decisions.channels == Some(true),
        ));
        edits.extend(number_edits(
            &facts.library,
            program,
            &self.device_arrays(program),
        ));
        edits.extend(device_edits(&facts.library, program));
        let bytes = functions.iter().map(|mark| (mark.file, mark.at..mark.end));
        edits.extend(place_edits(
            (&facts.library, program, &facts.items),
            &bytes.collect::<Vec<_>>(),
            &decisions.changing_places,
            &decisions.changing_handles,
        ));
        edits.extend(completed_edits(&facts.library, program, &facts.items));
        for &place in &decisions.refilled {
            edits.extend(refill::field_edits(&facts.library, program, place));
        }
        edits.extend(outlined_kernels::edits(
            program,
            facts,
            &placement,
            spares.is_some(),
        ));
        edits.extend(spares.iter().flat_map(|spares| spares.edits(program, facts)));
        for edit in lent_edits(program, facts, &placement, &decisions.refilled) {
            // What is lent may be saved as well, by the same bound.
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        }
        Attempt {
            edited: edited(program, edits),
            known,
            placement,
            reexecuted,
        }
    }

    /// What follows from what rustc says of an attempt. `offers_serde`: whether crates that the program depends on have
    /// serde behind a feature that is off.
    pub fn learn(
        &self,
        program: &Program,
        attempt: &Attempt,
        findings: &[Finding],
        offers_serde: bool,
    ) -> Lesson {
        let tried = (&attempt.known, &attempt.placement, &attempt.reexecuted);
        learn(program, &self.facts, tried, findings, offers_serde)
    }

    /// What still holds of what was decided about earlier sources.
    pub fn recall(
        &self,
        program: &Program,
        record: &Record,
        main: FnId,
        ranks: Option<usize>,
    ) -> Option<Knowledge> {
        recall(record, program, &self.facts, main, ranks)
    }

    /// With how many threads a restart may come to each site of the placement; nothing in a program without threads.
    pub fn team_sizes(&self, program: &Program, placement: &Placement) -> Vec<Option<SiteThreads>> {
        match program.speaks_of_threads() {
            true => team_sizes(&self.facts, placement).into_iter().map(Some).collect(),
            false => vec![None; placement.sites.len()],
        }
    }

    /// A function.
    pub fn function(&self, id: FnId) -> &Function {
        self.facts.items.function(id)
    }

    /// A call.
    pub fn call(&self, id: CallId) -> &Call {
        self.facts.graph.call(id)
    }

    /// The functions that a function calls.
    pub fn called_by(&self, function: FnId) -> BTreeSet<FnId> {
        let calls = self.facts.graph.calls.iter();
        let own = calls.filter(|call| call.caller == function);
        own.flat_map(|call| call.callees.iter().copied()).collect()
    }

    /// All loops.
    pub fn loops(&self) -> &[Loop] {
        &self.facts.graph.loops
    }

    /// How many bytes variables take, as far as the source tells.
    pub fn bytes(&self) -> Bytes<'_> {
        Bytes::of(&self.facts)
    }

    /// The counters for an instrumented run that begins in `main`.
    pub fn counters(&self, program: &Program, main: FnId) -> Counters {
        counters(program, &self.facts, &self.facts.costs(main), main)
    }

    /// What is counted: whether it is a loop, the function, and the byte where the loop or the function's body begins.
    pub fn counted(&self, counter: Counter) -> (bool, &Function, usize) {
        match counter {
            Counter::Function(id) => {
                let function = self.function(id);
                (false, function, function.body_at)
            }
            Counter::Loop(id) => {
                let one = self.facts.graph.one_loop(id);
                (true, self.function(one.function), one.place.bytes.start)
            }
        }
    }

    /// Takes what the counters of a run have seen, of so many nanoseconds where that of `main` has seen nothing.
    pub fn measured_by(&mut self, seen: &dyn Fn(&Self, Counter) -> Option<Seen>, nanos: f64) {
        let functions = (0..self.facts.items.functions.len()).map(|index| Counter::Function(FnId(index)));
        let functions: Vec<_> = functions.map(|counter| seen(self, counter)).collect();
        let loops = self.loops().iter().map(|one| seen(self, Counter::Loop(one.id)));
        let loops = loops.collect();
        let whole = self.main().and_then(|main| functions.get(main.0)?.as_ref());
        let whole = whole.map(|seen| seen.nanos).filter(|nanos| *nanos > 0.0);
        self.facts.measured_by(&Measured {
            functions,
            loops,
            nanos: whole.unwrap_or(nanos),
        });
    }

    /// The estimates that measured costs stand for.
    pub fn estimated(&self) -> Option<&Costs> {
        self.facts.estimated()
    }
}

/// What stands at a place.
pub fn at(program: &Program, place: Position) -> Option<Found> {
    locate(program, place.0, place.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_sessions_of_its_own_is_known_by_its_code() {
        for (text, is_one) in [
            ("use ckpt::{Checkpoint, Session}; fn main() {}", true),
            ("fn main() { let session = ckpt::Session::open(); }", true),
            ("#[ckpt::main] fn main() {}", true),
            ("/// Not `ckpt::Session`.\nfn main() {}", false),
        ] {
            let program = Program::of_main(text);
            let analysis = PackageAnalysis::of(&program, &CallTable::default());
            assert_eq!(analysis.is_written_for_ckpt(&program), is_one, "{text}");
        }
    }
}
