//! The pages that `plan --html` and `report --html` write, as a browser sees them: headless Chromium gives the document and a
//! picture, which are looked at by structure. `CKPT_BLESS=1` puts the pictures into the book. Where there is no Chromium, that is
//! said and nothing is tried.

mod chromium;
#[path = "../../tests/harness/src/skipped.rs"]
mod skipped;

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::process::Command;

use chromium::Browser;

const WIDTH: u32 = 1000;
const HEIGHT: u32 = 1400;

/// How often the browser found an element, after it had mended what was not closed.
fn count(dom: &str, tag: &str) -> usize {
    dom.matches(&format!("<{tag}>")).count() + dom.matches(&format!("<{tag} ")).count()
}

fn address(page: &Path) -> String {
    format!("file://{}", page.display())
}

/// The share of the pixels in each band of the page that are not of its ground, and how many colours it has.
struct Picture {
    bands: Vec<f64>,
    colors: usize,
}

fn picture(browser: &Browser, page: &Path, in_the_book: &str) -> Picture {
    let path = page.with_extension("png");
    browser.draws(&address(page), &[], WIDTH, HEIGHT, &path);
    chromium::in_the_book(&path, in_the_book);
    let decoder = png::Decoder::new(BufReader::new(File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((info.width, info.height), (WIDTH, HEIGHT));
    let samples = info.color_type.samples();
    let pixels: Vec<&[u8]> = bytes.chunks(samples).map(|pixel| &pixel[..3]).collect();
    let ground = pixels[0];
    let band = |band: &[&[u8]]| {
        let drawn = band.iter().filter(|pixel| **pixel != ground).count();
        drawn as f64 / band.len() as f64
    };
    let mut colors: Vec<&[u8]> = pixels.clone();
    colors.sort_unstable();
    colors.dedup();
    Picture {
        bands: pixels.chunks(100 * WIDTH as usize).map(band).collect(),
        colors: colors.len(),
    }
}

fn cargo_ckpt(folder: &Path, arguments: &[&str]) {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ckpt-runtime");
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"))
        .env_remove("CKPT_DIR")
        .env_remove("CKPT_BLESS")
        .env("CKPT_RUNTIME_PATH", runtime)
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
}

#[test]
fn a_browser_shows_the_life_of_a_job() {
    let Some(browser) = Browser::found("pages in a browser") else {
        return;
    };
    let here = tempfile::tempdir().unwrap();
    let store = here.path().join("heat.ckpt.d");
    fs::create_dir(&store).unwrap();
    let job = r#"{"run": "0123456789abcdef0123456789abcdef", "program": "he<at", "version": "0.1.0", "pid": 2, "host": "node7", "started": "2026-01-01T00:00:00Z",
        "updated": "2026-01-01T02:00:00Z", "state": "completed", "visits": 900, "restarted_from": 3, "last_checkpoint": 5,
        "failed_checkpoints": 0, "command": ["heat", "deck.toml"], "reason": null}"#;
    let kept = store.join("runs/0123456789abcdef0123456789abcdef");
    fs::create_dir_all(&kept).unwrap();
    fs::write(kept.join("job.json"), job).unwrap();
    let checkpoint = |at: f64, id: u64| {
        format!(
            r#"{{"at": {at}, "run": "0123456789abcdef0123456789abcdef", "event": "checkpoint", "id": {id}, "visits": {}, "waited": 12.0, "took": 30.0, "bytes": 1000000, "reason": "interval"}}"#,
            100 * id
        )
    };
    let start = |at: f64, pid: u32, from: &str| {
        format!(
            r#"{{"at": {at}, "run": "0123456789abcdef0123456789abcdef", "event": "start", "pid": {pid}, "host": "node7", "visits": 0, "restarted_from": {from}}}"#
        )
    };
    let events = [
        start(0.0, 1, "null"),
        checkpoint(1000.0, 1),
        checkpoint(2000.0, 2),
        checkpoint(3000.0, 3),
        start(4000.0, 2, "3"),
        checkpoint(5000.0, 4),
        checkpoint(6000.0, 5),
        r#"{"at": 7000.0, "run": "0123456789abcdef0123456789abcdef", "event": "end", "state": "completed", "visits": 900, "reason": null}"#.to_owned(),
    ];
    fs::write(kept.join("events.log"), events.join("\n") + "\n").unwrap();
    cargo_ckpt(here.path(), &["report", "--html", "job.html"]);
    let page = here.path().join("job.html");
    let dom = browser.prints(&address(&page), &["--dump-dom"]);
    assert!(dom.contains("A job of <code>he&lt;at</code>"), "{dom}");
    let found = ["h1", "h2", "table", "svg", "script"].map(|tag| count(&dom, tag));
    assert_eq!(found, [1, 4, 2, 1, 0], "{dom}");
    assert_eq!(dom.matches("class=\"run\"").count(), 2, "a bar for each process");
    assert_eq!(dom.matches("class=\"checkpoint\"").count(), 5);
    assert_eq!(dom.matches("class=\"failure\"").count(), 1);
    assert_eq!(
        count(&dom, "tr"),
        1 + 2 + 1 + 5,
        "rows of both tables, with their heads"
    );
    assert!(dom.contains("<code>--interval auto</code>"));
    let picture = picture(&browser, &page, "report.png");
    assert!(
        picture.bands[..7].iter().all(|share| *share > 0.005),
        "something in each part of the upper page: {:?}",
        picture.bands
    );
    assert!(picture.colors > 50, "the bars have colours: {}", picture.colors);
}

#[test]
fn a_browser_shows_a_plan() {
    let Some(browser) = Browser::found("pages in a browser") else {
        return;
    };
    let here = tempfile::tempdir().unwrap();
    fs::create_dir(here.path().join("src")).unwrap();
    fs::write(
        here.path().join("Cargo.toml"),
        "[package]\nname = \"seen-in-a-browser\"\nedition = \"2024\"\n[workspace]\n",
    )
    .unwrap();
    let source = "fn step(grid: &mut [f64]) {\n    for cell in grid.iter_mut() {\n        *cell = *cell * 0.5 + 1.0;\n    }\n}\n\n\
        fn main() {\n    let mut grid = vec![0.0; 1000];\n    for time in 0..100000u32 {\n        step(&mut grid);\n        \
        if time % 10000 == 0 && grid[0] < 3.0 {\n            println!(\"{time} {}\", grid[1]);\n        }\n    }\n}\n";
    fs::write(here.path().join("src/main.rs"), source).unwrap();
    cargo_ckpt(here.path(), &["plan", "--offline", "--html", "plan.html"]);
    let page = here.path().join("plan.html");
    let dom = browser.prints(&address(&page), &["--dump-dom"]);
    assert_eq!(count(&dom, "svg"), 1, "the way from main to the site is drawn");
    assert_eq!(count(&dom, "script"), 0);
    assert!(dom.contains("grid[0] &lt; 3.0"), "the source is there, as text");
    assert!(count(&dom, "h2") >= 3 && count(&dom, "table") >= 2, "{dom}");
    assert!(dom.trim_end().ends_with("</html>"));
    let picture = picture(&browser, &page, "plan.png");
    assert!(
        picture.bands[..7].iter().all(|share| *share > 0.005),
        "{:?}",
        picture.bands
    );
    assert!(picture.colors > 50, "{}", picture.colors);
}
