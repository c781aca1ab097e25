//! Which programs draw random numbers that no two runs have alike.

use super::{analysed, program};
use crate::decisions::chance::unseeded;

fn drawn(text: &str) -> Option<(String, usize)> {
    let files = [("main.rs", text)];
    let (program, analysis) = (program(&files), analysed(&files));
    let main = analysis.items.main_of(0).expect("a main");
    let found = unseeded(&analysis, &program, main)?;
    let line = text[..found.place.1].matches('\n').count() + 1;
    Some((found.what, line))
}

#[test]
fn a_program_that_draws_without_a_seed_is_known() {
    for (call, what) in [
        ("let mut rng = rand::thread_rng();", "rand::thread_rng"),
        ("let mut rng = thread_rng();", "thread_rng"),
        ("let mut rng = rand::rng();", "rand::rng"),
        ("let x: f64 = random();", "random"),
        ("let x = rand::random::<f64>();", "rand::random"),
        ("println!(\"{}\", rand::random::<f64>());", "rand::random"),
        ("let x = fastrand::f64();", "fastrand::f64"),
        ("let rng = fastrand::Rng::new();", "fastrand::Rng::new"),
        ("let rng = SmallRng::from_entropy();", "SmallRng::from_entropy"),
        ("let rng = StdRng::from_rng(&mut rand::rng());", "rand::rng"),
        (
            "getrandom::getrandom(&mut seed).unwrap();",
            "getrandom::getrandom",
        ),
        (
            "let seed = RandomState::new().build_hasher().finish();",
            "RandomState::new",
        ),
        (
            "let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;",
            "UNIX_EPOCH",
        ),
        (
            "let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();",
            "std::time::UNIX_EPOCH",
        ),
    ] {
        let text = format!("fn step() {{\n    {call}\n}}\nfn main() {{ for _ in 0..9 {{ step(); }} }}\n");
        assert_eq!(drawn(&text), Some((what.to_owned(), 2)), "{call}");
    }
}

#[test]
fn one_that_seeds_its_numbers_or_makes_them_itself_is_none() {
    for text in [
        "fn main() { let mut rng = StdRng::seed_from_u64(3); let x: f64 = rng.random(); }",
        "fn random(seed: &mut u64) -> u64 { *seed *= 3; *seed } fn main() { let mut s = 1; random(&mut s); }",
        "fn main() { let mut s = 1; let mut rng = || { s += 1; s }; println!(\"{}\", rng()); }",
        "fn main() { let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs(); }",
        "fn main() { let took = start.elapsed().as_nanos(); }",
        "fn unused() { let x: f64 = rand::random(); } fn main() { let x = 1; }",
        "fn main() { fastrand::seed(7); for _ in 0..9 { let x = fastrand::f64(); } }",
        "fn main() { let mut rng = fastrand::Rng::with_seed(7); let x = rng.f64(); }",
        "mod dice { pub fn random() -> u64 { 4 } } fn main() { dice::random(); }",
    ] {
        assert_eq!(drawn(text), None, "{text}");
    }
}
