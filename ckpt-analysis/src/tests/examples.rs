//! The examples of this repository, with their attributes taken out: what is chosen is what their authors chose, or
//! a loop around it.

use super::{instrumented, placed, sites};
use std::path::PathBuf;

fn example(name: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(name)
        .join("src");
    let mut files: Vec<(String, String)> = std::fs::read_dir(&folder)
        .expect("the example's sources")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("its text");
            let plain = text.lines().filter(|line| {
                let line = line.trim();
                !line.starts_with("#[ckpt::") && !line.starts_with("ckpt::checkpoint!")
            });
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, plain.collect::<Vec<_>>().join("\n"))
        })
        .collect();
    files.sort_by_key(|(name, _)| (name != "main.rs", name.clone()));
    files
}

fn chosen(name: &str) -> (Vec<String>, Vec<String>) {
    let files = example(name);
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let (analysis, placement) = placed(&files);
    assert!(placement.coverage > 0.9, "{name}: {placement}");
    let functions = instrumented(&analysis, &placement)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    (
        sites(&placement).into_iter().map(str::to_owned).collect(),
        functions,
    )
}

#[test]
fn the_loop_over_time_steps_of_each_example_is_found() {
    let main = || vec!["main".to_owned()];
    assert_eq!(
        chosen("heat"),
        (vec!["while plate.time < deck.end".to_owned()], main())
    );
    assert_eq!(
        chosen("nbody"),
        (vec!["while system.steps < steps".to_owned()], main())
    );
    assert_eq!(chosen("cg").1, ["main", "solve"]);
    assert_eq!(
        chosen("montecarlo"),
        (vec!["for batch in 1..=deck.batches".to_owned()], main())
    );
    assert!(!chosen("quicksort-deep").0.is_empty());
}
