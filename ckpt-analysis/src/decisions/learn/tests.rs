use super::*;
use crate::source::{FileId, SourceFile};
use std::collections::BTreeSet;

const TEXT: &str = "struct Rule { f: f64 }\nfn main() { let a = Rule { f: 1.0 }; let (b, c) = open(); }\nfn g<T>(x: Cell<T>) { x.apply(); }\n";

fn program() -> Program {
    program_of(TEXT)
}

fn program_of(text: &str) -> Program {
    let file = SourceFile {
        path: "/main.rs".into(),
        text: text.into(),
        ast: syn::parse_file(text).expect("the text is Rust"),
        base: 0,
    };
    Program {
        files: vec![file],
        ..Program::default()
    }
}

fn not_checkpoint(type_name: &str, at: &str) -> Finding {
    finding(FindingKind::NotCheckpoint, type_name, at)
}

fn finding(kind: FindingKind, type_name: &str, at: &str) -> Finding {
    Finding {
        kind,
        type_name: type_name.into(),
        definition: None,
        places: vec![(FileId(0), TEXT.find(at).expect("the place is there"))],
        is_about: Vec::new(),
        said: Said::default(),
    }
}

fn decider<'p>(program: &'p Program, items: &'p Items, types: &'p Types) -> Decider<'p> {
    Decider {
        names_functions: &|_| false,
        library: Library::builtin(),
        program,
        items,
        types,
        leaves_a_trace_at: &|_| None,
        looks_at: &|_| None,
        can_be_made_again: &|_| false,
        changes_at: &|_| None,
        told_more_at: &|_| None,
        grows_at: &|_| None,
        making_leaves_a_trace: &|_| None,
        repeatable: &|_, _| true,
        moved_again: &|_, _| false,
        changed_input: &|_| None,
        renewable: &|_| true,
        rebuildable: &|_, _| true,
        on_device: &|_| false,
        device_crates: &|_| Vec::new(),
        hidden_on_device: &|_| None,
        under_way_on_device: &|_| false,
        saved_from_device: &|_| false,
        untyped_on_device: &|_| false,
        made_on_device: &|_| false,
        filled_on_device: &|_| false,
        gathered_on_device: &|_| false,
        changing_places_with: &|_| BTreeSet::new(),
        file_written: &|| None,
        keeps_arguments: &|_| false,
        passed_on_device: &|_| false,
        handles_on_device: &|_| false,
        replayable: &|_| false,
        is_elsewhere: &|_| false,
        is_instrumented: &|_| true,
        offers_serde: false,
        decisions: Decisions::default(),
    }
}

#[test]
fn what_only_shows_something_is_made_anew() {
    let program = program();
    let (types, items) = (Types::of(Library::builtin(), &program), Items::default());
    let reexecuted = |type_name: &str, may: bool| {
        let mut decider = decider(&program, &items, &types);
        let renewable = |_: Position| may;
        (decider.repeatable, decider.renewable) = (&|_, _| false, &renewable);
        decider.decide(&[not_checkpoint(type_name, "a = Rule")]);
        decider
            .decisions
            .variables
            .values()
            .any(|word| *word == "reexecute")
    };
    assert!(reexecuted("ProgressBar", true));
    assert!(reexecuted("indicatif::ProgressBar", true));
    assert!(!reexecuted("indicatif::ProgressBar", false));
    assert!(!reexecuted("Regex", true));
}

#[test]
fn advice_for_a_type_is_not_that_for_another_of_its_name() {
    let program = program();
    let (types, items) = (Types::of(Library::builtin(), &program), Items::default());
    let decider = decider(&program, &items, &types);
    let of = |name: &str| advice(&decider, name);
    assert!(matches!(of("csv::Writer<File>"), TypeAdvice::TableWriter));
    assert!(matches!(of("Writer<&mut BufWriter<File>>"), TypeAdvice::Borrows));
    assert!(matches!(of("png::Writer<File>"), TypeAdvice::Other));
}

#[test]
fn channels_are_exchanged_once() {
    let program = program();
    let (types, items) = (Types::of(Library::builtin(), &program), Items::default());
    let mut decider = decider(&program, &items, &types);
    let both = ["std::sync::mpsc::Sender<f64>", "std::sync::mpsc::Receiver<f64>"];
    let both = both.map(|name| not_checkpoint(name, "main"));
    let round = decider.decide(&both);
    assert!(round.changed && round.unsolved.is_empty() && round.given_up.is_empty());
    assert_eq!(decider.decisions.channels, Some(true));
    // One that another crate has made stays as it is: the site is given up.
    let round = decider.decide(&both);
    assert!(round.unsolved.is_empty());
    assert_eq!(round.given_up.len(), 2);
    // So do all where another crate is given one.
    let mut given = finding(FindingKind::Other, "", "main");
    given.is_about = vec![Exchanged::Channels];
    assert!(decider.decide(&[given]).changed);
    assert_eq!(decider.decisions.channels, Some(false));
    assert_eq!(decider.decide(&both).given_up.len(), 2);
}

#[test]
fn streams_are_exchanged_wherever_rustc_names_them() {
    let text =
        "use std::io::Write; fn main() { let mut w: Box<dyn Write> = open(); let (a, b) = work(&mut w); }";
    let program = program_of(text);
    let (types, items) = (Types::of(Library::builtin(), &program), Items::default());
    let mut decider = decider(&program, &items, &types);
    let at = |place: &str| Finding {
        places: vec![(FileId(0), text.find(place).expect("the place is there"))],
        ..not_checkpoint("dyn std::io::Write", "main")
    };
    let both = [at("mut w"), at("&mut w")];
    let round = decider.decide(&both);
    assert!(round.changed && round.given_up.is_empty(), "{round:?}");
    assert!(decider.decisions.variables.is_empty());
    assert!(!decider.decisions.objects.is_empty());
}

#[test]
fn the_types_that_a_static_holds_are_derived_once() {
    let program = program();
    let (types, items) = (Types::of(Library::builtin(), &program), Items::default());
    let mut decider = decider(&program, &items, &types);
    let one = [finding(
        FindingKind::NotGlobal,
        "&LocalKey<RefCell<[a::Rule; 64]>>",
        "main",
    )];
    assert!(decider.decide(&one).unsolved.is_empty());
    assert_eq!(decider.decisions.derives.len(), 1);
    assert_eq!(
        decider.decide(&one).unsolved,
        [0],
        "what did not help is not tried again"
    );
}

/// A method that is there only for types with a bound is named by rustc with its type, be that a parameter or not.
#[test]
fn a_bound_is_put_on_a_parameter_and_derived_for_a_type_and_then_given_up() {
    let program = program();
    let (types, items) = (Types::of(Library::builtin(), &program), Items::default());
    let mut decider = decider(&program, &items, &types);
    let of_type = [finding(FindingKind::MissingBound, "Rule", "main")];
    assert!(decider.decide(&of_type).unsolved.is_empty());
    assert_eq!(
        (decider.decisions.derives.len(), decider.decisions.bounds.len()),
        (1, 0)
    );
    let of_parameter = [finding(FindingKind::MissingBound, "T", "x.apply")];
    let round = decider.decide(&of_parameter);
    assert!(
        round.given_up.is_empty() && round.unsolved.is_empty(),
        "{round:?}"
    );
    assert_eq!(decider.decisions.bounds.len(), 1);
    let round = decider.decide(&of_parameter);
    assert_eq!(round.given_up.len(), 1, "what did not help is not tried again");
}

/// One cause shows in several errors: each decision is made once, and rustc is asked before it is taken back.
#[test]
fn two_findings_with_one_cause_lead_to_one_decision() {
    let program = program();
    let (types, items) = (Types::of(Library::builtin(), &program), Items::default());
    let mut decider = decider(&program, &items, &types);
    let findings = [
        not_checkpoint("Rule", "a ="),
        not_checkpoint("Rule", "main"),
        not_checkpoint("std::fs::File", "b,"),
        not_checkpoint("std::fs::File", "c)"),
    ];
    let first = decider.decide(&findings);
    assert!(
        first.changed && first.given_up.is_empty() && first.unsolved.is_empty(),
        "{first:?}"
    );
    assert_eq!(decider.decisions.derives.len(), 1);
    assert_eq!(decider.decisions.variables.len(), 1);
    let second = decider.decide(&findings[2..]);
    assert_eq!(second.given_up.len(), 2, "what did not help is not tried again");
}

#[test]
fn handles_that_change_places_do_so_again() {
    let program = program();
    let (types, items) = (Types::of(Library::builtin(), &program), Items::default());
    let at = |text: &str| (FileId(0), TEXT.find(text).expect("the place is there"));
    let both = BTreeSet::from([at("let a"), at("let (b, c)")]);
    let mut decider = decider(&program, &items, &types);
    let (with, changes) = (both.clone(), |_: Position| true);
    let changing = move |_: Position| with.clone();
    decider.repeatable = &|_, _| false;
    decider.handles_on_device = &|_| true;
    decider.filled_on_device = &changes;
    decider.changing_places_with = &changing;
    assert!(
        decider
            .decide(&[not_checkpoint("wgpu::BindGroup", "a = Rule")])
            .unsolved
            .is_empty()
    );
    assert_eq!(decider.decisions.changing_handles, both);
    assert!(decider.decisions.changing_places.is_empty());
    let words: Vec<&str> = decider.decisions.variables.values().copied().collect();
    assert_eq!(words, ["refill", "parts"]);
    // A variable gets the arguments back that its kernel had.
    decider.decisions = Decisions::default();
    decider.keeps_arguments = &|_| true;
    decider.decide(&[not_checkpoint("ocl::Kernel", "a = Rule")]);
    assert!(decider.decisions.changing_handles.is_empty());
    assert!(!decider.decisions.variables.values().any(|word| *word == "refill"));
}

/// A caller passes handles again as it made them.
#[test]
fn handles_that_a_function_exchanges_are_not_passed_again() {
    let program = program();
    let (types, items) = (Types::of(Library::builtin(), &program), Items::default());
    for stays in [false, true] {
        let mut decider = decider(&program, &items, &types);
        let stays_the_same = move |_: Position| stays;
        decider.handles_on_device = &|_| true;
        decider.passed_on_device = &stays_the_same;
        decider.decide(&[not_checkpoint("wgpu::BindGroup", "x: Cell")]);
        let words: Vec<&str> = decider.decisions.parameters.values().copied().collect();
        assert_eq!(words.contains(&"reexecute"), stays, "{words:?}");
    }
}

/// A site of the user stays where it is, so that what ckpt refuses there is the answer.
#[test]
fn what_ckpt_refuses_is_no_error_of_rustc() {
    let found = |kinds: &[FindingKind]| {
        let all: Vec<Finding> = kinds.iter().map(|kind| finding(*kind, "", "main")).collect();
        ways_out(&all.iter().collect::<Vec<_>>())
    };
    use FindingKind::{NotCheckpoint, Other, Refusal};
    assert_eq!(found(&[Refusal]), WaysOut::AsRefused);
    assert_eq!(found(&[Other, Refusal]), WaysOut::AsRefused);
    assert_eq!(found(&[Other]), WaysOut::AsRustcSays);
    assert_eq!(found(&[NotCheckpoint, Refusal]), WaysOut::Attributes);
}

/// What ckpt has decided itself, and what stands in the way later, is none of the user's business.
#[test]
fn a_variable_that_is_needed_after_all_is_not_said_to_be_used_elsewhere() {
    let program = program();
    let (types, items) = (Types::of(Library::builtin(), &program), Items::default());
    let mut decider = decider(&program, &items, &types);
    (decider.is_elsewhere, decider.repeatable) = (&|_| true, &|_, _| false);
    let unsaved = [not_checkpoint("ocl::Device", "a = Rule")];
    decider.decide(&unsaved);
    let words = |decider: &Decider<'_>| decider.decisions.variables.values().copied().collect::<Vec<_>>();
    assert_eq!(words(&decider), ["elsewhere"]);
    let refused = [finding(FindingKind::Refusal, "", "a = Rule")];
    let round = decider.decide(&refused);
    assert!(round.changed && round.given_up.is_empty(), "{round:?}");
    assert!(words(&decider).is_empty());
    decider.decide(&unsaved);
    assert!(!words(&decider).contains(&"elsewhere"), "it is not tried again");
    assert_eq!(decider.decide(&refused).given_up.len(), 1);
}

#[test]
fn what_is_used_up_by_what_runs_again_is_made_again() {
    let program = program();
    let (types, items) = (Types::of(Library::builtin(), &program), Items::default());
    for may in [false, true] {
        let mut decider = decider(&program, &items, &types);
        let moved_again = move |_: Position, _: &BTreeSet<Position>| may;
        decider.moved_again = &moved_again;
        let moved = [finding(FindingKind::Moved, "", "a = Rule")];
        let round = decider.decide(&moved);
        assert_eq!(round.given_up.is_empty(), may, "{round:?}");
        assert_eq!(decider.decisions.variables.is_empty(), !may);
        assert_eq!(decider.decide(&moved).given_up.len(), 1);
    }
    // That it is saved, for its destructor, was tried first.
    let mut decider = decider(&program, &items, &types);
    decider.moved_again = &|_, _| true;
    decider.decide(&[finding(
        FindingKind::Destructor,
        "opencl3::context::Context",
        "a = Rule",
    )]);
    let words = |decider: &Decider<'_>| decider.decisions.variables.values().copied().collect::<Vec<_>>();
    assert_eq!(words(&decider), ["save"]);
    let refused = [finding(FindingKind::Refusal, "", "a = Rule")];
    assert!(decider.decide(&refused).given_up.is_empty());
    assert_eq!(words(&decider), ["reexecute"]);
}
