//! The plan as one self-contained page: the source with the cost of every loop beside it, the sites, the variables.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::plan::{FunctionPlan, LoopPlan, Plan};
use super::read::ReadPackage;

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--site:#0a7a3d22;--bar:#2f6fb0}\
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.15rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}\
td.n{text-align:right;font-variant-numeric:tabular-nums}\
.src{font:13px/1.45 ui-monospace,monospace;overflow-x:auto}.src div{display:flex;white-space:pre}\
.src .no{flex:0 0 3.5rem;color:#888;text-align:right;padding-right:.8rem;user-select:none}\
.src .cost{flex:0 0 8rem;font-size:11px;color:#888}.src .cost i{display:inline-block;height:.6em;background:var(--bar);margin-right:.3em}\
.src .site{background:var(--site);font-weight:600}.saved{font-weight:600}code{font-family:ui-monospace,monospace}\
";

/// The page.
pub fn page(plan: &Plan, package: &ReadPackage) -> String {
    let mut text = String::new();
    let name = escaped(&plan.program);
    let (scope, saved) = (plan.totals.variables_in_scope, plan.totals.variables_saved);
    let _ = write!(
        text,
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>Checkpoints in {name}</title><style>{STYLE}</style>\
         <h1>Checkpoints in <code>{name}</code></h1>\
         <p>Sites reach {:.1}&nbsp;% of the run, as far as the source tells; {saved} of {scope} variables in scope are saved.</p>",
        plan.coverage * 100.0
    );
    call_graph(&mut text, plan);
    for function in &plan.functions {
        variables(&mut text, function);
    }
    refusals(&mut text, plan);
    sources(&mut text, plan, package);
    text
}

/// The functions that lead to the sites, `main` first.
fn call_graph(text: &mut String, plan: &Plan) {
    text.push_str("<h2>From main to the sites</h2><ul>");
    for function in &plan.functions {
        let calls: Vec<_> = function
            .calls
            .iter()
            .map(|call| format!("<code>{}</code>", escaped(call)))
            .collect();
        let leads = if calls.is_empty() {
            String::new()
        } else {
            format!(" &rarr; {}", calls.join(", "))
        };
        let _ = write!(text, "<li><code>{}</code>{leads}", escaped(&function.name));
        for site in &function.sites {
            let _ = write!(
                text,
                "<br>checkpoint in <code>{}</code>, line {}: {}",
                escaped(&site.header),
                site.line,
                escaped(&site.why)
            );
        }
        text.push_str("</li>");
    }
    text.push_str("</ul>");
}

fn variables(text: &mut String, function: &FunctionPlan) {
    if function.variables.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "<h2>Variables of <code>{}</code></h2><table><tr><th>variable<th>line<th>at a restart<th>why",
        escaped(&function.name)
    );
    for variable in &function.variables {
        let class = if variable.saved { "saved" } else { "" };
        let ty = variable
            .type_text
            .as_ref()
            .map_or_else(String::new, |ty| format!(": {}", escaped(ty)));
        let _ = write!(
            text,
            "<tr class={class:?}><td><code>{}{ty}</code><td class=n>{}<td>{}<td>{}",
            escaped(&variable.name),
            variable.line,
            variable.fate,
            escaped(variable.why)
        );
    }
    text.push_str("</table>");
}

fn refusals(text: &mut String, plan: &Plan) {
    if plan.refused.is_empty() {
        return;
    }
    text.push_str("<h2>Loops that cannot hold a checkpoint</h2><ul>");
    for one in &plan.refused {
        let _ = write!(
            text,
            "<li><code>{}</code>, {}:{}, {:.1}&nbsp;% of the run",
            escaped(&one.header),
            escaped(&one.file),
            one.line,
            one.share * 100.0
        );
        for reason in &one.reasons {
            let _ = write!(text, "<br>{}", escaped(reason));
        }
        text.push_str("</li>");
    }
    text.push_str("</ul>");
}

fn sources(text: &mut String, plan: &Plan, package: &ReadPackage) {
    let mut by_file: BTreeMap<&str, BTreeMap<usize, &LoopPlan>> = BTreeMap::new();
    for one in &plan.loops {
        by_file.entry(&one.file).or_default().insert(one.line, one);
    }
    for file in &package.program.files {
        let path = file
            .path
            .strip_prefix(package.workspace_root())
            .unwrap_or(&file.path);
        let path = path.display().to_string();
        let Some(loops) = by_file.get(path.as_str()) else {
            continue;
        };
        let _ = write!(text, "<h2><code>{}</code></h2><div class=src>", escaped(&path));
        for (index, line) in file.text.lines().enumerate() {
            let (cost, class) = match loops.get(&(index + 1)) {
                Some(one) => (bar(one), if one.chosen { "site" } else { "" }),
                None => (String::new(), ""),
            };
            let _ = writeln!(
                text,
                "<div class={class:?}><span class=no>{}</span><span class=cost>{cost}</span><span>{}</span></div>",
                index + 1,
                escaped(line)
            );
        }
        text.push_str("</div>");
    }
}

fn bar(one: &LoopPlan) -> String {
    let percent = one.share * 100.0;
    format!("<i style=\"width:{:.1}rem\"></i>{percent:.1} %", one.share * 4.0)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
