//! The live view of a job and of its store: `state` is what is looked at and what a key changes, `draw` shows it, here is the loop
//! of keys and time. It looks only: nothing is locked, nothing is changed.

mod draw;
mod state;

use std::path::Path;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use crate::failure::{Failure, Outcome, code};
use state::{App, Key};

/// How often the job is looked at.
const PERIOD: Duration = Duration::from_millis(500);

/// Shows a store until the user has seen enough.
pub fn show(store: &Path) -> Outcome<()> {
    let mut app = App::new(store);
    let failed = |error: std::io::Error| {
        Failure::new(code::NO, "E3109: the terminal cannot be used")
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
