//! The view.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, List, ListItem, ListState, Paragraph, Sparkline, Tabs, Wrap};

use super::state::{App, Opened, Tab};
use ckpt::store::{printable, printable_lines};

use crate::plot::{Scale, raster::Raster};
use crate::render;
use crate::report::facts;

const HELP: &str = " Tab: job / store   up, down: choose   Enter: open   Esc: close   q: end ";
const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);

/// Draws everything.
pub fn all(frame: &mut Frame<'_>, app: &App) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(3), Constraint::Length(1)])
            .areas(frame.area());
    let tab = usize::from(app.tab == Tab::Store);
    frame.render_widget(
        Tabs::new(["job", "store"]).select(tab).highlight_style(CHOSEN),
        head,
    );
    match app.tab {
        Tab::Job => job(frame, app, body),
        Tab::Store => store(frame, app, body),
    }
    let foot_line = match &app.wrong {
        Some(wrong) => Line::styled(wrong.clone(), Style::new().fg(Color::Red)),
        None => Line::styled(HELP, Style::new().add_modifier(Modifier::DIM)),
    };
    frame.render_widget(foot_line, foot);
    show_what_a_terminal_obeys(frame);
}

/// A store may have any text in it. There is no room in a cell for more than a sign.
fn show_what_a_terminal_obeys(frame: &mut Frame<'_>) {
    for cell in &mut frame.buffer_mut().content {
        if printable(cell.symbol()) != cell.symbol() {
            cell.set_symbol("?");
        }
    }
}

fn job(frame: &mut Frame<'_>, app: &App, area: Rect) {
    let Some(life) = &app.life else {
        frame.render_widget(Paragraph::new("No job has run on this store."), area);
        return;
    };
    let facts = facts(life, app.not_here.as_deref());
    let facts: Vec<Line<'_>> = facts.into_iter().map(fact).collect();
    let [above, waits, ranks] = Layout::vertical([
        Constraint::Length(facts.len() as u16 + 2),
        Constraint::Length(6),
        Constraint::Min(0),
    ])
    .areas(area);
    let (job, run) = (&life.job, life.job.run.short());
    let title = format!(" {} {}, run {run} ", job.program, job.version);
    frame.render_widget(Paragraph::new(facts).block(Block::bordered().title(title)), above);
    let all = life.processes.iter().flat_map(|one| &one.checkpoints);
    let micros: Vec<u64> = all.map(|one| (one.waited * 1e6) as u64).collect();
    let fits = usize::from(waits.width.saturating_sub(2));
    let latest = &micros[micros.len().saturating_sub(fits)..];
    let largest = latest.iter().max().copied().unwrap_or(0);
    let title = match latest.is_empty() {
        true => " time waited for each checkpoint: none yet ".to_owned(),
        false => format!(
            " time waited for each checkpoint, up to {} ",
            render::short_time(largest as f64 * 1e3)
        ),
    };
    frame.render_widget(
        Sparkline::default()
            .data(latest)
            .style(Style::new().fg(Color::Green))
            .block(Block::bordered().title(title)),
        waits,
    );
    per_rank(frame, app, ranks);
}

fn fact((name, text): (&str, String)) -> Line<'static> {
    Line::from(vec![
        Span::styled(format!("{name:<13}"), Style::new().add_modifier(Modifier::DIM)),
        Span::raw(text),
    ])
}

/// What each rank, and each thread of its team, has of the newest line.
fn per_rank(frame: &mut Frame<'_>, app: &App, area: Rect) {
    let Some(line) = app.lines.last() else {
        return;
    };
    let shares = |rank: &u32| app.shares.as_ref().and_then(|shares| shares.of_rank.get(rank));
    let mut rows = Vec::new();
    for (rank, entry) in &line.entries {
        rows.push(Line::raw(format!(
            "rank {rank:>4}  {}",
            render::bytes(entry.bytes)
        )));
        for (thread, bytes) in shares(rank).into_iter().flatten() {
            let own = render::bytes(*bytes);
            rows.push(Line::raw(format!("  thread {thread:>4}  {own} of its own")));
        }
    }
    rows.extend(
        line.lacking
            .iter()
            .map(|rank| Line::styled(format!("rank {rank:>4}  has none"), Style::new().fg(Color::Red))),
    );
    // One rank with one thread has all that was said above.
    if rows.len() > 1 {
        let title = format!(" checkpoint {} by ranks and threads ", line.id);
        frame.render_widget(Paragraph::new(rows).block(Block::bordered().title(title)), area);
    }
}

fn store(frame: &mut Frame<'_>, app: &App, area: Rect) {
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(45), Constraint::Percentage(55)]).areas(area);
    match &app.opened {
        None => {
            let rows = app.lines.iter().map(|line| {
                let meta = line
                    .entries
                    .first()
                    .and_then(|(_, entry)| entry.meta.as_ref().ok());
                let described = meta.map_or_else(
                    || "damaged".to_owned(),
                    |meta| {
                        let run = meta.run.filter(|_| app.several_runs);
                        let run = run.map_or_else(String::new, |run| format!("run {}  ", run.short()));
                        format!("{run}visit {:>8}  {}", meta.visit, meta.time_text())
                    },
                );
                let mark = match app.out_of_reach.contains_key(&line.id) {
                    true => "  not restorable",
                    false => "",
                };
                ListItem::new(format!(
                    "{}  {:>10}  {described}{mark}",
                    line.id,
                    render::bytes(line.bytes())
                ))
            });
            list(frame, left, " checkpoints ", rows.collect(), app.selected);
            let chosen = app.lines.get(app.selected).map(|line| line.id);
            let ranks = chosen.and_then(|id| app.out_of_reach.get(&id));
            let why = ranks.and_then(|ranks| ranks.first());
            let why = why.map_or_else(String::new, |(_, why)| {
                format!("It cannot be restored: {why}\n\n")
            });
            frame.render_widget(
                Paragraph::new(format!(
                    "{}Enter opens the chosen checkpoint.",
                    printable_lines(&why)
                ))
                .wrap(Wrap { trim: true })
                .block(Block::bordered()),
                right,
            );
        }
        Some(opened) => {
            let width = opened
                .values
                .iter()
                .map(|value| value.name.chars().count())
                .max()
                .unwrap_or(0);
            let rows = opened
                .values
                .iter()
                .map(|value| ListItem::new(format!("{:<width$}  {}", value.name, value.kind)));
            list(
                frame,
                left,
                &format!(" checkpoint {} ", opened.checkpoint.id()),
                rows.collect(),
                opened.selected,
            );
            value(frame, opened, right);
        }
    }
}

fn list(frame: &mut Frame<'_>, area: Rect, title: &str, rows: Vec<ListItem<'_>>, selected: usize) {
    let mut state = ListState::default().with_selected((!rows.is_empty()).then_some(selected));
    let list = List::new(rows)
        .highlight_style(CHOSEN)
        .block(Block::bordered().title(title.to_owned()));
    frame.render_stateful_widget(list, area, &mut state);
}

fn value(frame: &mut Frame<'_>, opened: &Opened, area: Rect) {
    let name = opened
        .values
        .get(opened.selected)
        .map_or("", |value| value.name.as_str());
    let block = Block::bordered().title(format!(" {name} "));
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let text = Paragraph::new(opened.shown.text.as_str()).wrap(Wrap { trim: false });
    let Some(raster) = &opened.shown.raster else {
        frame.render_widget(text, inside);
        return;
    };
    let [above, below] = Layout::vertical([Constraint::Length(2), Constraint::Min(1)]).areas(inside);
    frame.render_widget(text, above);
    match raster.rows {
        1 => sparkline(frame, raster, below),
        _ => heat_map(frame, raster, below),
    }
}

fn sparkline(frame: &mut Frame<'_>, raster: &Raster, area: Rect) {
    const STEPS: f64 = 1000.0;
    let scale = Scale::of(raster, false);
    let width = usize::from(area.width).max(1);
    let cells = raster.columns.min(width);
    // The lowest is one step high: nothing would be seen of it otherwise.
    let at = |cell: usize| raster.values[cell * raster.columns / cells];
    let bars: Vec<u64> = (0..cells)
        .map(|cell| (scale.share(at(cell)) * STEPS) as u64 + 1)
        .collect();
    let spark = Sparkline::default()
        .data(&bars)
        .max(STEPS as u64 + 1)
        .style(Style::new().fg(Color::Green));
    frame.render_widget(spark, area);
}

/// Two cells in each character: the upper half in the colour of the letter, the lower in that of the ground.
fn heat_map(frame: &mut Frame<'_>, raster: &Raster, area: Rect) {
    let scale = Scale::of(raster, false);
    let (columns, rows) = (
        raster.columns.min(usize::from(area.width)),
        raster.rows.min(2 * usize::from(area.height)),
    );
    let color = |row: usize, column: usize| {
        let (row, column) = (row * raster.rows / rows, column * raster.columns / columns);
        let (red, green, blue) = scale.color(raster.values[row * raster.columns + column]).parts();
        Color::Rgb(red, green, blue)
    };
    for row in (0..rows).step_by(2) {
        for column in 0..columns {
            let place = (area.x + column as u16, area.y + (row / 2) as u16);
            let mut style = Style::new().fg(color(row, column));
            if row + 1 < rows {
                style = style.bg(color(row + 1, column));
            }
            if let Some(cell) = frame.buffer_mut().cell_mut(place) {
                cell.set_symbol("\u{2580}").set_style(style);
            }
        }
    }
}
