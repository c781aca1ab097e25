//! The page of the book: a table and a chart of all that was measured.

use std::fmt::Write;
use std::path::Path;

use super::Wish;
use super::measure::{Bar, Measured};

const BEGIN: &str = "<!-- measured: begin -->";
const END: &str = "<!-- measured: end -->";

/// Puts the table between the marks of the page, and the chart beside the page.
pub fn write(page: &Path, measured: &[Measured], wish: &Wish) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(page)?;
    let (before, rest) = text
        .split_once(BEGIN)
        .ok_or_else(|| anyhow::anyhow!("{BEGIN} is missing"))?;
    let (_, after) = rest
        .split_once(END)
        .ok_or_else(|| anyhow::anyhow!("{END} is missing"))?;
    let table = table(measured, wish);
    std::fs::write(page, format!("{before}{BEGIN}\n{table}{END}{after}"))?;
    let all: Vec<&Measured> = measured.iter().collect();
    std::fs::write(page.with_extension("svg"), svg(&all))?;
    let few: Vec<&Measured> = measured.iter().filter(|one| is_of_the_readme(one)).collect();
    std::fs::write(page.with_file_name("waits.svg"), svg(&few))?;
    Ok(())
}

/// What the README has of it: what a program waits, and what others take for the same.
fn is_of_the_readme(one: &Measured) -> bool {
    let rows = [
        ("wait, all changed", "memcpy"),
        ("wait, 5 % of the blocks changed", "memcpy"),
        ("wait, nothing changed", "memcpy"),
        ("raw write + fsync, /tmp", "checkpoint"),
        ("plain HDF5 read", "restart"),
        ("postcard + write, nested values", "checkpoint"),
    ];
    rows.iter()
        .any(|(what, against)| one.what == *what && one.against == *against)
}

fn table(measured: &[Measured], wish: &Wish) -> String {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let mut text = format!(
        "{} MB, {} rounds, {cores} cores.\n\n| what | against | median | best | bar | load of the machine |\n| --- | --- | --- | --- | --- | --- |\n",
        wish.megabytes, wish.rounds
    );
    for one in measured {
        let met = match one.is_met() {
            Some(true) => "",
            Some(false) => ", **not met**",
            None => "",
        };
        let _ = writeln!(
            text,
            "| {} | {} | {:.3} | {:.3} | {}{met} | {} |",
            one.what,
            one.against,
            one.median,
            one.best,
            one.bar_text(),
            one.load
        );
    }
    text
}

/// One line for each ratio: its median as a bar, and where the bar is that it is to stay below or to reach.
fn svg(measured: &[&Measured]) -> String {
    const LINE: usize = 26;
    const LEFT: usize = 430;
    const WIDTH: usize = 360;
    let height = LINE * measured.len() + 40;
    let most = 2.0;
    let x = |ratio: f64| LEFT as f64 + ratio.clamp(0.0, most) / most * WIDTH as f64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" font-family=\"sans-serif\" font-size=\"13\" role=\"img\">\n<title>What checkpoints cost</title>\n",
        LEFT + WIDTH + 70
    );
    for (number, one) in measured.iter().enumerate() {
        let y = 10 + LINE * number;
        let colour = match one.is_met() {
            Some(true) => "#3a7d44",
            Some(false) => "#b5482f",
            None => "#8a8f98",
        };
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#777\">{} / {}</text>",
            LEFT - 8,
            y + 15,
            one.what,
            one.against
        );
        let _ = writeln!(
            text,
            "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{:.1}\" height=\"18\" fill=\"{colour}\"/><text x=\"{:.1}\" y=\"{}\" fill=\"#777\">{:.2}</text>",
            x(one.median) - LEFT as f64,
            x(one.median) + 6.0,
            y + 14,
            one.median
        );
        if let Bar::AtMost(limit) | Bar::AtLeast(limit) = one.bar {
            let _ = writeln!(
                text,
                "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1}\" y2=\"{2}\" stroke=\"#222\" stroke-width=\"2\"/>",
                x(limit),
                y - 3,
                y + 21
            );
        }
    }
    text + "</svg>\n"
}
