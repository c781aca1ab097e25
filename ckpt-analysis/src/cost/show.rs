//! The costs of the loops, for people.

use super::Costs;
use crate::calls::CallGraph;
use crate::items::Items;
use std::fmt::Write;

/// One line for each loop.
pub fn show(items: &Items, graph: &CallGraph, costs: &Costs) -> String {
    let mut text = String::new();
    for one in &graph.loops {
        let Some(cost) = costs.loops.get(one.id.0) else {
            continue;
        };
        let _ = writeln!(
            text,
            "{:5.1} % {}:{} `{}` trips {}{} operations {:.2e}{} entries {:.2e}",
            cost.share * 100.0,
            items.function(one.function).display,
            one.place.line,
            one.header,
            cost.trips,
            if cost.known { "" } else { " (guessed)" },
            cost.per_iteration,
            if cost.guessed { " (guessed)" } else { "" },
            cost.entries,
        );
    }
    text
}
