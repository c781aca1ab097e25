//! What a restart would make again from state that is no variable which changes.

use super::effects::may_be_reexecuted;
use super::{placed, sites};

/// A program with a law that no checkpoint holds, made in `main` by `init`, among these items.
fn law(items: &str, before: &str, init: &str) -> bool {
    let text = format!(
        "{items}
         struct Law {{ id: u64, f: Box<dyn Fn(f64) -> f64> }}
         fn with(id: u64) -> Law {{ Law {{ id, f: Box::new(move |x| x + id as f64) }} }}
         fn main() {{ {before} let class = {init}; drop(class); }}"
    );
    may_be_reexecuted(&text)
}

#[test]
fn a_static_counts_by_whatever_name() {
    let counter = "static NEXT: AtomicU64 = AtomicU64::new(0);";
    let renamed = "mod state { pub static COUNT: AtomicU64 = AtomicU64::new(0); } use state::COUNT as IDS;";
    let of_macro = "static NEXT: AtomicU64 = AtomicU64::new(0); macro_rules! id { () => { NEXT.fetch_add(1, Relaxed) } }";
    assert!(law(counter, "", "with(1)"));
    assert!(!law(counter, "", "with(NEXT.fetch_add(1, Relaxed))"));
    assert!(!law(renamed, "", "with(IDS.fetch_add(1, Relaxed))"));
    assert!(!law(of_macro, "", "with(id!())"));
    let again = "mod ids { pub static NEXT: AtomicU64 = AtomicU64::new(0); } pub use ids::{NEXT as SERIAL};";
    assert!(!law(again, "", "with(SERIAL.load(Relaxed))"));
}

#[test]
fn functions_that_are_called_without_their_names_count() {
    let with = |trait_impl: &str, before: &str, init: &str| {
        let items = format!("static NEXT: AtomicU64 = AtomicU64::new(0); struct Id(u64); {trait_impl}");
        law(&items, before, init)
    };
    let default = "impl Default for Id { fn default() -> Id { Id(NEXT.fetch_add(1, Relaxed)) } }
         #[derive(Default)] struct Many { id: Id, f: Option<Box<dyn Fn()>> }";
    assert!(!with(default, "", "Many::default()"));
    let parse = "impl FromStr for Law { fn from_str(s: &str) -> Result<Law, ()> { Ok(with(NEXT.fetch_add(1, Relaxed))) } }";
    assert!(!with(parse, "", "\"1.1\".parse::<Law>().unwrap()"));
    let shown = "impl Display for Id { fn fmt(&self, f: &mut Formatter) -> Result { write!(f, \"{}\", NEXT.fetch_add(1, Relaxed)) } }";
    assert!(!with(
        shown,
        "let label = Id(1);",
        "with(label.to_string().len() as u64)"
    ));
    assert!(with(shown, "let label = Id(1);", "with(7)"));
}

#[test]
fn cells_count_that_a_statement_is_lent() {
    let ids = "struct Ids(Cell<u64>); impl Ids { fn law(&self) -> Law { let id = self.0.get(); self.0.set(id + 1); with(id) } fn size(&self) -> u64 { 3 } }";
    assert!(!law(ids, "let ids = Ids(Cell::new(0));", "ids.law()"));
    assert!(law(ids, "let ids = Ids(Cell::new(0));", "with(ids.size())"));
    let source = "trait Source { fn next(&self) -> u64; } struct Own(RefCell<u64>); impl Source for Own { fn next(&self) -> u64 { *self.0.borrow_mut() += 1; *self.0.borrow() } }
         fn drawn(source: &dyn Source) -> Law { with(source.next()) }";
    assert!(!law(
        source,
        "let source: Box<dyn Source> = Box::new(Own(RefCell::new(1)));",
        "drawn(&*source)"
    ));
    assert!(!law(
        "",
        "let next = Cell::new(1); let fresh = || { let n = next.get(); next.set(n + 1); n };",
        "with(fresh())"
    ));
    assert!(!law(
        "struct Config { gain: Cell<u64> }",
        "let config = Config { gain: Cell::new(1) };",
        "with(config.gain.get())"
    ));
    // Nothing changes behind these.
    assert!(law(
        "struct Config { gain: NonZeroU64 }",
        "let config = Config { gain: NonZeroU64::MIN };",
        "with(config.gain.get())"
    ));
}

#[test]
fn a_file_counts_that_the_program_may_write() {
    let read = "fn rule(path: &str) -> Law { with(std::fs::read(path).unwrap().len() as u64) }";
    let opened = "fn rule(path: &str) -> Law { with(BufReader::new(File::open(path).unwrap()).lines().count() as u64) }";
    for rule in [read, opened] {
        assert!(law(rule, "", "rule(\"gain.txt\")"));
        let writes = format!("{rule} fn note() {{ std::fs::write(\"gain.txt\", \"1\").unwrap(); }}");
        assert!(!law(&writes, "", "rule(\"gain.txt\")"));
    }
    let other = "fn rule() -> Law { with(std::fs::read(\"gain.txt\").unwrap().len() as u64) } fn note() { std::fs::write(\"out.txt\", \"1\").unwrap(); }";
    assert!(law(other, "", "rule()"));
}

#[test]
fn exclusive_references_count_that_are_not_declared_so() {
    let draws = "struct Lcg(u64); impl Lcg { fn draw(&mut self) -> u64 { self.0 += 1; self.0 } fn size(&self) -> u64 { 3 } }
         struct Model { rng: Lcg, x: f64 } fn drawn(rng: &mut Lcg) -> Law { with(rng.draw()) } fn sized(rng: &Lcg) -> Law { with(rng.size()) }";
    let within = |body: &str| {
        may_be_reexecuted(&format!(
            "{draws} struct Law {{ id: u64, f: Box<dyn Fn(f64) -> f64> }}
             fn with(id: u64) -> Law {{ Law {{ id, f: Box::new(move |x| x + id as f64) }} }}
             {body}"
        ))
    };
    assert!(!within(
        "impl Model { fn run(&mut self) { let Model { rng, x } = self; let class = with(rng.draw()); } }"
    ));
    assert!(!within(
        "fn run(list: &mut Vec<Lcg>) { if let Some(g) = list.get_mut(1) { let class = with(g.draw()); } }"
    ));
    assert!(!within("fn run(rng: &mut Lcg) { let class = drawn(rng); }"));
    assert!(within("fn run(rng: &mut Lcg) { let class = sized(rng); }"));
}

/// The sites of a program whose `main` has these statements in front of its loop and in it.
fn placed_with(items: &str, before: &str, inside: &str) -> Vec<String> {
    let text = format!(
        "{items} fn main() {{ let data: Vec<f64> = (0..500).map(|i| i as f64).collect(); {before}
         let mut x = 0.3; for k in 0..3000 {{ for i in 0..400 {{ x += data[i] * x; }} {inside} }} println!(\"{{x}}\"); }}"
    );
    let (_, placement) = placed(&[("main.rs", &text)]);
    sites(&placement).into_iter().map(str::to_owned).collect()
}

#[test]
fn what_borrows_is_not_made_again_from_what_may_have_changed() {
    let taken = ["for k in 0..3000"];
    let cell = "let level = Cell::new(0.5);";
    let big = |of: &str| format!("{of} let big: Vec<&f64> = data.iter().filter(|x| **x > LEVEL).collect();");
    let held = "x += *big[0];";
    assert_eq!(
        placed_with("", &big("let level = 0.5;").replace("LEVEL", "level"), held),
        taken
    );
    assert_ne!(
        placed_with("", &big(cell).replace("LEVEL", "level.get()"), held),
        taken
    );
    assert_ne!(
        placed_with(
            "",
            "let cursor = Cell::new(3); let row = &data[cursor.get()..];",
            "x += row[0]; cursor.set(4);"
        ),
        taken
    );
    let hashed = "let map: HashMap<u64, f64> = made(); let names: Vec<&u64> = map.keys().collect();";
    assert_ne!(placed_with("", hashed, "x += *names[0] as f64;"), taken);
    let sorted = hashed.replace(
        "map.keys().collect()",
        "{ let mut all: Vec<&u64> = map.keys().collect(); all.sort(); all }",
    );
    assert_eq!(placed_with("", &sorted, "x += *names[0] as f64;"), taken);
    let text = format!(
        "fn main() {{ let data: Vec<f64> = made(); {} let mut x = 0.3; for k in 0..3000 {{ for i in 0..400 {{ x += data[i]; }} x += *big[0]; }} }}",
        big(cell).replace("LEVEL", "level.get()")
    );
    let (_, placement) = placed(&[("main.rs", &text)]);
    let causes = placement.rejected.iter().flat_map(|one| &one.reasons);
    let words: Vec<String> = causes.map(|one| one.cause.words().what.to_string()).collect();
    let said =
        "E1054: `big` is made from what changes behind a shared reference, and is still in use at a site";
    assert!(words.iter().any(|what| what == said), "{words:?}");
    // A guard shows what is there.
    let guard = "let shared = RefCell::new(vec![1.0]); let held = shared.borrow();";
    assert_eq!(placed_with("", guard, "x += held[0];"), taken);
}

#[test]
fn what_a_loop_goes_over_may_have_been_made_from_what_changes() {
    let run = |begins: &str, of: &str| {
        let text = format!(
            "static ID: AtomicUsize = AtomicUsize::new(0);
             struct Item {{ id: usize }}
             impl FromStr for Item {{ type Err = (); fn from_str(_: &str) -> Result<Item, ()> {{ Ok(Item {{ id: ID.fetch_add(1, Relaxed) }}) }} }}
             struct Bag {{ all: Vec<Item> }}
             {of}
             fn main() {{
                 let bag = Bag {{ all: args().map(|one| one.parse().unwrap()).collect() }};
                 let list: Vec<usize> = (0..90000).map(|_| ID.fetch_add(1, Relaxed)).collect();
                 let mut x = 0.3;
                 for item in {begins} {{ for i in 0..4000 {{ x = x * 1.5 + i as f64; }} x += item.value(); }}
                 println!(\"{{x}}\");
             }}"
        );
        let (_, placement) = placed(&[("main.rs", &text)]);
        Vec::from_iter(sites(&placement).into_iter().map(str::to_owned))
    };
    for begins in ["&list", "list.iter()", "&bag.all", "bag.all.iter()"] {
        assert_eq!(run(begins, ""), [format!("for item in {begins}")]);
    }
    let own = "impl<'a> IntoIterator for &'a Bag { type Item = usize; type IntoIter = Ids; fn into_iter(self) -> Ids { Ids(ID.load(Relaxed)) } }";
    assert_ne!(run("&bag", own), ["for item in &bag"]);
}

#[test]
fn what_is_changed_by_others_or_in_a_closure_changes() {
    let run = |inside: &str| {
        let text = format!(
            "fn trim(n: &mut usize) {{ *n -= 1; }} trait Lower {{ fn lower(&mut self); }} impl Lower for usize {{ fn lower(&mut self) {{ *self -= 1; }} }}
             fn run(data: &[f64], n: &mut usize) -> f64 {{
                 let view = &data[..*n];
                 let mut x = 0.3; for k in 0..3000 {{ for i in 0..400 {{ x += data[i] * x; }} x += view[0]; {inside} }} x
             }}
             fn main() {{ let data = vec![1.0; 500]; let mut n = 400; println!(\"{{}}\", run(&data, &mut n)); }}"
        );
        let (_, placement) = placed(&[("main.rs", &text)]);
        Vec::from_iter(sites(&placement).into_iter().map(str::to_owned))
    };
    let taken = ["for k in 0..3000"];
    assert_eq!(run(""), taken);
    for inside in ["trim(n);", "n.lower();", "let m = &mut *n; *m -= 1;"] {
        assert_ne!(run(inside), taken, "{inside}");
    }
}
