//! Statics that hide in functions, and those that no checkpoint can hold.

use super::{analysed, program};
use crate::Edited;
use crate::decisions::globals::{global_edits, refused_statics};

fn edited(text: &str) -> String {
    let files = [("main.rs", text)];
    let (program, analysis) = (program(&files), analysed(&files));
    let main = analysis.items.main_of(0).expect("a main");
    let edits = global_edits(&program, &analysis, main).edits;
    let new = Edited::new(text, &edits).text;
    syn::parse_file(&new).unwrap_or_else(|error| panic!("{error}\n{new}"));
    new
}

fn refused(text: &str) -> Vec<String> {
    let files = [("main.rs", text)];
    let (program, analysis) = (program(&files), analysed(&files));
    let main = analysis.items.main_of(0).expect("a main");
    let all = refused_statics(&program, &analysis, main);
    all.into_iter()
        .map(|one| one.lost.words().what.to_string())
        .collect()
}

#[test]
fn a_static_inside_a_function_moves_out_where_it_can_be_named() {
    let new = edited(
        "\
fn next() -> u64 {
    /// How many.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    COUNT.fetch_add(1, Relaxed)
}
struct Rng;
impl Rng {
    fn next(&self) -> u64 {
        thread_local! { static SEED: Cell<u64> = const { Cell::new(1) }; static NAME: u8 = 3; }
        SEED.with(|seed| seed.get())
    }
    fn other() { static COUNT: AtomicU64 = AtomicU64::new(0); static NAMES: [&str; 2] = [\"a\", \"b\"]; }
}
fn main() {
    next();
}
",
    );
    let expected = [
        "    use self::CKPT_NEXT_COUNT as COUNT;\n    COUNT.fetch_add(1, Relaxed)\n}\n\n/// How many.\n    static CKPT_NEXT_COUNT: AtomicU64",
        "ckpt::global(concat!(module_path!(), \"::next::COUNT\"), &CKPT_NEXT_COUNT);",
        "use self::CKPT_NEXT_NAME as NAME; use self::CKPT_NEXT_SEED as SEED;",
        "thread_local! { static CKPT_NEXT_SEED: Cell<u64> = const { Cell::new(1) }; static CKPT_NEXT_NAME",
        "&CKPT_OTHER_COUNT);",
        "static NAMES: [&str; 2] = [\"a\", \"b\"]; }",
    ];
    for part in expected {
        assert!(new.contains(part), "{part}\nis not in\n{new}");
    }
}

#[test]
fn two_functions_of_one_name_get_statics_of_two_names() {
    let new = edited(
        "struct A; struct B;
         impl A { fn step() { static N: AtomicU8 = AtomicU8::new(0); } }
         impl B { fn step() { static N: AtomicU8 = AtomicU8::new(0); } }
         fn main() {}",
    );
    for part in [
        "\"::step::N\"), &CKPT_STEP_N)",
        "\"::step::N#2\"), &CKPT_STEP_N_2)",
    ] {
        assert!(new.contains(part), "{new}");
    }
}

#[test]
fn what_a_function_imports_from_std_is_written_out() {
    let new = edited(
        "fn clock() -> f64 {
             use std::{sync::OnceLock, time as t};
             static ZERO: OnceLock<t::Instant> = OnceLock::new();
             ZERO.get_or_init(t::Instant::now).elapsed().as_secs_f64()
         }
         fn main() { clock(); }",
    );
    let moved =
        "static CKPT_CLOCK_ZERO: ::std::sync::OnceLock<::std::time::Instant> = ::std::sync::OnceLock::new();";
    assert!(new.contains(moved), "{new}");
    let own = "fn f() { use crate::a::Cache; static LAST: Mutex<Cache> = Mutex::new(Cache(0)); } fn main() { f(); }";
    assert_eq!(
        refused(own).len(),
        1,
        "a path of the program may mean something else outside"
    );
}

#[test]
fn a_static_that_leans_on_its_function_is_refused() {
    let text =
        "fn f() { struct Cache(u8); static LAST: Mutex<Cache> = Mutex::new(Cache(0)); } fn main() { f(); }";
    assert_eq!(
        refused(text),
        ["E1307: the static `LAST` is hidden in its function and leans on other items there"]
    );
}

#[test]
fn a_mutable_static_that_reachable_code_changes_is_refused() {
    let with = |body: &str| {
        format!(
            "static mut COUNT: u64 = 0; static mut TABLE: [u64; 3] = [1, 2, 3];
             fn bump() {{ unsafe {{ {body} }} }} fn idle() {{ unsafe {{ COUNT = 9; }} }}
             fn main() {{ for _ in 0..1000 {{ bump(); }} }}"
        )
    };
    let expected = ["E1306: `static mut COUNT` is changed by `bump`, and no checkpoint can hold it"];
    for body in [
        "COUNT += TABLE[0];",
        "let c = &mut COUNT; *c += 1;",
        "let c = std::ptr::addr_of_mut!(COUNT); *c += 1;",
        "let c = &raw mut COUNT; *c += 1;",
        "std::mem::swap(&mut COUNT, &mut 3);",
        "[COUNT, _] = [1, 2];",
        "(_, [COUNT, ..]) = (3, [1, 2, 3]);",
    ] {
        assert_eq!(refused(&with(body)), expected, "{body}");
    }
    assert!(refused(&with("println!(\"{}\", COUNT + TABLE[1].min(2));")).is_empty());
}

#[test]
fn structs_of_the_program_are_saved_field_by_field() {
    let new = edited(
        "\
use std::sync::Mutex as Lock;
type Counter = AtomicU64;
struct Stats<T> { name: &'static str, calls: Counter, last: T }
struct Pair(Stats<AtomicU64>, u8);
struct Fixed { size: usize }
static PAIR: LazyLock<Pair> = LazyLock::new(make);
static FIXED: Fixed = Fixed { size: 3 };
static LOCK: Lock<u8> = Lock::new(1);
fn main() { run(); }
",
    );
    for part in [
        "impl < T : ckpt :: Global > ckpt::Global for Stats < T >",
        "ckpt::Global::save(&self.calls, &mut to.field(NAMES, 0));",
        "impl  ckpt::Global for Pair",
        "ckpt::Global::restore(&self.0, from)",
        "Lately::new(&PAIR, |ckpt_ask| ckpt_ask(&CKPT_LATE_PAIR))).place() });",
        "\"::LOCK\"), &LOCK);",
    ] {
        assert!(new.contains(part), "{part}\nis not in\n{new}");
    }
    for part in ["FIXED\")", "for Fixed", "self.name", "self.1"] {
        assert!(!new.contains(part), "{part}\nis in\n{new}");
    }
}

#[test]
fn statics_that_a_macro_makes_are_refused() {
    let text = "\
macro_rules! counter { ($n:ident) => { static $n: AtomicU64 = AtomicU64::new(0); } }
macro_rules! named { ($n:ident) => { fn $n(_: &'static AtomicU64) {} } }
macro_rules! unused { () => { static N: AtomicU64 = AtomicU64::new(0); } }
counter!(MADE);
named!(shown);
fn main() { MADE.load(Relaxed); }
";
    assert_eq!(
        refused(text),
        ["E1313: the macro `counter!` makes a static that changes, and ckpt cannot name it"]
    );
}

#[test]
fn a_static_that_is_computed_late_notes_when_it_is() {
    let new = edited(
        "\
#[cfg(unix)]
static OUT: LazyLock<Mutex<File>> = LazyLock::new(|| Mutex::new(File::create(\"out\").unwrap()));
static MADE: LazyLock<Mutex<u64>> = LazyLock::new(make);
static PLAIN: LazyLock<Mutex<Vec<u64>>> = LazyLock::new(|| Mutex::new(vec![0; 4]));
thread_local! {
    static LOG: RefCell<File> = RefCell::new(open());
    static NONE: RefCell<Vec<u64>> = RefCell::new(Vec::new());
    static CONST: RefCell<u64> = const { RefCell::new(seed()) };
}
lazy_static! { static ref LATE: Mutex<u64> = Mutex::new(seed()); }
fn f() { static INNER: Lazy<Mutex<u64>> = Lazy::new(|| Mutex::new(seed())); }
fn main() { f(); }
",
    );
    for expected in [
        "LazyLock::new(|| { if let ::std::option::Option::Some(ckpt_coming) = CKPT_LATE_OUT.coming() { ckpt_coming } else { Mutex::new(File::create(\"out\").unwrap()) } });",
        " # [cfg (unix)] #[doc(hidden)] #[allow(non_upper_case_globals)] static CKPT_LATE_OUT: ckpt::__rt::Late = ckpt::__rt::Late::new();",
        "ckpt::__rt::Lately::new(&OUT, |ckpt_ask| ckpt_ask(&CKPT_LATE_OUT))",
        " = CKPT_LATE_MADE.coming() { ckpt_coming } else { (make)() } });",
        "ckpt::global(concat!(module_path!(), \"::PLAIN\"), &PLAIN);",
        " = CKPT_LATE_LOG.with(ckpt::__rt::Late::coming) { ckpt_coming } else { RefCell::new(open()) } };",
        "static CKPT_LATE_LOG: ckpt::__rt::Late = const { ckpt::__rt::Late::new() }; }",
        "\"::NONE\"), &NONE);",
        "\"::CONST\"), &CONST);",
        " = CKPT_LATE_LATE.coming() { ckpt_coming } else { Mutex::new(seed()) } };",
        "Lately::new(ckpt::__rt::reached(|| &*LATE), |ckpt_ask| ckpt_ask(&CKPT_LATE_LATE))",
        " = CKPT_LATE_CKPT_F_INNER.coming() { ckpt_coming } else { Mutex::new(seed()) } });",
        "static CKPT_LATE_CKPT_F_INNER: ckpt::__rt::Late",
    ] {
        assert!(new.contains(expected), "{expected}\n{new}");
    }
}

#[test]
fn a_generator_that_a_crate_keeps_is_saved_where_the_program_seeds_it() {
    let named = "ckpt::global(\"fastrand\", ckpt::Accessors::new(::fastrand::get_seed, ::fastrand::seed));";
    for text in [
        "fn main() { fastrand::seed(7); let x = fastrand::f64(); }",
        "use fastrand::{f64, seed}; fn main() { seed(7); let x = f64(); }",
        "mod draws { pub fn begin() { fastrand::seed(7); } } fn main() { draws::begin(); }",
    ] {
        assert!(edited(text).contains(named), "{text}");
    }
    for text in [
        "fn main() { let x = fastrand::f64(); }",
        "fn main() { let mut rng = fastrand::Rng::with_seed(7); let x = rng.f64(); }",
    ] {
        assert!(!edited(text).contains("ckpt::global"), "{text}");
    }
}

#[test]
fn a_generator_whose_state_nothing_gives_is_refused() {
    assert_eq!(
        refused("fn main() { quad_rand::srand(7); let x = quad_rand::gen_range(0.0, 1.0); }"),
        ["E1314: `quad_rand` keeps its generator of random numbers to itself, and no checkpoint can hold it"]
    );
    assert!(refused("fn main() { fastrand::seed(7); }").is_empty());
}
