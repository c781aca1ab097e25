//! The functions that matter and the calls between them, drawn in layers from `main` downwards, with their cost.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::package::show::plan::{Called, FunctionPlan, Plan};
use crate::render::{end_of, escaped};

const WIDTH: f64 = 230.0;
const HEIGHT: f64 = 46.0;
const GAP: f64 = 28.0;
const BELOW: f64 = 44.0;

/// Characters of a name that fit into a box.
const LONGEST: usize = 27;

/// The drawing, as SVG. A box leads to what is said of its function.
pub fn drawing(plan: &Plan) -> String {
    let layers = layers(&plan.call_graph);
    let widest = layers.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let (width, height) = (
        widest * (WIDTH + GAP) + GAP,
        layers.len() as f64 * (HEIGHT + BELOW) - BELOW + 8.0,
    );
    let mut places: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (depth, layer) in layers.iter().enumerate() {
        let left = (width - layer.len() as f64 * (WIDTH + GAP) + GAP) / 2.0;
        for (column, &index) in layer.iter().enumerate() {
            let place = (
                left + column as f64 * (WIDTH + GAP),
                4.0 + depth as f64 * (HEIGHT + BELOW),
            );
            places.insert(&plan.call_graph[index].name, place);
        }
    }
    let mut text = format!(
        "<svg viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" role=img aria-label=\"calls from main to the sites\">\
         <defs><marker id=tip viewBox=\"0 0 8 8\" refX=8 refY=4 markerWidth=7 markerHeight=7 orient=auto>\
         <path d=\"M0 0 8 4 0 8\"></path></marker></defs>"
    );
    for function in &plan.call_graph {
        for callee in &function.calls {
            if let (Some(from), Some(to)) = (places.get(&*function.name), places.get(&**callee)) {
                arrow(&mut text, *from, *to);
            }
        }
    }
    for called in &plan.call_graph {
        let mut instrumented = plan.functions.iter().enumerate();
        let function = instrumented.find(|(_, one)| one.name == called.name);
        if let Some(place) = places.get(&*called.name) {
            self::function(&mut text, called, function, *place);
        }
    }
    text.push_str("</svg>");
    text
}

/// The functions by the least number of calls that lead to them.
fn layers(functions: &[Called]) -> Vec<Vec<usize>> {
    let mut depths: Vec<Option<usize>> = vec![None; functions.len()];
    let mut open: Vec<usize> = (0..functions.len().min(1)).collect();
    let mut layers = Vec::new();
    while !open.is_empty() {
        let mut next = Vec::new();
        for &index in &open {
            depths[index] = Some(layers.len());
        }
        for &index in &open {
            for callee in &functions[index].calls {
                let found = functions.iter().position(|one| one.name == *callee);
                if let Some(found) = found.filter(|found| depths[*found].is_none() && !next.contains(found)) {
                    next.push(found);
                }
            }
        }
        layers.push(std::mem::replace(&mut open, next));
    }
    let alone: Vec<usize> = (0..functions.len())
        .filter(|index| depths[*index].is_none())
        .collect();
    if !alone.is_empty() {
        layers.push(alone);
    }
    layers
}

fn arrow(text: &mut String, from: (f64, f64), to: (f64, f64)) {
    let start = (from.0 + WIDTH / 2.0, from.1 + HEIGHT);
    let end = (to.0 + WIDTH / 2.0, to.1);
    let path = if from == to {
        // A recursion: a loop at the right side.
        let (x, y) = (from.0 + WIDTH, from.1 + HEIGHT / 2.0);
        format!(
            "M{x:.0} {:.0}C{:.0} {:.0} {:.0} {:.0} {x:.0} {:.0}",
            y - 9.0,
            x + 26.0,
            y - 22.0,
            x + 26.0,
            y + 22.0,
            y + 9.0
        )
    } else if end.1 > start.1 {
        let middle = (start.1 + end.1) / 2.0;
        format!(
            "M{:.0} {:.0}C{:.0} {middle:.0} {:.0} {middle:.0} {:.0} {:.0}",
            start.0, start.1, start.0, end.0, end.0, end.1
        )
    } else {
        // Back up, beside the boxes.
        let (x, y, to_y) = (from.0, from.1 + HEIGHT / 2.0, to.1 + HEIGHT / 2.0);
        format!(
            "M{x:.0} {y:.0}C{:.0} {y:.0} {:.0} {to_y:.0} {:.0} {to_y:.0}",
            x - 24.0,
            to.0 - 24.0,
            to.0
        )
    };
    let _ = write!(text, "<path d=\"{path}\" marker-end=\"url(#tip)\"></path>");
}

fn function(
    text: &mut String,
    called: &Called,
    function: Option<(usize, &FunctionPlan)>,
    (x, y): (f64, f64),
) {
    let sites = function.map_or(&[][..], |(_, function)| &function.sites);
    let class = match (function, sites) {
        (_, [_, ..]) => " class=holds",
        (Some(_), []) => " class=leads",
        (None, _) => "",
    };
    let words = match sites {
        [] if function.is_some() => "leads to checkpoints".to_owned(),
        [] => format!("{}:{}", called.file, called.line),
        [one] => format!("checkpoint at line {}", one.line),
        many => format!("{} checkpoints", many.len()),
    };
    let link = match function {
        Some((index, _)) => format!("f{index}"),
        None => format!("{}:{}", called.file, called.line),
    };
    let _ = write!(
        text,
        "<a href=\"#{}\"><rect{class} x=\"{x:.0}\" y=\"{y:.0}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=7></rect>\
         <rect class=part x=\"{x:.0}\" y=\"{:.0}\" width=\"{:.1}\" height=4></rect>\
         <text x=\"{:.0}\" y=\"{:.0}\">{}</text><text class=small x=\"{:.0}\" y=\"{:.0}\">{:.1} % · {}</text></a>",
        escaped(&link),
        y + HEIGHT - 4.0,
        WIDTH * called.share,
        x + 12.0,
        y + 18.0,
        escaped(&end_of(&called.name, LONGEST)),
        x + 12.0,
        y + 34.0,
        called.share * 100.0,
        escaped(&words)
    );
}
