//! The page as a browser shows it: headless Chromium gives the document and pictures. `CKPT_BLESS=1` puts those of the book into
//! `docs/src`. Where there is no Chromium, that is said and nothing is tried.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use serde_json::json;

use crate::chromium::{Browser, in_the_book};
use crate::place::{HOSTILE, PLAIN, RUN, Server, store, write_job};

const WIDTH: u32 = 1400;

/// What answers is waited for, on the clock of the page.
const PATIENCE: &str = "--virtual-time-budget=6000";

fn dom(browser: &Browser, server: &Server, place: &str) -> String {
    let address = format!("{}#{place}", server.address);
    browser.prints(&address, &[PATIENCE, "--dump-dom"])
}

fn of_run(more: &str) -> String {
    format!("store=heat.ckpt.d&run={RUN}{more}")
}

/// How many colours a picture of the page has; it is put into the book if that is wanted.
fn picture(browser: &Browser, server: &Server, place: &str, name: &str, height: u32) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.png");
    let address = format!("{}#{place}", server.address);
    browser.draws(&address, &[PATIENCE], WIDTH, height, &path);
    let shown = in_the_book(&path, name);
    assert_eq!(size(&shown), (WIDTH, height), "`CKPT_BLESS=1` makes {name} anew");
    assert_eq!(size(&path), (WIDTH, height));
    colors(&path)
}

fn size(path: &Path) -> (u32, u32) {
    let decoder = png::Decoder::new(BufReader::new(File::open(path).unwrap()));
    let reader = decoder.read_info().unwrap();
    (reader.info().width, reader.info().height)
}

fn colors(path: &Path) -> usize {
    let decoder = png::Decoder::new(BufReader::new(File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let mut all: Vec<&[u8]> = bytes.chunks(info.color_type.samples()).collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

/// A small package, for the plan.
fn package(folder: &Path) {
    fs::create_dir(folder.join("src")).unwrap();
    let manifest = "[package]\nname = \"heat\"\nedition = \"2024\"\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    let source = "fn step(plate: &mut [f64]) {\n    for cell in plate.iter_mut() {\n        *cell = *cell * 0.5 + 1.0;\n    }\n}\n\n\
        fn main() {\n    let mut plate = vec![0.0; 1000];\n    for time in 0..100000u32 {\n        step(&mut plate);\n        \
        if time % 10000 == 0 && plate[0] < 3.0 {\n            println!(\"{time} {}\", plate[1]);\n        }\n    }\n}\n";
    fs::write(folder.join("src/main.rs"), source).unwrap();
}

#[test]
fn a_browser_shows_jobs_values_two_checkpoints_and_the_plan() {
    let Some(browser) = Browser::found("serve in a browser") else {
        return;
    };
    let here = tempfile::tempdir().unwrap();
    store(&here.path().join("heat.ckpt.d"), &PLAIN);
    package(here.path());
    let server = Server::start(here.path(), &[]);
    let job = dom(&browser, &server, "");
    for shown in [
        "heat.ckpt.d",
        "heat 0.1.0",
        "4 checkpoints",
        "completed",
        "Timeline",
        "class=\"failure\"",
    ] {
        assert!(job.contains(shown), "{shown}: {job}");
    }
    assert!(job.contains("id=\"wrong\" role=\"alert\"></span>"), "{job}");
    assert_eq!(
        job.matches("class=\"bar-of\"").count(),
        2 * 4,
        "a bar for each checkpoint"
    );
    assert!(!job.contains("Checkpoint and stop"), "it is read only");
    let values = dom(&browser, &server, &of_run("&tab=values"));
    for shown in [
        "main/plate",
        "f64 [90, 120]",
        "main/means",
        "mean ",
        "view=histogram",
        "src/main.rs:14",
    ] {
        assert!(values.contains(shown), "{shown}: {values}");
    }
    assert_eq!(values.matches("<img ").count(), 2, "{values}");
    let beside = dom(&browser, &server, &of_run("&tab=beside&id=1&b=4"));
    assert!(
        beside.contains("4 differences") && beside.contains("view=difference"),
        "{beside}"
    );
    assert_eq!(beside.matches("<img ").count(), 3, "{beside}");
    let plan = dom(&browser, &server, &of_run("&tab=plan"));
    assert!(plan.contains("<iframe"), "{plan}");
    let page = server.get("plan").text();
    assert!(
        page.contains("plate[0] &lt; 3.0") && page.contains("<svg"),
        "{page}"
    );
    for (place, name, height) in [
        ("&tab=job", "serve-job.png", 900),
        ("&tab=values", "serve-values.png", 700),
        ("&tab=beside&id=1&b=4", "serve-beside.png", 1000),
        ("&tab=plan", "serve-plan.png", 900),
    ] {
        let colors = picture(&browser, &server, &of_run(place), name, height);
        assert!(colors > 50, "{name} has {colors} colours");
    }
}

#[test]
fn a_browser_follows_a_job_that_runs() {
    let Some(browser) = Browser::found("serve in a browser") else {
        return;
    };
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("heat.ckpt.d");
    store(&folder, &PLAIN);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let events = folder.join(format!("runs/{RUN}/events.log"));
    let text = fs::read_to_string(&events).unwrap();
    let before: Vec<&str> = text.lines().take(6).collect();
    fs::write(&events, before.join("\n") + "\n").unwrap();
    write_job(
        &folder,
        &json!({ "program": "heat", "version": "0.1.0", "pid": std::process::id(), "host": host.trim(), "state": "running",
            "visits": 400, "command": ["heat"], "last_checkpoint": 4, "restarted_from": 2 }),
    );
    let server = Server::start(here.path(), &["--allow-stop"]);
    let shown = dom(&browser, &server, "");
    assert!(
        shown.contains("class=\"dot runs\"") && shown.contains("running, pid"),
        "{shown}"
    );
    assert!(shown.contains("Checkpoint and stop"), "{shown}");
}

#[test]
fn a_browser_runs_nothing_that_a_store_says() {
    let Some(browser) = Browser::found("serve in a browser") else {
        return;
    };
    let here = tempfile::tempdir().unwrap();
    store(&here.path().join("heat.ckpt.d"), &HOSTILE);
    let server = Server::start(here.path(), &[]);
    for tab in ["job", "values", "beside"] {
        let shown = dom(&browser, &server, &of_run(&format!("&tab={tab}")));
        assert!(shown.contains("<title>ckpt</title>"), "{shown}");
        assert!(
            !shown.contains("<img src=\"x\"")
                && !shown.contains("onerror=\"")
                && !shown.contains("onload=\""),
            "{shown}"
        );
        assert!(!shown.contains('\u{202e}'), "{shown}");
    }
    let shown = dom(&browser, &server, &of_run("&tab=values"));
    assert!(shown.contains("&lt;script&gt;document.title"), "{shown}");
}
