//! With how many threads a restart may come to a site.

use super::placed;
use crate::placement::team_size::{SiteThreads, team_sizes};

/// The kinds of the sites, each with why, in the order of the text.
fn kinds(text: &str) -> Vec<(&'static str, String)> {
    let (analysis, placement) = placed(&[("main.rs", text)]);
    let all = team_sizes(&analysis, &placement).into_iter();
    all.map(|SiteThreads { size, why }| (size.word(), why)).collect()
}

fn one(text: &str) -> (&'static str, String) {
    let [one] = <[_; 1]>::try_from(kinds(text)).expect("one site");
    one
}

#[test]
fn between_regions_a_restart_may_have_any_number() {
    let (kind, why) = one("fn main() { let mut v = vec![0.0; 1000]; for turn in 0..1000 {
         std::thread::scope(|s| { for part in v.chunks_mut(100) { s.spawn(move || part.iter_mut().for_each(|x| *x += 1.0)); } });
         } println!(\"{v:?}\"); }");
    assert_eq!(kind, "free");
    assert!(why.contains("no thread of a region"), "{why}");
}

#[test]
fn a_region_with_the_site_keeps_its_threads() {
    let region = |body: &str, rest: &str| {
        format!(
            "fn main() {{ let n = std::env::args().count(); let mut v = vec![0.0f64; 1000];
             std::thread::scope(|s| {{
                 for part in v.chunks_mut(100) {{
                     s.spawn(move || {{ {body} }});
                 }}
             }});
             println!(\"{{v:?}}\"); }} {rest}"
        )
    };
    let turns = "for turn in 0..1000 { for x in part.iter_mut() { *x += turn as f64; } }";
    let (kind, why) = one(&region(turns, ""));
    assert_eq!(kind, "fixed");
    assert!(why.contains("line 4 in `main`"), "{why}");
    let called = format!("fn work(part: &mut [f64]) {{ {turns} }}");
    let (kind, why) = one(&region("work(part)", &called));
    assert_eq!(kind, "fixed");
    assert!(why.contains("line 4 in `main`"), "{why}");
}

#[test]
fn of_a_team_the_plan_says_what_ties_it() {
    let team = |own: &str| {
        format!(
            "#[ckpt::main] fn main() {{ let sum = std::sync::Mutex::new(0);
             ckpt::team(4).run(|member| {{
                 for turn in 0..1000 {{
                     ckpt::checkpoint!();
                     member.for_each(0..100, Schedule::Static, |i| {{ *sum.lock().unwrap() += i * turn; }});
                     {own}
                 }}
             }}); }}"
        )
    };
    let (kind, why) = one(&team(""));
    assert_eq!(kind, "malleable");
    assert!(why.contains("CKPT_THREADS=n"), "{why}");
    let (kind, why) = one(&team("*sum.lock().unwrap() += member.number();"));
    assert_eq!(kind, "fixed");
    assert!(
        why.contains("`member.number()` is another for each member"),
        "{why}"
    );
}

#[test]
fn sites_are_chosen_in_the_closures_of_teams() {
    let team = |team: &str, own: &str| {
        format!(
            "use ckpt::Schedule; use std::sync::Mutex;
             fn work(i: usize, turn: usize) -> usize {{ let mut all = 0; for k in 0..1000 {{ all += i * turn + k; }} all }}
             fn main() {{ let sum = Mutex::new(0); let turns = std::env::args().count() * 1000;
             {team}(|member| {{
                 for turn in 0..turns {{
                     member.for_each(0..100, Schedule::Static, |i| {{ *sum.lock().unwrap() += work(i, turn); }});
                     {own}
                 }}
             }}); println!(\"{{}}\", sum.lock().unwrap()); }}"
        )
    };
    for start in ["ckpt::team(4).run", "let team = ckpt::team(2); team.run"] {
        assert_eq!(one(&team(start, "")).0, "malleable", "{start}");
        assert_eq!(one(&team(start, "println!(\"{}\", member.number());")).0, "fixed");
    }
    // Of somebody else's `team` nothing is known.
    assert_eq!(kinds(&team("relay::team(4).run", "")), []);
}
