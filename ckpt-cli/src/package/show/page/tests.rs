//! The page of a small package: everything that text and JSON tell is on it, and it is well formed.

use super::page;
use crate::package::build::driver::main_of;
use crate::package::read::read;
use crate::package::show::plan::Plan;
use crate::package::testing::{Tree, manifest, options};
use ckpt_analysis::ChooseOptions;

const MAIN: &str = "\
fn main() {
    let name = \"<model & \\\"co\\\">\";
    let mut field: [f64; 100] = [0.0; 100];
    let mut total = vec![0.0; 4000];
    run(&mut field, &mut total);
    println!(\"{name} {} {}\", field[3], total[2]);
}

fn run(field: &mut [f64; 100], total: &mut Vec<f64>) {
    for step in 0..100000 {
        let change: f64 = field.iter().sum();
        for k in 0..100 {
            field[k] += (k * step) as f64 + change;
        }
        total[step % 4000] += field[7];
    }
}
";

fn shown() -> String {
    let tree = Tree::new(&[("Cargo.toml", &manifest("app", "")), ("src/main.rs", MAIN)]);
    let package = read(&options(&tree, "Cargo.toml")).expect("read");
    let analysis = package.analyse();
    let main = main_of(&package, &analysis).expect("a main");
    let placement = analysis.place(main, &ChooseOptions::default());
    page(&Plan::of(&package, &analysis, &placement), &package)
}

/// Elements that need no end.
const VOID: [&str; 8] = ["meta", "br", "li", "tr", "td", "th", "p", "html"];

#[test]
fn the_page_tells_what_the_plan_does() {
    let page = shown();
    for part in [
        "of the run is under a site",
        // The drawing: both functions, an arrow, and where the site is.
        "<svg ",
        ">main</text>",
        ">run</text>",
        "marker-end",
        "100.0 % · checkpoint at line 10",
        "100.0 % · leads to checkpoints",
        // The site with its reasons.
        "Safe point:",
        "the first statement of the loop's body",
        // The variables with their bytes.
        "field: [f64; 100]",
        "800 B",
        "31.2 KiB",
        "<span class=\"tag saved\">",
        // The source, escaped, with what is said of its lines.
        "&lt;model &amp; \\&quot;co\\&quot;&gt;",
        "<b>Checkpoint here</b>",
        "id=\"src/main.rs:10\"",
        "href=\"#src/main.rs:10\"",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
}

#[test]
fn every_element_is_closed_and_every_link_leads_somewhere() {
    let page = shown();
    let body = page.split("</style>").nth(1).expect("a style");
    let mut open: Vec<&str> = Vec::new();
    for piece in body.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').expect("a `>`");
        let name = tag.split_whitespace().next().expect("a name");
        match name.strip_prefix('/') {
            Some("p" | "li") => {}
            Some(name) => assert_eq!(open.pop(), Some(name), "{tag}"),
            None if VOID.contains(&name) => {}
            None => open.push(name),
        }
    }
    assert_eq!(open, [""; 0]);
    let links = body.split("href=\"#").skip(1);
    let links: Vec<_> = links.filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.len() > 6, "{links:?}");
    for link in links {
        let is_there = body.contains(&format!("id=\"{link}\"")) || body.contains(&format!("id={link}>"));
        assert!(is_there, "{link}");
    }
}
