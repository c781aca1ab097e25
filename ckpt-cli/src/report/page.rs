//! The report as one page that needs nothing else: no script, no font, no picture from outside.

use std::fmt::Write;

use super::{Life, Process, cost, percent, time};
use ckpt::store::CheckpointId;

use crate::render::{self, escaped};

const STYLE: &str = include_str!("../package/show/page/page.css");
/// What only this page has.
const MORE: &str = "svg .run{fill:#2f6fb055;stroke:none}svg .wait{fill:var(--again);stroke:none}svg .checkpoint{fill:var(--site);stroke:none}\
svg .failure{stroke:var(--bad);stroke-width:2}svg .nottaken{fill:var(--bad);stroke:none}svg .lost{fill:#b3261e33;stroke:none}\
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr))}.tile{min-width:0}code{overflow-wrap:anywhere}\
@media(max-width:40rem){table{display:block;overflow-x:auto}}";

const WIDTH: f64 = 1000.0;
const ROW: f64 = 34.0;
/// Rows in the table of checkpoints; the drawing and `--format json` have all.
const MOST: usize = 200;

/// The page.
pub fn page(life: &Life) -> String {
    let name = escaped(&life.job.program);
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>A job of {name}</title><style>{}</style>\n{}",
        style(),
        body(life)
    )
}

/// What its pages look like.
pub fn style() -> String {
    format!("{STYLE}{MORE}")
}

/// What stands in the page.
pub fn body(life: &Life) -> String {
    let name = escaped(&life.job.program);
    let mut text = format!(
        "<h1>A job of <code>{name}</code> {}</h1>\
         <p class=dim><code>{}</code></p>",
        escaped(&life.job.version),
        escaped(&life.job.command.join(" "))
    );
    tiles(&mut text, life);
    if let Some(advice) = &life.advice {
        let _ = write!(
            text,
            "\n<h2>How often to take checkpoints</h2><p>{}</p>",
            in_code(&escaped(&advice.words())).replace('\n', "<br>")
        );
    }
    for (id, why) in &life.out_of_reach {
        let _ = write!(
            text,
            "\n<p>Checkpoint {} cannot be restored: {}</p>",
            CheckpointId(*id),
            in_code(&escaped(why))
        );
    }
    text += "\n<h2>Timeline</h2><p class=dim>A row for each process: green, checkpoints; red, where it was killed, failed or rolled back, and what it had computed in vain.</p>";
    text += &timeline(life);
    processes(&mut text, life);
    rollbacks(&mut text, life);
    repairs(&mut text, life);
    checkpoints(&mut text, life);
    text
}

fn tiles(text: &mut String, life: &Life) {
    let totals = &life.totals;
    text.push_str("<div class=tiles>");
    let mut tile = |number: String, words: &str| {
        let _ = write!(text, "<div class=tile><b>{number}</b>{words}</div>");
    };
    tile(time(totals.ran), "of running");
    let plural = |number: usize, one: &'static str, more: &'static str| if number == 1 { one } else { more };
    let (checkpoints, failures) = (totals.checkpoints, totals.failures);
    tile(
        checkpoints.to_string(),
        plural(checkpoints, "checkpoint", "checkpoints"),
    );
    tile(failures.to_string(), plural(failures, "failure", "failures"));
    if totals.rollbacks > 0 {
        let words = plural(totals.rollbacks, "rollback", "rollbacks");
        tile(totals.rollbacks.to_string(), words);
    }
    tile(cost(totals.waited), "waited for checkpoints");
    tile(cost(totals.lost), "computed in vain");
    tile(percent(totals.waste), "wasted");
    if let Some(predicted) = life.advice.as_ref().and_then(|advice| advice.predicted) {
        tile(percent(predicted), "was to be expected");
    }
    text.push_str("</div>");
}

/// Processes below each other, on one axis of the time that they ran: what lies between them is left out.
fn timeline(life: &Life) -> String {
    let ran = life.totals.ran.max(1e-9);
    let height = ROW * life.processes.len() as f64 + 24.0;
    let mut text = format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=img aria-label=\"timeline\">");
    let mut before = 0.0;
    for (row, one) in life.processes.iter().enumerate() {
        let y = row as f64 * ROW + 8.0;
        let x = |at: f64| (before + (at - one.began)) / ran * (WIDTH - 20.0) + 10.0;
        line_of(&mut text, one, y, &x);
        before += one.ended - one.began;
    }
    let _ = write!(
        text,
        "<text class=small x=10 y={0:.1}>0</text><text class=small x={1} y={0:.1} text-anchor=end>{2}</text></svg>",
        height - 4.0,
        WIDTH - 10.0,
        time(ran)
    );
    text
}

fn line_of(text: &mut String, one: &Process, y: f64, x: &dyn Fn(f64) -> f64) {
    let (left, right) = (x(one.began), x(one.ended));
    let _ = write!(
        text,
        "<rect class=run x={left:.2} y={y:.1} width={:.2} height=18><title>process {} on {}: {}</title></rect>",
        (right - left).max(1.0),
        one.pid,
        escaped(&one.host),
        one.ending()
    );
    for checkpoint in &one.checkpoints {
        let (at, wide) = (
            x(checkpoint.at),
            x(checkpoint.at) - x(checkpoint.at - checkpoint.waited),
        );
        let _ = write!(
            text,
            "<rect class=wait x={:.2} y={y:.1} width={wide:.2} height=18 /><rect class=checkpoint x={at:.2} y={:.1} width=2 height=26>\
             <title>checkpoint {} at visit {}: waited {}, on the disk after {}, {}</title></rect>",
            at - wide,
            y - 4.0,
            checkpoint.id,
            checkpoint.visits,
            time(checkpoint.waited),
            time(checkpoint.took),
            render::bytes(checkpoint.bytes)
        );
    }
    for at in &one.not_taken {
        let _ = write!(
            text,
            "<circle class=nottaken cx={:.2} cy={:.1} r=3><title>a checkpoint could not be taken</title></circle>",
            x(*at),
            y + 9.0
        );
    }
    if one.failed() || one.rolled_back.is_some() {
        let kept = match &one.rolled_back {
            Some(back) => x((one.ended - back.lost).max(one.began)),
            None => one.checkpoints.last().map_or(left, |last| x(last.at)),
        };
        let _ = write!(
            text,
            "<rect class=lost x={kept:.2} y={y:.1} width={:.2} height=18 /><path class=failure d=\"M{right:.2} {:.1}v26\"><title>{}</title></path>",
            (right - kept).max(0.0),
            y - 4.0,
            one.ending()
        );
    }
}

fn processes(text: &mut String, life: &Life) {
    text.push_str("\n<h2>Processes</h2><table><tr><th>Process<th>Host<th>From<th class=n>Ran<th class=n>Checkpoints<th>Ended");
    for one in &life.processes {
        let from = one
            .restarted_from
            .map_or_else(|| "the start".to_owned(), |id| format!("checkpoint {id}"));
        let reason = one
            .reason
            .as_ref()
            .map_or_else(String::new, |reason| format!(": {}", escaped(reason)));
        let _ = write!(
            text,
            "<tr><td>{}<td>{}<td>{from}<td class=n>{}<td class=n>{}<td>{}{reason}",
            one.pid,
            escaped(&one.host),
            time(one.ended - one.began),
            one.checkpoints.len(),
            one.ending()
        );
    }
    text.push_str("</table>");
}

fn rollbacks(text: &mut String, life: &Life) {
    if life.totals.rollbacks == 0 {
        return;
    }
    text.push_str("\n<h2>Rollbacks</h2><table><tr><th class=n>From visit<th>To<th class=n>Lost<th>Why");
    for one in life.rollbacks() {
        let _ = write!(
            text,
            "<tr class=rollback><td class=n>{}<td>{}{}<td class=n>{}<td>{}",
            one.visits,
            one.rank
                .map_or_else(String::new, |rank| format!("rank {rank} alone, to ")),
            one.target(),
            time(one.lost),
            in_code(&escaped(&one.reason))
        );
    }
    text.push_str("</table>");
}

fn repairs(text: &mut String, life: &Life) {
    if life.totals.repairs == 0 {
        return;
    }
    text.push_str("\n<h2>Repairs</h2><table><tr><th class=n>At visit<th>Variable<th>How<th class=n>Size<th class=n>Took");
    for one in life.repairs() {
        let variable = format!("`{}` of `{}`", one.variable, one.function);
        let _ = write!(
            text,
            "<tr class=repair><td class=n>{}<td>{}<td>{}<td class=n>{}<td class=n>{}",
            one.visits,
            in_code(&escaped(&variable)),
            one.how.words(),
            render::bytes(one.bytes as u64),
            time(one.took)
        );
    }
    text.push_str("</table>");
}

fn checkpoints(text: &mut String, life: &Life) {
    let all: Vec<_> = life.processes.iter().flat_map(|one| &one.checkpoints).collect();
    let left_out = all.len().saturating_sub(MOST);
    text.push_str("\n<h2>Checkpoints</h2><table><tr><th class=n>Number<th class=n>Visit<th class=n>Waited<th class=n>On the disk after<th class=n>State");
    for one in all.iter().skip(left_out) {
        let _ = write!(
            text,
            "<tr><td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}",
            one.id,
            one.visits,
            time(one.waited),
            time(one.took),
            render::bytes(one.bytes)
        );
    }
    text.push_str("</table>");
    if left_out > 0 {
        let _ = write!(text, "<p class=dim>{left_out} older ones are left out here.</p>");
    }
}

/// What is between backticks as code.
fn in_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let part = |(number, part): (usize, &str)| match number % 2 {
        0 => part.to_owned(),
        _ => format!("<code>{part}</code>"),
    };
    parts.map(part).collect()
}
