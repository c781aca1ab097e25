//! The page as a browser shows it: headless Chromium gives the document and pictures. `CKPT_BLESS=1` puts those of the book into
//! `docs/src`. Where there is no Chromium, that is said and nothing is tried.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::place::{HOSTILE, PLAIN, RUN, Server, store, write_job};
use crate::skipped::skipped;

const WIDTH: u32 = 1400;

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let places = names
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)));
    let found = places.into_iter().find(|path| path.is_file());
    if found.is_none() {
        skipped(
            "serve in a browser",
            "there is no Chromium here (`apt-get install chromium`)",
        );
    }
    found
}

/// What the browser prints; it reaches this machine only.
fn browse(browser: &Path, address: &str, options: &[&str]) -> String {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new("timeout")
        .arg("120")
        .arg(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
            "--virtual-time-budget=6000",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(options)
        .arg(address)
        .stderr(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{options:?}: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

fn dom(browser: &Path, server: &Server, place: &str) -> String {
    browse(browser, &format!("{}#{place}", server.address), &["--dump-dom"])
}

fn of_run(more: &str) -> String {
    format!("store=heat.ckpt.d&run={RUN}{more}")
}

/// How many colours a picture of the page has; it is put into the book if that is wanted.
fn picture(browser: &Path, server: &Server, place: &str, name: &str, height: u32) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.png");
    let options = [
        format!("--window-size={WIDTH},{height}"),
        format!("--screenshot={}", path.display()),
    ];
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    browse(browser, &format!("{}#{place}", server.address), &options);
    let shown = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs/src")
        .join(name);
    if std::env::var_os("CKPT_BLESS").is_some() {
        fs::copy(&path, &shown).unwrap();
    }
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
    let Some(browser) = browser() else { return };
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
    let Some(browser) = browser() else { return };
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
    let Some(browser) = browser() else { return };
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
