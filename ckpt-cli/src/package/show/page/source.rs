//! The files with loops or sites: the cost of every loop, the sites and why they are there, calls that lead to them, and
//! what becomes of the variables, beside or below the lines.

use std::collections::BTreeMap;
use std::fmt::Write;

use ckpt_compiler::Fate;

use super::percent;
use crate::package::build::refused::Refused;
use crate::package::read::ReadPackage;
use crate::package::show::plan::{LoopPlan, Plan, SitePlan, VariablePlan};
use crate::render::{self, escaped};

/// What there is to say of a line.
#[derive(Default)]
struct Line<'p> {
    costs: Option<&'p LoopPlan>,
    site: Option<(&'p SitePlan, &'p [VariablePlan])>,
    refused: Option<&'p Refused>,
    leads_on: bool,
    variables: Vec<&'p VariablePlan>,
}

/// Of the run: less than this is not shown beside a loop.
const LEAST_SHARE: f64 = 0.0005;

/// Saved variables that a note names.
const MOST_NAMED: usize = 12;

/// All files that have something to show.
pub fn sources(text: &mut String, plan: &Plan, package: &ReadPackage) {
    let files = by_file(plan);
    for file in &package.program.files {
        let path = file
            .path
            .strip_prefix(package.workspace_root())
            .unwrap_or(&file.path);
        let path = path.display().to_string();
        let Some(lines) = files.get(path.as_str()) else {
            continue;
        };
        let _ = write!(
            text,
            "\n<h2><code>{}</code></h2><p class=dim>● saved, ↻ made again, ○ not needed; blue: a call that leads to a checkpoint</p><div class=src>",
            escaped(&path)
        );
        let nothing = Line::default();
        for (index, line) in file.text.lines().enumerate() {
            let number = index + 1;
            row(text, &path, number, line, lines.get(&number).unwrap_or(&nothing));
        }
        text.push_str("</div>");
    }
}

fn by_file(plan: &Plan) -> BTreeMap<&str, BTreeMap<usize, Line<'_>>> {
    let mut files: BTreeMap<&str, BTreeMap<usize, Line<'_>>> = BTreeMap::new();
    for one in &plan.loops {
        files
            .entry(&one.file)
            .or_default()
            .entry(one.line)
            .or_default()
            .costs = Some(one);
    }
    for one in &plan.refused {
        files
            .entry(&one.file)
            .or_default()
            .entry(one.line)
            .or_default()
            .refused = Some(one);
    }
    for function in &plan.functions {
        let lines = files.entry(&function.file).or_default();
        for site in &function.sites {
            lines.entry(site.line).or_default().site = Some((site, &function.variables));
        }
        for line in &function.call_lines {
            lines.entry(*line).or_default().leads_on = true;
        }
        for variable in &function.variables {
            lines.entry(variable.line).or_default().variables.push(variable);
        }
    }
    files
}

fn row(text: &mut String, path: &str, number: usize, line: &str, about: &Line<'_>) {
    let class = match about {
        Line { site: Some(_), .. } => " here",
        Line { refused: Some(_), .. } => " not",
        Line { leads_on: true, .. } => " call",
        _ => "",
    };
    let cost = about
        .costs
        .filter(|one| one.share >= LEAST_SHARE)
        .map_or_else(String::new, bar);
    let _ = writeln!(
        text,
        "<div class=\"row{class}\" id=\"{}:{number}\"><span class=no>{number}</span><span class=cost>{cost}</span>{}<span>{}</span></div>",
        escaped(path),
        mark(&about.variables),
        escaped(line)
    );
    if let Some((site, variables)) = about.site {
        let _ = writeln!(
            text,
            "<div class=note><b>Checkpoint here</b>: {}. Safe point: {}. {}</div>",
            escaped(&site.why),
            escaped(&site.safe_point),
            saved(variables)
        );
    }
    if let Some(refused) = about.refused.filter(|_| about.site.is_none()) {
        let reasons: Vec<_> = refused.reasons.iter().map(|reason| escaped(reason)).collect();
        let _ = writeln!(
            text,
            "<div class=\"note bad\"><b>No checkpoint here</b>: {}</div>",
            reasons.join("<br>")
        );
    }
}

fn bar(one: &LoopPlan) -> String {
    format!(
        "<i style=\"width:{:.1}rem\"></i>{}",
        one.share * 4.0,
        percent(one.share)
    )
}

/// What becomes of the variables that a line declares.
fn mark(variables: &[&VariablePlan]) -> String {
    let Some(first) = variables.first() else {
        return "<span class=mark></span>".to_owned();
    };
    let words: Vec<_> = variables
        .iter()
        .map(|one| {
            let bytes = one.bytes.map(|bytes| format!(", {}", render::bytes(bytes)));
            format!(
                "{}: {}{}: {}",
                one.name,
                one.fate.word(),
                bytes.unwrap_or_default(),
                one.why
            )
        })
        .collect();
    let again = |one: &&VariablePlan| matches!(one.fate, Fate::Reexecuted | Fate::PassedAgain);
    let (sign, class) = if variables.iter().any(|one| one.saved) {
        ("●", " saved-mark")
    } else if again(first) {
        ("↻", " again-mark")
    } else {
        ("○", "")
    };
    format!(
        "<span class=\"mark{class}\" title=\"{}\">{sign}</span>",
        escaped(&words.join("\n"))
    )
}

/// The variables of the function that a checkpoint holds, the largest first.
fn saved(variables: &[VariablePlan]) -> String {
    let mut saved: Vec<_> = variables.iter().filter(|one| one.saved).collect();
    saved.sort_by_key(|one| std::cmp::Reverse(one.bytes.unwrap_or(0)));
    if saved.is_empty() {
        return "Nothing of this function has to be saved.".to_owned();
    }
    let names: Vec<_> = saved
        .iter()
        .take(MOST_NAMED)
        .map(|one| {
            let bytes = one.bytes.map(|bytes| format!(" ({})", render::bytes(bytes)));
            format!("<code>{}</code>{}", escaped(&one.name), bytes.unwrap_or_default())
        })
        .collect();
    let more = match saved.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("Saved of this function: {}{more}.", names.join(", "))
}
