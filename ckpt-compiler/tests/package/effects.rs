//! What may run again, and what a restart would write twice.

use super::{analysed, placed, program};
use ckpt_compiler::package::FileId;
use ckpt_compiler::package::appends::appends;
use ckpt_compiler::package::effects::Effects;

fn may_run_again(text: &str) -> bool {
    let files = [("main.rs", text)];
    let (program, analysis) = (program(&files), analysed(&files));
    let effects = Effects::of(&program, &analysis.items, &analysis.graph);
    effects.may_run_again((FileId(0), text.find("let class").expect("the variable")))
}

#[test]
fn a_branch_that_leaves_does_not_count() {
    let with = |arm: &str| {
        format!(
            "static ALL: [u8; 2] = [1, 2]; fn usage() {{ println!(\"1 or 2\"); }}
             fn main() {{ let class = match ALL.iter().next() {{ Some(c) => c, None => {arm} }}; drop(class); }}"
        )
    };
    assert!(may_run_again(&with("{ println!(\"none\"); return }")));
    assert!(may_run_again(&with("{ usage(); std::process::exit(1) }")));
    assert!(may_run_again(&with("{ eprintln!(\"none\"); panic!() }")));
    assert!(!may_run_again(&with("{ println!(\"none\"); &0 }")));
    assert!(!may_run_again(&with("{ usage(); &0 }")));
}

#[test]
fn a_file_opened_to_append_inside_the_loop_is_found() {
    let (analysis, placement) = placed(&[(
        "main.rs",
        "fn open() -> std::fs::File { std::fs::OpenOptions::new().append(true).open(\"log\").unwrap() }
         fn frame(k: usize) { let f = std::fs::OpenOptions::new().append(true).open(\"out\").unwrap(); use_it(f, k); }
         fn use_it(_: std::fs::File, _: usize) {}
         fn main() {
             let log = open();
             let mut grid = vec![0.0; 1000];
             for k in 0..100000 { for i in 0..1000 { grid[i] += k as f64; } frame(k); }
             drop(log);
         }",
    )]);
    let found: Vec<_> = appends(&analysis, &placement)
        .into_iter()
        .map(|one| analysis.items.function(one.function).name.clone())
        .collect();
    assert_eq!(found, ["frame"]);
}
