//! The live view of a job and of its store: `state` is what is looked at and what a key changes, `draw` shows it, here is the loop of keys and time. It looks only: nothing is locked, nothing is changed.

mod draw;
mod state;

use std::path::Path;
use std::time::{Duration, Instant};

use ckpt::store::RunId;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use crate::failure::{Failure, Outcome, says};
use state::{App, Key};

/// How often the job is looked at.
const PERIOD: Duration = Duration::from_millis(500);

/// Shows a store, or one run of it, until the user has seen enough.
pub fn show(store: &Path, run: Option<RunId>) -> Outcome<()> {
    let mut app = App::new(store, run);
    let failed = |error: std::io::Error| {
        Failure::no(says!("E3109: the terminal cannot be used"))
            .because(error)
            .help("the view needs a terminal; `cargo ckpt list` and `inspect` do not")
    };
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let outcome = turn(&mut app, &mut terminal).map_err(failed);
    ratatui::restore();
    outcome
}

fn turn(app: &mut App, terminal: &mut ratatui::DefaultTerminal) -> std::io::Result<()> {
    let mut looked = Instant::now();
    loop {
        terminal.draw(|frame| draw::all(frame, app))?;
        if event::poll(PERIOD.saturating_sub(looked.elapsed()))?
            && let Event::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
        {
            let interrupts = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
            let key = match key.code {
                KeyCode::Char('q') => return Ok(()),
                _ if interrupts => return Ok(()),
                KeyCode::Char('?') => Key::Keys,
                KeyCode::Tab | KeyCode::BackTab => Key::Tab,
                KeyCode::Up | KeyCode::Char('k') => Key::Up,
                KeyCode::Down | KeyCode::Char('j') => Key::Down,
                KeyCode::Enter | KeyCode::Right | KeyCode::Char('l') => Key::Open,
                KeyCode::Esc | KeyCode::Left | KeyCode::Char('h') => Key::Close,
                _ => continue,
            };
            app.key(key);
        }
        if looked.elapsed() >= PERIOD {
            app.look();
            looked = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use ckpt::plan::{FunctionPlan, SiteKind, SitePlan};
    use ckpt::snapshot::SnapshotBuilder;
    use ckpt::store::{Meta, Mode, Store, folder_of_run};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::style::{Color, Modifier};

    use super::*;

    const RUN: &str = "0123456789abcdef0123456789abcdef";

    static MAIN: FunctionPlan = FunctionPlan {
        function: "main",
        module: "heat",
        file: "src/main.rs",
        line: 10,
        layout: 1,
        source: 2,
        attribute: "ckpt::main",
        sites: &[SitePlan {
            line: 14,
            column: 9,
            kind: SiteKind::Checkpoint,
            variables: &[],
        }],
    };

    /// A line, a plane, text and nothing, in three checkpoints of a job that was killed.
    fn store(folder: &Path) {
        let mut store = Store::open(folder, Mode::ReadWrite).unwrap();
        let meta = Meta {
            run: RUN.parse().ok(),
            ..Meta::default()
        };
        for step in 1..=3_u64 {
            let mut builder = SnapshotBuilder::new();
            let main = builder.frame(&MAIN, 1);
            let plane: Vec<[f64; 50]> = (0..40).map(|i| [f64::from(i); 50]).collect();
            builder.value(main, "plane", 1, None, &plane);
            builder.value(main, "line", 2, None, &vec![step as f64; 500]);
            builder.value(main, "name", 3, None, "süd");
            builder.value(main, "none", 4, None, &Vec::<f64>::new());
            builder.value(main, "nan", 5, None, &vec![f64::NAN; 7]);
            store.commit(&builder.finish().unwrap(), &meta).unwrap();
        }
        let job = r#"{"run": "0123456789abcdef0123456789abcdef", "program": "heat", "version": "0.1.0", "pid": 1, "host": "elsewhere", "started": "", "updated": "",
            "state": "running", "visits": 20, "restarted_from": null, "last_checkpoint": 2, "failed_checkpoints": 0,
            "command": ["heat"], "reason": null, "ranks": 3}"#;
        let folder = folder_of_run(folder, RUN.parse().unwrap());
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("job.json"), job).unwrap();
        let events = "{\"at\": 1.0, \"run\": \"0123456789abcdef0123456789abcdef\", \"event\": \"start\", \"pid\": 1, \"host\": \"h\", \"visits\": 0, \"restarted_from\": null}\n\
            {\"at\": 5.0, \"run\": \"0123456789abcdef0123456789abcdef\", \"event\": \"checkpoint\", \"id\": 1, \"visits\": 7, \"waited\": 0.5, \"took\": 1.0, \"bytes\": 9, \"reason\": \"x\"}\n";
        std::fs::write(folder.join("events.log"), events).unwrap();
    }

    fn draw_in_all_sizes(app: &App) {
        for (width, height) in [(1, 1), (2, 9), (9, 2), (20, 6), (40, 12), (80, 24), (400, 150)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|frame| draw::all(frame, app)).unwrap();
        }
    }

    const KEYS: [Key; 9] = [
        Key::Tab,
        Key::Up,
        Key::Open,
        Key::Down,
        Key::Down,
        Key::Down,
        Key::Down,
        Key::Down,
        Key::Close,
    ];

    #[test]
    fn terminals_of_any_size_show_what_fits() {
        let here = tempfile::tempdir().unwrap();
        store(here.path());
        let mut app = App::new(here.path(), None);
        draw_in_all_sizes(&app);
        for key in KEYS {
            app.key(key);
            draw_in_all_sizes(&app);
        }
        assert_eq!(app.wrong, None);
        draw_in_all_sizes(&App::new(&here.path().join("none"), None));
    }

    /// The words on the screen, line by line.
    fn words(app: &App, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw::all(frame, app)).unwrap();
        let buffer = terminal.backend().buffer().clone();
        let line = |row: u16| -> String { (0..width).map(|column| buffer[(column, row)].symbol()).collect() };
        let is_drawn = |one: char| one.is_whitespace() || ('\u{2500}'..='\u{28ff}').contains(&one);
        let lines: Vec<String> = (0..height).map(line).collect();
        let words = lines.iter().flat_map(|line| line.split(is_drawn));
        let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
        words.filter(is_word).map(str::to_owned).collect()
    }

    #[test]
    fn nothing_is_cut_off_at_80_by_24() {
        let here = tempfile::tempdir().unwrap();
        store(here.path());
        let mut app = App::new(here.path(), None);
        let mut looked = 0;
        for key in &KEYS {
            app.key(*key);
            let (small, large) = (words(&app, 80, 24), words(&app, 300, 100));
            // The map is larger, and has the labels of its axes elsewhere.
            let missing: Vec<&String> = large.iter().filter(|word| !small.contains(word)).collect();
            assert!(
                missing.is_empty(),
                "{key:?}: {missing:?} of {large:?} in {small:?}"
            );
            looked += large.len();
        }
        assert!(looked > 200, "{looked}");
        let why = "the store cannot be read, ".repeat(8) + "and that is all";
        app.wrong = Some(why.clone());
        let shown = words(&app, 80, 24);
        let lost: Vec<&str> = why
            .split(' ')
            .filter(|word| !shown.iter().any(|one| one == word))
            .collect();
        assert!(lost.is_empty(), "{lost:?} of {why}");
    }

    #[test]
    fn a_curve_has_axes_and_a_map_a_scale() {
        let here = tempfile::tempdir().unwrap();
        store(here.path());
        let mut app = App::new(here.path(), None);
        app.key(Key::Tab);
        app.key(Key::Open);
        let plane = words(&app, 80, 24);
        for word in ["main/plane:", "[40,", "39", "49", "19.5000"] {
            assert!(plane.iter().any(|one| one.contains(word)), "{word}: {plane:?}");
        }
        app.key(Key::Down);
        let line = words(&app, 80, 24);
        assert!(line.iter().any(|one| one.contains("499")), "{line:?}");
        app.key(Key::Keys);
        assert!(words(&app, 80, 24).contains(&"Ctrl-C".to_owned()));
    }

    /// A terminal as a drawing: a letter in a cell, on its ground.
    fn as_svg(app: &App) -> String {
        const CELL: (u16, u16) = (9, 18);
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| draw::all(frame, app)).unwrap();
        let buffer = terminal.backend().buffer();
        let color = |color: Color, otherwise: &str| match color {
            Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
            Color::Green => "#3fb950".to_owned(),
            Color::Red => "#f85149".to_owned(),
            _ => otherwise.to_owned(),
        };
        let (ink, ground) = ("#e6edf3", "#0d1117");
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 432\" width=\"720\" \
             font-family=\"ui-monospace, monospace\" font-size=\"14\">\n<rect width=\"720\" height=\"432\" fill=\"{ground}\"/>\n"
        );
        for (index, cell) in buffer.content().iter().enumerate() {
            let (column, row) = buffer.pos_of(index);
            let (x, y) = (column * CELL.0, row * CELL.1);
            let (mut fg, mut bg) = (color(cell.fg, ink), color(cell.bg, ground));
            if cell.modifier.contains(Modifier::REVERSED) {
                std::mem::swap(&mut fg, &mut bg);
            }
            let half = cell.symbol() == "\u{2580}";
            if bg != ground || half {
                text += &format!("<rect x=\"{x}\" y=\"{y}\" width=\"9\" height=\"18\" fill=\"{bg}\"/>\n");
            }
            match cell.symbol() {
                " " => {}
                _ if half => {
                    text += &format!("<rect x=\"{x}\" y=\"{y}\" width=\"9\" height=\"9\" fill=\"{fg}\"/>\n");
                }
                symbol => {
                    let letter = crate::render::escaped(symbol);
                    text += &format!("<text x=\"{x}\" y=\"{}\" fill=\"{fg}\">{letter}</text>\n", y + 14);
                }
            }
        }
        text + "</svg>\n"
    }

    /// `CKPT_BLESS=1` makes it anew.
    #[test]
    fn the_picture_in_the_book_is_what_is_drawn() {
        let here = tempfile::tempdir().unwrap();
        let mut store = Store::open(here.path(), Mode::ReadWrite).unwrap();
        let mut builder = SnapshotBuilder::new();
        let main = builder.frame(&MAIN, 1);
        let bump = |x: f64, y: f64| (-(x * x + y * y) / 150.0).exp();
        let value = |row: u32, column: u32| {
            let (x, y) = (f64::from(column), f64::from(row));
            (20.0 + 80.0 * bump(x - 14.0, y - 12.0) + 60.0 * bump(x - 36.0, y - 28.0)).round()
        };
        let plate: Vec<[f64; 50]> = (0..40)
            .map(|row| std::array::from_fn(|column| value(row, column as u32)))
            .collect();
        builder.value(main, "plate", 1, None, &plate);
        builder.value(main, "means", 2, None, &vec![1.0; 32]);
        builder.value(main, "step", 3, None, &400_u64);
        builder.value(main, "title", 4, None, "a plate that cools");
        store
            .commit(&builder.finish().unwrap(), &Meta::default())
            .unwrap();
        let mut app = App::new(here.path(), None);
        app.key(Key::Tab);
        app.key(Key::Open);
        let drawn = as_svg(&app);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/tui.svg");
        if std::env::var_os("CKPT_BLESS").is_some() {
            std::fs::write(&path, &drawn).unwrap();
        }
        let shown = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(shown == drawn, "`CKPT_BLESS=1` makes {} anew", path.display());
    }

    #[test]
    fn a_store_that_vanishes_is_no_end() {
        let here = tempfile::tempdir().unwrap();
        let folder = here.path().join("heat.ckpt.d");
        for opened_before in [false, true] {
            store(&folder);
            let mut app = App::new(&folder, None);
            app.key(Key::Tab);
            if opened_before {
                app.key(Key::Open);
            }
            std::fs::remove_dir_all(&folder).unwrap();
            for key in KEYS.iter().chain(&KEYS) {
                app.key(*key);
                draw_in_all_sizes(&app);
                app.look();
                draw_in_all_sizes(&app);
            }
            // And comes again.
            store(&folder);
            app.look();
            assert_eq!(app.lines.len(), 2, "as many as are kept");
        }
    }

    #[test]
    fn damaged_files_are_named() {
        let here = tempfile::tempdir().unwrap();
        store(here.path());
        for id in [2, 3] {
            std::fs::write(here.path().join(format!("{id:06}.r0.h5")), "no").unwrap();
        }
        let folder = folder_of_run(here.path(), RUN.parse().unwrap());
        std::fs::write(folder.join("job.json"), "{").unwrap();
        let mut app = App::new(here.path(), None);
        app.key(Key::Tab);
        app.key(Key::Open);
        assert!(app.wrong.is_some() && app.opened.is_none());
        draw_in_all_sizes(&app);
    }
}
