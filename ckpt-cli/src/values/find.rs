//! From the name of a variable to its node: `sim`, `sim.particles.pos`, `1/sim` (in frame 1), `advance/sim`.

use ckpt::store::{FrameInfo, Node, NodeKind, Restored, VariableContent, VariableInfo};
use ckpt::value::DType;

use super::rows::{self, child};
use crate::failure::{Failure, Outcome, says};

/// A variable of a checkpoint, or a part of it.
#[derive(Debug, Clone)]
pub struct Found<'c> {
    /// Index of the frame that holds the value.
    pub frame: usize,
    /// The variable that holds it.
    pub variable: &'c VariableInfo,
    /// Its node.
    pub node: &'c Node,
    /// Name with the path into the value.
    pub name: String,
    /// The list with options, enums or lists in its elements that it is a column of: its rows are those of the values that are
    /// there, and no indices of the list.
    pub packed_in: Option<String>,
}

/// The node of a variable.
pub fn node_of<'c>(checkpoint: &'c Restored, frame: usize, key: &str) -> Option<&'c Node> {
    let variables = checkpoint.tree().find(&place_of(checkpoint.frames(), frame)?)?;
    child(variables, key)
}

/// Where a frame is in the tree: frames are counted on through all threads, and in the tree anew for each.
fn place_of(frames: &[FrameInfo], frame: usize) -> Option<String> {
    let thread = frames.get(frame)?.thread;
    let number = frames[..frame].iter().filter(|one| one.thread == thread).count();
    Some(match thread {
        0 => format!("frames/{number}"),
        member => format!("threads/{member}/{number}"),
    })
}

/// What is said of a frame that waits for threads.
pub const OF_THREADS: &str = "Threads run at the line where it waits. What they write to is in their frames, under the names that they have for it; \
in the frame that waits it is as it was before they began.";

/// Whether a frame stands where it waits for threads: what they were lent to write to is saved with them, and what the frame has
/// of it is from before they began.
pub fn waits_for_threads(checkpoint: &Restored, frame: usize) -> bool {
    let frames = checkpoint.frames();
    let waiting = frames.iter().rposition(|one| one.thread == 0);
    waiting == Some(frame) && frames.iter().any(|one| one.thread > 0)
}

/// The variable, or the part of one, that a name means.
pub fn find<'c>(checkpoint: &'c Restored, name: &str) -> Outcome<Found<'c>> {
    let (found, rest) = find_as_far(checkpoint, name)?;
    match rest.split('.').next() {
        None | Some("") => Ok(found),
        Some(part) => Err(no_part(&found.name, found.node, part)),
    }
}

/// The same, as far as it is stored there: with what is left of the name where an object stands for the value.
pub fn find_as_far<'c, 'n>(checkpoint: &'c Restored, name: &'n str) -> Outcome<(Found<'c>, &'n str)> {
    let (frame, path) = match name.split_once('/') {
        Some((frame, path)) => (Some(frame), path),
        None => (None, name),
    };
    let candidates = candidates(checkpoint.frames(), frame, path);
    let (frame, variable, rest) = match candidates.as_slice() {
        [one] => *one,
        [] => return Err(unknown(checkpoint, name)),
        several => {
            let list = several
                .iter()
                .map(|(frame, variable, _)| format!("{frame}/{}", variable.key));
            return Err(
                Failure::usage(says!("E3092: several frames have a variable `{path}`"))
                    .help_list("choose one", list),
            );
        }
    };
    // Every variable has one.
    let Some(mut node) = node_of(checkpoint, frame, &variable.key) else {
        return Err(unknown(checkpoint, name));
    };
    let mut reached = variable.key.clone();
    let mut packed_in = None;
    let mut rest = rest.strip_prefix('.').unwrap_or(rest);
    while !rest.is_empty() && !is_object(node) {
        let (part, behind) = rest.split_once('.').unwrap_or((rest, ""));
        if let Some(value) = value_of_single(node).filter(|value| is_object(value))
            && child(node, part).is_none()
        {
            node = value;
            break;
        }
        rest = behind;
        if part.is_empty() {
            continue;
        }
        // What a single option holds is named without its `value`, too.
        if let Some(value) =
            value_of_single(node).filter(|value| child(node, part).is_none() && child(value, part).is_some())
        {
            node = value;
        }
        let Some(next) = child(node, part) else {
            return Err(no_part(&reached, node, part));
        };
        if rows::packs(node, part) {
            packed_in.get_or_insert_with(|| reached.clone());
        }
        node = next;
        reached = format!("{reached}.{part}");
    }
    let found = Found {
        frame,
        variable,
        node,
        name: reached,
        packed_in,
    };
    Ok((found, rest))
}

/// Whether a value is stored elsewhere, as what is shared or in itself, and a number here.
pub fn is_object(node: &Node) -> bool {
    matches!(
        &node.kind,
        NodeKind::Dataset {
            dtype: DType::Object(_),
            ..
        }
    )
}

/// There is no such part.
pub fn no_part(reached: &str, node: &Node, part: &str) -> Failure {
    let parts: Vec<_> = node.children().iter().map(|child| child.name.as_str()).collect();
    let help = match parts.is_empty() {
        true => "it has no parts".to_owned(),
        false => format!("it has: {}", parts.join(", ")),
    };
    Failure::usage(says!("E3093: `{reached}` has no part `{part}`")).help(help)
}

/// There are no elements that could be chosen.
pub fn no_array(name: &str, node: &Node) -> Failure {
    let part = |child: &Node| format!("{name}.{}", child.name);
    let failure = Failure::usage(says!("E3005: `{name}` is no array"));
    match node.children().is_empty() {
        true => failure.help("it is one value, which has no elements"),
        false => failure.help_list("its parts", node.children().iter().map(part)),
    }
}

/// What brackets choose from: of a single option, in what it holds.
pub fn with_elements(found: Found<'_>) -> Found<'_> {
    match value_of_single(found.node) {
        Some(node) => Found { node, ..found },
        None => found,
    }
}

/// The value of an option that is no column of them.
fn value_of_single(node: &Node) -> Option<&Node> {
    rows::present_of_single(node).and_then(|_| child(node, "value"))
}

/// All variables that the name can mean, links followed, with what remains of the path.
fn candidates<'c, 'n>(
    frames: &'c [FrameInfo],
    wanted: Option<&str>,
    path: &'n str,
) -> Vec<(usize, &'c VariableInfo, &'n str)> {
    let mut list: Vec<(usize, &VariableInfo, &str)> = Vec::new();
    for (index, frame) in frames.iter().enumerate() {
        if wanted.is_some_and(|wanted| wanted != frame.function && wanted != index.to_string()) {
            continue;
        }
        for variable in &frame.variables {
            let Some(rest) = rest_after(path, &variable.key) else {
                continue;
            };
            let Some((frame, variable)) = follow(frames, index, variable) else {
                continue;
            };
            if !list
                .iter()
                .any(|(at, known, _)| *at == frame && known.key == variable.key)
            {
                list.push((frame, variable, rest));
            }
        }
    }
    list
}

/// What remains of `sim.pos` after `sim`; nothing if the path is about another variable.
fn rest_after<'n>(path: &'n str, key: &str) -> Option<&'n str> {
    let rest = path.strip_prefix(key)?;
    if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix('.')
    }
}

/// The variable that holds the value: itself, or the one that it is lent to.
pub fn follow<'c>(
    frames: &'c [FrameInfo],
    frame: usize,
    variable: &'c VariableInfo,
) -> Option<(usize, &'c VariableInfo)> {
    match &variable.content {
        VariableContent::Value => Some((frame, variable)),
        VariableContent::Link { frame, key } => {
            let variable = frames
                .get(*frame)?
                .variables
                .iter()
                .find(|variable| variable.key == *key)?;
            Some((*frame, variable))
        }
    }
}

fn unknown(checkpoint: &Restored, name: &str) -> Failure {
    let mut names: Vec<_> = checkpoint
        .frames()
        .iter()
        .flat_map(|frame| &frame.variables)
        .map(|variable| variable.key.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    Failure::usage(says!(
        "E3094: checkpoint {} has no variable `{name}`",
        checkpoint.id()
    ))
    .help_list("it has", names)
}
