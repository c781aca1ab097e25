//! The plan as one self-contained page: what it comes to, the way from `main` to the sites as a drawing, the costliest
//! loops, every variable with its bytes and what becomes of it, and the source with all that beside its lines.
//!
//! `graph` draws, `source` shows the files; the page needs nothing but itself: no script, no font, no picture.

mod graph;
mod source;

use std::fmt::Write;

use ckpt_compiler::Fate;

use crate::package::read::ReadPackage;
use crate::package::show::plan::{FunctionPlan, LoopPlan, Plan, SitePlan, VariablePlan};
use crate::render::{self, escaped};

const STYLE: &str = include_str!("page.css");

/// Loops in the table; the source shows all of them.
const MOST_LOOPS: usize = 25;

/// The page.
pub fn page(plan: &Plan, package: &ReadPackage) -> String {
    let mut text = String::new();
    let name = escaped(&plan.program);
    let _ = write!(
        text,
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>Checkpoints in {name}</title><style>{STYLE}</style>\n\
         <h1>Checkpoints in <code>{name}</code></h1>"
    );
    summary(&mut text, plan);
    if !plan.functions.is_empty() {
        text.push_str("\n<h2 id=way>From main to the sites</h2><p class=dim>Functions with their share of the run; green ones get a checkpoint or lead to one.</p>");
        text += &graph::drawing(plan);
    }
    loops(&mut text, plan);
    for (index, function) in plan.functions.iter().enumerate() {
        self::function(&mut text, index, function);
    }
    arrays(&mut text, plan);
    refusals(&mut text, plan);
    decisions(&mut text, plan);
    source::sources(&mut text, plan, package);
    text
}

fn summary(text: &mut String, plan: &Plan) {
    let heading = match &plan.measured {
        Some(run) => format!("Costs are those of {}.", escaped(&run.words())),
        None => "Costs are estimates from the source; <code>cargo ckpt plan --profile</code> measures them."
            .into(),
    };
    let _ = write!(text, "<p class=dim>{heading}</p><div class=tiles>");
    let totals = plan.totals;
    let mut tile = |number: String, words: &str| {
        let _ = write!(text, "<div class=tile><b>{number}</b>{words}</div>");
    };
    let reached = match plan.asks_rustc_yet {
        true => "of the run at most is under a site; rustc was not asked yet",
        false => "of the run is under a site",
    };
    tile(percent(plan.coverage), reached);
    tile(
        format!("{} of {}", totals.chosen, totals.loops),
        "loops have a site",
    );
    tile(
        format!("{} of {}", totals.variables_saved, totals.variables_in_scope),
        "variables in scope are saved",
    );
    let variables = plan.functions.iter().flat_map(|function| &function.variables);
    let (bytes, unknown) = bytes_saved(variables);
    if bytes > 0 {
        let more = if unknown > 0 { " at least" } else { "" };
        tile(render::bytes(bytes), &format!("in a checkpoint{more}"));
    }
    text.push_str("</div>");
    if plan.functions.is_empty() {
        text.push_str("<p><span class=\"tag bad\">There is no place for a checkpoint.</span></p>");
    }
}

/// Known bytes of what is saved, and how many of these variables have an unknown size.
fn bytes_saved<'v>(variables: impl IntoIterator<Item = &'v VariablePlan>) -> (u64, usize) {
    let saved = variables.into_iter().filter(|variable| variable.saved);
    saved.fold((0, 0), |(bytes, unknown), variable| match variable.bytes {
        Some(more) => (bytes + more, unknown),
        None => (bytes, unknown + 1),
    })
}

fn loops(text: &mut String, plan: &Plan) {
    let measured = plan.measured.is_some();
    text.push_str("\n<h2 id=loops>Loops</h2><table><tr><th class=bars>share of the run<th class=n>");
    if measured {
        text.push_str("<th class=n>estimate<th class=n>an iteration");
    }
    text.push_str("<th class=n>trips<th>loop<th>where<th>");
    for one in plan.loops.iter().take(MOST_LOOPS) {
        let _ = write!(
            text,
            "<tr><td class=bars>{}<td class=n>{}",
            bars(one),
            share(one, measured)
        );
        if measured {
            let each = one.measured.as_ref().map(|_| render::short_time(one.operations));
            let _ = write!(
                text,
                "<td class=n>{}<td class=n>{}",
                one.estimated_share.map(percent).unwrap_or_default(),
                each.unwrap_or_default()
            );
        }
        let about = if one.trips_known { "" } else { "~" };
        let site = if one.chosen {
            "<span class=\"tag site\">checkpoint</span>"
        } else {
            ""
        };
        let _ = write!(
            text,
            "<td class=n>{about}{:.0}<td><code>{}</code><td>{} in <code>{}</code><td>{site}",
            one.trips,
            escaped(&one.header),
            link(&one.file, one.line),
            escaped(&one.function)
        );
    }
    text.push_str("</table>");
    if plan.loops.len() > MOST_LOOPS {
        let _ = write!(
            text,
            "<p class=dim>and {} more</p>",
            plan.loops.len() - MOST_LOOPS
        );
    }
}

fn bars(one: &LoopPlan) -> String {
    let estimate = one.estimated_share.map_or_else(String::new, |share| {
        format!(
            "<i class=est title=\"as estimated\" style=\"width:{:.1}%\"></i>",
            share * 100.0
        )
    });
    format!("<i style=\"width:{:.1}%\"></i>{estimate}", one.share * 100.0)
}

fn share(one: &LoopPlan, measured: bool) -> String {
    if measured && one.measured.is_none() && one.share == 0.0 {
        "not reached".into()
    } else {
        percent(one.share)
    }
}

fn function(text: &mut String, index: usize, function: &FunctionPlan) {
    let _ = write!(
        text,
        "\n<h2 id=f{index}><code>{}</code> <span class=dim>{}</span></h2>",
        escaped(&function.name),
        link(&function.file, function.line)
    );
    for one in &function.sites {
        site(text, &function.file, one);
    }
    if !function.calls.is_empty() {
        let calls: Vec<_> = function
            .calls
            .iter()
            .map(|call| format!("<code>{}</code>", escaped(call)))
            .collect();
        let _ = write!(
            text,
            "<p>It leads to checkpoints through {}.</p>",
            calls.join(", ")
        );
    }
    variables(text, &function.variables);
}

fn site(text: &mut String, file: &str, one: &SitePlan) {
    let _ = write!(
        text,
        "<p><span class=\"tag site\">checkpoint</span> in <code>{}</code>, {}: {}{}.<br>\
         <span class=dim>Safe point:</span> {}.<br>{}\
         <span class=dim>In scope here:</span> {} of the function's variables, {} of them saved.</p>",
        escaped(&one.header),
        link(file, one.line),
        escaped(&one.why),
        visits(one),
        escaped(&one.safe_point),
        threads(one),
        one.variables_in_scope,
        one.variables_saved
    );
}

/// With how many threads a restart may come here.
fn threads(one: &SitePlan) -> String {
    one.threads.as_ref().map_or_else(String::new, |threads| {
        format!(
            "<span class=dim>Threads at a restart:</span> {}: {}.<br>",
            threads.kind,
            escaped(&threads.why)
        )
    })
}

/// How long it is from one visit to the next.
fn visits(one: &SitePlan) -> String {
    one.seconds_per_visit.map_or_else(String::new, |seconds| {
        format!("; visited every {}", render::short_time(seconds * 1e9))
    })
}

/// The arrays on devices, at each site.
fn arrays(text: &mut String, plan: &Plan) {
    if plan.devices.is_empty() {
        return;
    }
    text.push_str("\n<h2 id=devices>Arrays on devices</h2>");
    for site in &plan.devices {
        let what = match &site.callee {
            Some(callee) => format!("the call of <code>{}</code>", escaped(callee)),
            None => "the site".into(),
        };
        let _ = write!(
            text,
            "<p>At {what}, {}:</p><table><tr><th>array<th class=n>line<th>written by<th>read by<th>saved<th>why",
            link(&site.file, site.line)
        );
        for one in &site.arrays {
            let tag = match one.saved {
                true => format!("<span class=\"tag saved\">{}</span>", one.content()),
                false => "<span class=tag>nothing</span>".to_owned(),
            };
            let _ = write!(
                text,
                "<tr><td><code>{}</code><td class=n>{}<td>{}<td>{}<td>{tag}<td>{}",
                escaped(&one.name),
                one.line,
                escaped(&one.writers()),
                escaped(&one.readers()),
                escaped(one.why)
            );
        }
        text.push_str("</table>");
    }
}

fn variables(text: &mut String, variables: &[VariablePlan]) {
    if variables.is_empty() {
        return;
    }
    text.push_str("<table><tr><th>variable<th class=n>line<th class=n>bytes<th>at a restart<th>why");
    for variable in variables {
        let ty = variable
            .type_text
            .as_ref()
            .map_or_else(String::new, |ty| format!(": {}", escaped(ty)));
        let _ = write!(
            text,
            "<tr><td><code>{}{ty}</code><td class=n>{}<td class=n>{}<td>{}<td>{}",
            escaped(&variable.name),
            variable.line,
            variable.bytes.map(render::bytes).unwrap_or_default(),
            tag(variable),
            escaped(variable.why)
        );
    }
    let (bytes, unknown) = bytes_saved(variables);
    if bytes > 0 {
        let more = match unknown {
            0 => String::new(),
            _ => format!(", and {} of unknown size", render::count(unknown, "variable")),
        };
        let _ = write!(
            text,
            "<tr><td><b>saved</b><td><td class=n><b>{}</b><td colspan=2>{more}",
            render::bytes(bytes)
        );
    }
    text.push_str("</table>");
}

/// What becomes of a variable, in its colour.
fn tag(variable: &VariablePlan) -> String {
    let class = match variable.fate {
        _ if variable.saved => " saved",
        Fate::Reexecuted | Fate::PassedAgain => " again",
        _ => "",
    };
    format!("<span class=\"tag{class}\">{}</span>", variable.fate.word())
}

fn refusals(text: &mut String, plan: &Plan) {
    if plan.refused.is_empty() && plan.lost_statics.is_empty() {
        return;
    }
    text.push_str("\n<h2 id=refused>Where no checkpoint can be</h2><ul>");
    for one in &plan.refused {
        let _ = write!(
            text,
            "<li><code>{}</code>, {}, {} of the run",
            escaped(&one.header),
            link(&one.file, one.line),
            percent(one.share)
        );
        for reason in &one.reasons {
            let _ = write!(text, "<br>{}", escaped(reason));
        }
        text.push_str("</li>");
    }
    for one in &plan.lost_statics {
        let _ = write!(
            text,
            "<li><span class=\"tag bad\">no checkpoints at all</span> {}: {}<br>why: {}<br>instead: {}</li>",
            link(&one.file, one.line),
            escaped(&one.what),
            escaped(&one.why),
            escaped(&one.instead)
        );
    }
    text.push_str("</ul>");
}

/// What rustc led to, where it was asked.
fn decisions(text: &mut String, plan: &Plan) {
    let Some(checked) = &plan.checked else { return };
    let _ = write!(
        text,
        "\n<h2 id=checked>What the types ask for</h2><p>It compiles with checkpoints, after {} of cargo.</p><ul>",
        render::count(checked.rounds, "build")
    );
    for one in &checked.decisions {
        let _ = write!(
            text,
            "<li>{} <code>{}</code></li>",
            link(&one.file, one.line),
            escaped(&one.attribute)
        );
    }
    text.push_str("</ul>");
}

/// A line of a file, which leads to it in the source below.
fn link(file: &str, line: usize) -> String {
    let file = escaped(file);
    format!("<a href=\"#{file}:{line}\">{file}:{line}</a>")
}

fn percent(share: f64) -> String {
    format!("{:.1}&nbsp;%", share * 100.0)
}

#[cfg(test)]
mod tests;
