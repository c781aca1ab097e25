//! The view.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{
    Axis, Block, Chart, Clear, Dataset, GraphType, List, ListItem, ListState, Padding, Paragraph, Sparkline,
    Tabs, Wrap,
};

use super::state::{App, Opened, Tab};
use ckpt::store::{printable, printable_lines, wrapped};

use crate::plot::{Scale, raster::Raster};
use crate::render;
use crate::report::facts;
use crate::values::summary::short;

const HELP: &str = " Tab: job / store   up, down: choose   Enter: open   Esc: close   ?: keys ";
const KEYS: [(&str, &str); 7] = [
    ("Tab", "change between the job and the store"),
    ("up, down, k, j", "choose a checkpoint or a value"),
    ("Enter, right, l", "open the chosen checkpoint"),
    ("Esc, left, h", "close it"),
    ("?", "show or hide the keys"),
    ("q, Ctrl-C", "end"),
    ("", "Nothing is changed, whatever is pressed."),
];
const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);

/// Draws everything.
pub fn all(frame: &mut Frame<'_>, app: &App) {
    let foot_text = match &app.wrong {
        Some(wrong) => Paragraph::new(wrong.as_str()).style(Style::new().fg(Color::Red)),
        None => Paragraph::new(HELP).style(Style::new().add_modifier(Modifier::DIM)),
    };
    let foot_text = foot_text.wrap(Wrap { trim: true });
    let rows = rows_of(app.wrong.as_deref().unwrap_or(HELP), frame.area().width);
    let [head, body, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(rows),
    ])
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
    frame.render_widget(foot_text, foot);
    if app.shows_keys {
        keys(frame, body);
    }
    show_what_a_terminal_obeys(frame);
}

/// How many rows a text takes, wrapped between words.
fn rows_of(text: &str, width: u16) -> u16 {
    let wrapped = wrapped(text, Some(usize::from(width.max(1))));
    wrapped.lines().count().max(1).try_into().unwrap_or(u16::MAX)
}

/// All keys, above everything else.
fn keys(frame: &mut Frame<'_>, area: Rect) {
    let lines = KEYS.map(|(key, does)| Line::raw(format!("{key:<16} {does}")));
    let width = lines.iter().map(Line::width).max().unwrap_or(0) as u16 + 4;
    let place = area.centered(
        Constraint::Length(width.min(area.width)),
        Constraint::Length(KEYS.len() as u16 + 2),
    );
    let text = Paragraph::new(lines.to_vec())
        .block(Block::bordered().title(" keys ").padding(Padding::horizontal(1)));
    frame.render_widget(Clear, place);
    frame.render_widget(text, place);
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
    let columns = usize::from(area.width.saturating_sub(2));
    let facts: Vec<Line<'_>> = facts.into_iter().flat_map(|one| fact(one, columns)).collect();
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

/// A fact over as many lines as it takes.
fn fact((name, text): (&str, String), columns: usize) -> Vec<Line<'static>> {
    const NAMES: usize = 13;
    let text = wrapped(&text, Some(columns.saturating_sub(NAMES).max(1)));
    let line = |(number, line): (usize, &str)| {
        let name = if number == 0 { name } else { "" };
        Line::from(vec![
            Span::styled(
                format!("{name:<NAMES$}"),
                Style::new().add_modifier(Modifier::DIM),
            ),
            Span::raw(line.to_owned()),
        ])
    };
    text.lines().enumerate().map(line).collect()
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
        let room = usize::from(area.height.saturating_sub(2)).max(1);
        if rows.len() > room {
            let more = rows.len() - (room - 1);
            rows.truncate(room - 1);
            rows.push(Line::raw(format!("and {more} more")));
        }
        let title = format!(" checkpoint {} by ranks and threads ", line.id);
        frame.render_widget(Paragraph::new(rows).block(Block::bordered().title(title)), area);
    }
}

fn store(frame: &mut Frame<'_>, app: &App, area: Rect) {
    match &app.opened {
        None => checkpoints(frame, app, area),
        Some(opened) => {
            let width =
                |of: &dyn Fn(&super::state::Value) -> usize| opened.values.iter().map(of).max().unwrap_or(0);
            let names = width(&|value| value.name.chars().count());
            let kinds = width(&|value| value.kind.chars().count());
            // Of a name or a type that is longer, the whole stands beside the list.
            let wanted = (names + kinds + 4).try_into().unwrap_or(u16::MAX);
            let most = area.width / 2;
            let [left, right] =
                Layout::horizontal([Constraint::Length(wanted.min(most)), Constraint::Min(0)]).areas(area);
            let room = usize::from(left.width.saturating_sub(2));
            let rows = opened.values.iter().map(|value| {
                let row = name_and_kind((&value.name, names), (&value.kind, kinds), room);
                ListItem::new(row)
            });
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

/// A name and a type, each with the width of the longest of all: names come first where there is no room for both.
fn name_and_kind((name, names): (&str, usize), (kind, kinds): (&str, usize), room: usize) -> String {
    const GAP: usize = 2;
    let least = names.min(room.saturating_sub(GAP) * 2 / 3);
    let of_name = names.min(room.saturating_sub(kinds + GAP).max(least));
    let name = render::middle_out(name, of_name);
    let kind = render::cut(kind, room.saturating_sub(of_name + GAP));
    format!("{name:<of_name$}{:GAP$}{kind}", "")
}

/// The checkpoints in the whole width, and what there is to say of the chosen one below.
fn checkpoints(frame: &mut Frame<'_>, app: &App, area: Rect) {
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
            true => "  lost",
            false => "",
        };
        ListItem::new(format!(
            "{}  {:>10}  {described}{mark}",
            line.id,
            render::bytes(line.bytes())
        ))
    });
    let chosen = app.lines.get(app.selected).map(|line| line.id);
    let ranks = chosen.and_then(|id| app.out_of_reach.get(&id));
    let why = ranks.and_then(|ranks| ranks.first());
    let why = why.map(|(_, why)| format!("It cannot be restored: {why}"));
    let text = match app.lines.is_empty() {
        true => "There is no checkpoint yet.".into(),
        false => why.unwrap_or_else(|| "Enter opens the chosen checkpoint.".into()),
    };
    let text = printable_lines(&text);
    let columns = area.width.saturating_sub(2);
    let [above, below] = Layout::vertical([
        Constraint::Min(3),
        Constraint::Length(rows_of(&text, columns) + 2),
    ])
    .areas(area);
    list(frame, above, " checkpoints ", rows.collect(), app.selected);
    let text = Paragraph::new(wrapped(&text, Some(usize::from(columns.max(1)))));
    frame.render_widget(text.block(Block::bordered()), below);
}

fn list(frame: &mut Frame<'_>, area: Rect, title: &str, rows: Vec<ListItem<'_>>, selected: usize) {
    let mut state = ListState::default().with_selected((!rows.is_empty()).then_some(selected));
    let list = List::new(rows)
        .highlight_style(CHOSEN)
        .block(Block::bordered().title(title.to_owned()));
    frame.render_stateful_widget(list, area, &mut state);
}

fn value(frame: &mut Frame<'_>, opened: &Opened, area: Rect) {
    let chosen = opened.values.get(opened.selected);
    let (name, kind) = chosen.map_or(("", ""), |value| (&value.name, &value.kind));
    let of = chosen.map_or("", |value| &value.of);
    let block = Block::bordered();
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let columns = Some(usize::from(inside.width.max(1)));
    let head = wrapped(&format!("{name}: {kind}{of}"), columns);
    let words = wrapped(opened.shown.text.trim_end(), columns);
    let Some(raster) = &opened.shown.raster else {
        let text = Paragraph::new(format!("{head}\n\n{words}"));
        frame.render_widget(text.wrap(Wrap { trim: false }), inside);
        return;
    };
    let rows = (head.lines().count() + words.lines().count()) as u16;
    let [above, below] = Layout::vertical([Constraint::Length(rows), Constraint::Min(1)]).areas(inside);
    let text = Paragraph::new(format!("{head}\n{words}"));
    frame.render_widget(text.wrap(Wrap { trim: false }), above);
    match raster.rows {
        1 => curve(frame, raster, below),
        _ => map_with_axes(frame, raster, below),
    }
}

/// The numbers over their indices.
fn curve(frame: &mut Frame<'_>, raster: &Raster, area: Rect) {
    let scale = Scale::of(raster, false);
    let (low, high) = (scale.at(0.0), scale.at(1.0));
    // One value needs some room too.
    let room = if high > low { 0.0 } else { low.abs().max(1.0) / 2.0 };
    let (low, high) = (low - room, high + room);
    let elements = raster.shape[1].saturating_sub(1) as f64;
    let step = elements / (raster.columns.max(2) - 1) as f64;
    let cells = raster.spans.iter().enumerate();
    let points: Vec<(f64, f64)> = cells
        .filter(|(_, span)| span.has_numbers())
        .flat_map(|(index, span)| [span.low, span.high].map(|value| (index as f64 * step, value)))
        .collect();
    let data = Dataset::default()
        .data(&points)
        .marker(Marker::Braille)
        .graph_type(GraphType::Line)
        .style(Style::new().fg(Color::Green));
    let axis = |from: f64, to: f64, labels: Vec<String>| Axis::default().bounds([from, to]).labels(labels);
    let labels = [low, low / 2.0 + high / 2.0, high].map(short).to_vec();
    let indices = ["0".to_owned(), raster.shape[1].saturating_sub(1).to_string()].to_vec();
    let chart = Chart::new(vec![data])
        .x_axis(axis(0.0, elements.max(1.0), indices))
        .y_axis(axis(low, high, labels));
    frame.render_widget(chart, area);
}

/// The map with the indices of its last row and column, and the colours with their numbers below.
fn map_with_axes(frame: &mut Frame<'_>, raster: &Raster, area: Rect) {
    let [rows, columns] = raster.shape.map(|size| size.saturating_sub(1).to_string());
    let [above, indices, colours] =
        Layout::vertical([Constraint::Min(1), Constraint::Length(1), Constraint::Length(1)]).areas(area);
    let width = rows.chars().count() as u16 + 1;
    let [left, map] = Layout::horizontal([Constraint::Length(width), Constraint::Min(1)]).areas(above);
    heat_map(frame, raster, map);
    let drawn = (
        raster.columns.min(usize::from(map.width)),
        raster.rows.div_ceil(2).min(usize::from(map.height)),
    );
    let between = usize::from(left.height).min(drawn.1).saturating_sub(2);
    let labels = match drawn.1 {
        0 | 1 => format!("0..{rows}"),
        _ => format!("0{}{rows}", "\n".repeat(between + 1)),
    };
    frame.render_widget(
        Paragraph::new(labels).right_aligned(),
        Rect {
            width: left.width.saturating_sub(1),
            ..left
        },
    );
    let blanks = drawn.0.saturating_sub(1 + columns.chars().count()).max(1);
    let ahead = " ".repeat(usize::from(width));
    let below = format!("{ahead}0{}{columns}", " ".repeat(blanks));
    frame.render_widget(Line::raw(below), indices);
    let scale = Scale::of(raster, false);
    let mut spans = vec![Span::raw(format!("{} ", short(scale.at(0.0))))];
    const STEPS: u32 = 12;
    spans.extend((0..STEPS).map(|step| {
        let (red, green, blue) = scale
            .color(scale.at(f64::from(step) / f64::from(STEPS - 1)))
            .parts();
        Span::styled("\u{2588}", Style::new().fg(Color::Rgb(red, green, blue)))
    }));
    spans.push(Span::raw(format!(" {}", short(scale.at(1.0)))));
    frame.render_widget(Line::from(spans), colours);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_beside_long_types() {
        let row = |name, names, kind, kinds| name_and_kind((name, names), (kind, kinds), 38);
        let kind = "f32 [1], with indices of its own";
        let row_of_long = row("main/w.rag.items", 24, kind, kind.len());
        assert!(row_of_long.starts_with("main/w.rag.items "), "{row_of_long}");
        assert!(row_of_long.contains("  f32 [1]"), "{row_of_long}");
        assert!(row_of_long.chars().count() <= 38, "{row_of_long}");
        assert_eq!(row("main/x", 8, "f64 [3]", 7), "main/x    f64 [3]");
        let long = "main/a.name.that.is.longer.than.the.room";
        let row_of_long = row(long, long.len(), "u8", 2);
        assert!(
            row_of_long.contains('\u{2026}') && row_of_long.ends_with("room  u8"),
            "{row_of_long}"
        );
    }
}
