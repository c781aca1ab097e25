//! `cargo ckpt inspect`: what a checkpoint holds: frames, variables, values.

use std::path::{Path, PathBuf};

use ckpt::session::job::{COMMAND_NOTE, SOURCES_NOTE};
use ckpt::session::{DEVICES_NOTE, Device, Devices, PLACE_NOTE, VARIABLES_NOTE};
use ckpt::store::{
    CheckpointId, DESCRIPTORS_NOTE, EPOCH_NOTE, FrameInfo, LINKS_NOTE, NAMES_NOTE, Node, NodeKind, Restored,
    VariableContent,
};
use ckpt::value::DType;
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome, says};
use crate::launch::session::whole_number;
use crate::plot::raster::{Plane, Raster, Span};
use crate::plot::{self, Picture};
use crate::render::{self, cut};
use crate::stores::checkpoint::{inspect_command, unreadable};
use crate::stores::lines::{Lines, Ranks};
use crate::stores::{StoreArgs, Which, WhichOnes, id_list};
use crate::values::elements::{Chosen, Elements, indexed};
use crate::values::find::{Found, OF_THREADS, find, no_array, node_of, waits_for_threads, with_elements};
use crate::values::place::in_element;
use crate::values::tree::{self, node_as_json, row, short_type, variables_table};
use crate::values::{is_number, rows, select};

/// Look into a checkpoint: its frames and variables, or the values of one
///
/// Without VAR: the tree of frames with source positions, and every variable with type, shape, size and value or
/// smallest, largest and mean. With VAR: that variable and its elements, or a part of them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Inspect {
    /// Number of the checkpoint, `latest` or `all`; a VAR alone is that of the latest
    #[arg(value_name = "ID")]
    which: Option<String>,
    /// A variable, a part of it, some elements: `sim`, `sim.pos`, `sim.pos[0..10]`, `grid[2, ..5]`, `sim.bodies[3]`, `sim.bodies[3].pos`, `1/n` in frame 1
    #[arg(value_name = "VAR")]
    variable: Option<String>,
    /// Whose file it is, of a program of several processes: a rank, or `all`
    #[arg(long, value_name = "R|all", default_value = "0")]
    rank: Ranks,
    /// Draw the numbers of VAR: a line, or a heat map of its last two dimensions
    #[arg(long, value_name = "FILE.svg|png")]
    plot: Option<PathBuf>,
    /// Take the numbers that are drawn for an array of this shape: ROWS,COLUMNS
    #[arg(long, value_name = "SIZES", value_delimiter = ',', requires = "plot", value_parser = whole_number::<u64>)]
    shape: Vec<u64>,
    /// How many elements are shown at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = whole_number::<u64>)]
    limit: u64,
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt inspect latest
  cargo ckpt inspect energy                the newest value
  cargo ckpt inspect all energy            that of every checkpoint
  cargo ckpt inspect 12 'sim.pos[0..10]'
  cargo ckpt inspect latest grid --plot grid.png

Exit codes: 0 done, 2 no such variable or element, 76 no such checkpoint, 78 it is damaged.";

impl Inspect {
    /// Shows.
    pub fn perform(&self) -> Outcome<u8> {
        let lines = self.store.lines()?;
        let which = self.which()?;
        let ids = match which {
            WhichOnes::One(which) => vec![lines.resolve(which)?],
            WhichOnes::All => {
                lines.is_not_empty()?;
                lines.ids().into_iter().map(CheckpointId).collect()
            }
        };
        if let (Some(to), Some(&id)) = (&self.plot, ids.last()) {
            if which == WhichOnes::All || self.variable().is_none() {
                return Err(
                    Failure::usage(says!("E3115: `--plot` draws one variable of one checkpoint"))
                        .help("name both: `cargo ckpt inspect latest VAR --plot FILE`"),
                );
            }
            let rank = match self.rank {
                Ranks::One(rank) => rank,
                Ranks::All => lines.parts.first().map_or(0, |part| part.rank),
            };
            return self.draw(&lines.load(lines.part(rank)?, id)?, to);
        }
        let mut values = Vec::new();
        let mut exit = 0;
        for (number, id) in ids.into_iter().enumerate() {
            if number > 0 && !self.store.json() {
                render::print("\n");
            }
            match (self.look_at(&lines, id, which, &mut values), which) {
                // The others can be looked at all the same.
                (Err(failure), WhichOnes::All) => {
                    failure.render();
                    exit = failure.exit_code();
                }
                (looked, _) => looked?,
            }
        }
        if self.store.json() {
            match (self.rank, which, values.as_slice()) {
                (Ranks::One(_), WhichOnes::One(_), [one]) => render::print_json(one),
                _ => render::print_json(&json!({ "parts": values })),
            }
        }
        Ok(exit)
    }

    /// The checkpoint that is meant: a word that is none is a variable.
    fn which(&self) -> Outcome<WhichOnes> {
        let latest = WhichOnes::One(Which::Latest);
        let Some(word) = &self.which else {
            return Ok(latest);
        };
        match (word.parse::<WhichOnes>(), &self.variable) {
            (Ok(which), _) => Ok(which),
            (Err(_), None) => Ok(latest),
            (Err(why), Some(_)) => Err(Failure::usage(says!("E3116: `{word}` is no checkpoint"))
                .because(why)
                .help("the checkpoint comes first, then the variable: `cargo ckpt inspect latest grid`")),
        }
    }

    fn variable(&self) -> Option<&str> {
        let is_which = |word: &&String| word.parse::<WhichOnes>().is_err();
        let alone = self.which.as_ref().filter(is_which);
        self.variable.as_ref().or(alone).map(String::as_str)
    }

    /// Prints a checkpoint, or adds what is to be printed of it.
    fn look_at(
        &self,
        lines: &Lines,
        id: CheckpointId,
        which: WhichOnes,
        values: &mut Vec<Value>,
    ) -> Outcome<()> {
        for (number, part) in lines.chosen(self.rank, id)?.into_iter().enumerate() {
            let one = One {
                checkpoint: lines.load(part, id)?,
                rank: lines.several.then_some(part.rank),
            };
            if self.store.json() {
                values.push(self.as_json(&one, which)?);
                continue;
            }
            if number > 0 {
                render::print("\n");
            }
            self.print(&one, lines, which)?;
        }
        Ok(())
    }

    fn print(&self, one: &One, lines: &Lines, which: WhichOnes) -> Outcome<()> {
        if self.variable().is_none() {
            return print_whole(one, lines.ranks());
        }
        let id = one.checkpoint.id();
        let of = match which {
            WhichOnes::All => format!("checkpoint {id}, visit {}, ", one.checkpoint.meta().visit),
            WhichOnes::One(_) => String::new(),
        };
        let rank = one.rank.map_or_else(String::new, |rank| format!("rank {rank}: "));
        self.print_one(&one.checkpoint, &(of + &rank))
    }

    fn as_json(&self, one: &One, which: WhichOnes) -> Outcome<Value> {
        let mut value = match self.variable() {
            None => whole_as_json(&one.checkpoint)?,
            Some(_) => {
                let shown = self.chosen(&one.checkpoint)?;
                one_as_json(&one.checkpoint, &shown)?
            }
        };
        if let Some(rank) = one.rank {
            value["rank"] = json!(rank);
        }
        if which == WhichOnes::All {
            value["id"] = json!(one.checkpoint.id().0);
        }
        Ok(value)
    }

    /// Draws the variable that is asked for.
    fn draw(&self, checkpoint: &Restored, to: &Path) -> Outcome<u8> {
        let (name, inside) = select::split(self.variable().unwrap_or_default())?;
        let found = with_elements(find(checkpoint, &name)?);
        let of_lists = rows::rectangle(checkpoint, found.node).map_err(unreadable(found.node))?;
        let node = of_lists.as_ref().map_or(found.node, |(node, _)| node);
        let NodeKind::Dataset { dtype, shape, .. } = &node.kind else {
            return Err(no_numbers(&found.name));
        };
        let shape = of_lists.as_ref().map_or(shape, |(_, shape)| shape);
        if !is_number(dtype) {
            return Err(no_numbers(&found.name));
        }
        let as_wished: u64 = self.shape.iter().product();
        let shape = match self.shape.is_empty() {
            true => shape,
            false if as_wished == shape.iter().product::<u64>() => &self.shape,
            false => {
                return Err(Failure::usage(says!(
                    "E3107: `{}` has not the shape {:?}",
                    found.name,
                    self.shape
                ))
                .help(format!(
                    "it is {shape:?}, of {} elements",
                    shape.iter().product::<u64>()
                )));
            }
        };
        let bounds = select::bounds(inside.as_deref(), shape)?;
        if select::count(&bounds) == 0 {
            return Err(
                Failure::usage(says!("E3137: `{}` has no elements to draw", found.name))
                    .help(format!("its shape is {shape:?}")),
            );
        }
        let index: Vec<u64> = bounds.iter().map(|(from, _)| *from).collect();
        let plane = Plane::with(&index, shape).within(&bounds);
        let raster = plane.of_numbers(checkpoint, node)?;
        let picture = Picture {
            title: format!("{}{} {shape:?}", found.name, plane.words(shape)),
            subtitle: format!(
                "{}{}{}, checkpoint {} of {} (visit {})",
                dtype.name(),
                if found.packed_in.is_some() {
                    ", of the elements that have one"
                } else {
                    ""
                },
                if is_rounded(&raster, dtype) {
                    ", rounded to 16 digits"
                } else {
                    ""
                },
                checkpoint.id(),
                cut(&checkpoint.meta().program, LONGEST_NAME),
                checkpoint.meta().visit
            ),
            raster,
            range: None,
            logarithmic: false,
        };
        plot::draw(&picture, to)?;
        if !self.store.json() {
            render::print(&format!("Drawn: {}, in {}\n", found.name, to.display()));
        }
        Ok(0)
    }

    /// The variable that is asked for, and its elements, or those of its fields by their paths.
    fn chosen<'c>(&self, checkpoint: &'c Restored) -> Outcome<Shown<'c>> {
        let typed = self.variable().unwrap_or_default();
        if let Some((found, chosen)) = in_element(checkpoint, typed, self.limit)? {
            return Ok(Shown {
                found,
                elements: vec![(String::new(), chosen)],
                is_in_element: true,
            });
        }
        let (name, inside) = select::split(typed)?;
        let mut found = find(checkpoint, &name)?;
        if inside.is_some() {
            found = with_elements(found);
        }
        let elements = match self.rows(checkpoint, found.node, inside.as_deref())? {
            Some(chosen) => vec![(String::new(), chosen)],
            None => {
                let indexed = match inside {
                    Some(_) => indexed_or_not(&found.name, found.node)?,
                    None => Elements::of(found.node)
                        .map(|elements| (String::new(), elements))
                        .into_iter()
                        .collect(),
                };
                let chosen = |(path, elements): (String, Elements<'_>)| {
                    Ok((path, elements.chosen(checkpoint, inside.as_deref(), self.limit)?))
                };
                indexed.into_iter().map(chosen).collect::<Outcome<_>>()?
            }
        };
        Ok(Shown {
            found,
            elements,
            is_in_element: false,
        })
    }

    /// Elements of a list that is not stored in arrays of one length.
    fn rows(&self, checkpoint: &Restored, node: &Node, inside: Option<&str>) -> Outcome<Option<Chosen>> {
        let number = rows::count(node).filter(|_| rows::is_list(node) && indexed(node).is_empty());
        let (Some(number), Some(inside)) = (number, inside) else {
            return Ok(None);
        };
        let bounds = select::bounds(Some(inside), &[number])?;
        let (from, to) = bounds.first().copied().unwrap_or_default();
        let shown = from..to.min(from.saturating_add(self.limit));
        let texts = shown.map(|row| rows::text(checkpoint, node, row).map_err(unreadable(node)));
        Ok(Some(Chosen {
            runs: vec![(vec![from], texts.collect::<Outcome<_>>()?)],
            number: to - from,
            ..Chosen::default()
        }))
    }

    fn print_one(&self, checkpoint: &Restored, whose: &str) -> Outcome<()> {
        let shown = self.chosen(checkpoint)?;
        let found = &shown.found;
        let frame = &checkpoint.frames()[found.frame];
        let (variable, rust_type) = (&found.variable, short_type(&found.variable.rust_type));
        let place = format!("{}:{}", frame.file, variable.line);
        render::print(&format!(
            "{whose}{}: {rust_type}, in `{}` ({place})\n\n",
            variable.key, frame.function
        ));
        if waits_for_threads(checkpoint, found.frame) {
            render::print(&format!("{OF_THREADS}\n\n"));
        }
        // What is in an element has no column of its own.
        if shown.is_in_element {
            for (_, chosen) in &shown.elements {
                let is_one = chosen.runs.iter().all(|(index, _)| index.is_empty());
                self.print_elements(if is_one { found.name.as_str() } else { "" }, chosen);
            }
            return Ok(());
        }
        let mut table = variables_table();
        row(&mut table, checkpoint, found.node, &found.name, 0)?;
        tree::print_variables(&table);
        self.hint(checkpoint, found);
        // A single value stands in the table already.
        let is_part = self.variable().is_some_and(|text| text.contains('['));
        if is_part || Elements::of(found.node).is_some_and(|elements| !elements.shape().is_empty()) {
            render::print("\n");
            for (path, chosen) in &shown.elements {
                self.print_elements(path, chosen);
            }
        }
        Ok(())
    }

    /// What has to be known to name the elements.
    fn hint(&self, checkpoint: &Restored, found: &Found<'_>) {
        let name = &found.name;
        let has_brackets = self.variable().is_some_and(|text| text.contains('['));
        if let Some(list) = &found.packed_in {
            render::print(&format!(
                "\nIndices count the values that are there, not the elements of `{list}`: `{list}[..]` shows those.\n"
            ));
        } else if !has_brackets
            && rows::count(found.node)
                .or(rows::entries(found.node))
                .is_some_and(|number| number > 0)
            && indexed(found.node).is_empty()
        {
            let command = inspect_command(checkpoint, false, &format!("{name}[..]"));
            render::print(&format!("\nIts elements: {command}\n"));
        }
    }

    fn print_elements(&self, path: &str, chosen: &Chosen) {
        let mut text = String::new();
        for (index, values) in &chosen.runs {
            for (offset, value) in values.iter().enumerate() {
                let mut at = index.clone();
                if let Some(last) = at.last_mut() {
                    *last += offset as u64;
                }
                let index = match at.is_empty() {
                    true => String::new(),
                    false => format!("{at:?}"),
                };
                text += &format!("{path}{index} {}\n", chosen.sort.words(value));
            }
        }
        if chosen.number > self.limit {
            let more = chosen.number - self.limit;
            text += &format!("... {more} more; choose some with `[FROM..TO]`, or raise `--limit`\n");
        }
        render::print(&text);
    }
}

/// What brackets behind the name of a variable choose from.
pub fn indexed_or_not<'c>(name: &str, node: &'c Node) -> Outcome<Vec<(String, Elements<'c>)>> {
    let list = indexed(node);
    if list.is_empty() {
        return Err(no_array(name, node));
    }
    Ok(list)
}

/// As much of a program's name as a picture has room for.
const LONGEST_NAME: usize = 24;

/// Up to here an `f64` holds every integer.
const LARGEST_EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

/// Whether what is drawn are integers that an `f64` does not hold.
fn is_rounded(raster: &Raster, dtype: &DType) -> bool {
    let is_large = |span: &Span| span.low.abs().max(span.high.abs()) > LARGEST_EXACT;
    !matches!(dtype, DType::F32 | DType::F64) && raster.spans.iter().any(is_large)
}

fn no_numbers(name: &str) -> Failure {
    Failure::usage(says!("E3103: `{name}` is no array of numbers"))
        .help("`cargo ckpt inspect ID` shows the types")
}

/// What is shown of a checkpoint.
struct Shown<'c> {
    found: Found<'c>,
    /// Elements by their path from there.
    elements: Vec<(String, Chosen)>,
    /// Whether it is in an element of a list, and its values are some of a column.
    is_in_element: bool,
}

fn one_as_json(checkpoint: &Restored, shown: &Shown<'_>) -> Outcome<Value> {
    let found = &shown.found;
    let mut value = match shown.is_in_element {
        true => json!({ "path": found.node.path }),
        false => node_as_json(checkpoint, found.node)?,
    };
    value["name"] = json!(found.name);
    value["frame"] = json!(found.frame);
    value["waits_for_threads"] = json!(waits_for_threads(checkpoint, found.frame));
    // The file has the types of variables, not of what is in them.
    let is_whole = found.name == found.variable.key;
    value["rust_type"] = json!(is_whole.then_some(&found.variable.rust_type));
    let mut elements = Vec::new();
    for (path, chosen) in &shown.elements {
        for (index, values) in &chosen.runs {
            let values: Vec<_> = values.iter().map(|value| chosen.sort.json(value)).collect();
            let mut run = json!({ "index": index, "values": values });
            if let Some(field) = path.strip_prefix('.') {
                run["field"] = json!(field);
            }
            elements.push(run);
        }
    }
    value["elements"] = json!(elements);
    Ok(value)
}

/// The command line of a run as one types it in a shell.
fn as_typed(note: &str, text: &str) -> Option<String> {
    let words: Vec<String> = (note == COMMAND_NOTE).then(|| serde_json::from_str(text).ok())??;
    shlex::try_join(words.iter().map(String::as_str)).ok()
}

/// A rank's file of the checkpoint.
struct One {
    checkpoint: Restored,
    /// Whose it is, where there are several.
    rank: Option<u32>,
}

fn print_whole(One { checkpoint, rank }: &One, ranks: usize) -> Outcome<()> {
    let meta = checkpoint.meta();
    let whose = rank.map_or_else(String::new, |rank| format!(", rank {rank} of {ranks}"));
    render::print(&format!(
        "Checkpoint {} of {} {}{whose}, taken {} on {} at site visit {} ({})\n{}{}\n",
        checkpoint.id(),
        meta.program,
        meta.version,
        meta.time_text(),
        meta.host,
        meta.visit,
        meta.reason,
        checkpoint.path().display(),
        elsewhere(checkpoint)
    ));
    let for_ckpt = [
        EPOCH_NOTE,
        LINKS_NOTE,
        NAMES_NOTE,
        SOURCES_NOTE,
        PLACE_NOTE,
        DEVICES_NOTE,
        DESCRIPTORS_NOTE,
        VARIABLES_NOTE,
    ];
    let is_for_people = |name: &str| !for_ckpt.contains(&name);
    for (name, text) in meta.notes.iter().filter(|(name, _)| is_for_people(name)) {
        let text = as_typed(name, text).unwrap_or_else(|| text.clone());
        render::print(&format!("{name}: {text}\n"));
    }
    let devices = devices(checkpoint);
    for (title, list) in [("computed on", &devices.computes_on), ("shown", &shown(&devices))] {
        if !list.is_empty() {
            render::print(&format!("{title}: {}\n", in_words(list)));
        }
    }
    for (index, frame) in checkpoint.frames().iter().enumerate() {
        render::print(&format!("\n{index}  {}\n", frame_line(frame)));
        if waits_for_threads(checkpoint, index) {
            render::print(&format!("{OF_THREADS}\n"));
        }
        print_variables(checkpoint, index, frame)?;
    }
    print_group(checkpoint, "statics", "Statics:", "")?;
    print_group(checkpoint, "shared", "Shared objects (Rc, Arc):", "shared ")
}

/// What the checkpoint has noted of devices; nothing of a program that has asked for none.
fn devices(checkpoint: &Restored) -> Devices {
    let mut notes = checkpoint.meta().notes.iter();
    let note = notes.find(|(name, _)| name == DEVICES_NOTE);
    note.and_then(|(_, text)| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// The devices that the program had been shown.
fn shown(devices: &Devices) -> Vec<Device> {
    let of_platforms = devices.platforms.iter().filter_map(|one| one.devices.as_deref());
    let all = of_platforms.chain(devices.adapters.values().map(Vec::as_slice));
    all.flatten().cloned().collect()
}

/// For people: those that are alike are counted.
fn in_words(devices: &[Device]) -> String {
    let words = |one: &Device| {
        format!(
            "`{}` ({} of {}, {})",
            one.name, one.kind, one.vendor, one.platform
        )
    };
    let mut counted: Vec<(String, usize)> = Vec::new();
    for one in devices.iter().map(words) {
        match counted.iter_mut().find(|(words, _)| *words == one) {
            Some((_, count)) => *count += 1,
            None => counted.push((one, 1)),
        }
    }
    let each = counted.into_iter().map(|(words, count)| match count {
        1 => words,
        more => format!("{more} times {words}"),
    });
    each.collect::<Vec<_>>().join(", ")
}

fn devices_as_json(devices: &[Device]) -> Value {
    let each = devices.iter().map(
        |one| json!({ "name": one.name, "kind": one.kind, "vendor": one.vendor, "platform": one.platform }),
    );
    each.collect()
}

/// The checkpoints that have what this one has not.
fn needs(checkpoint: &Restored) -> Vec<u64> {
    checkpoint.needs().iter().map(|id| id.0).collect()
}

/// Where the rest lies, if the file holds only what had changed.
pub fn elsewhere(checkpoint: &Restored) -> String {
    let needs = needs(checkpoint);
    match needs.is_empty() {
        true => String::new(),
        false => format!(", holds what had changed; the rest lies in {}", id_list(&needs)),
    }
}

/// A group beside the frames, if the checkpoint has it.
fn print_group(checkpoint: &Restored, group: &str, title: &str, before_name: &str) -> Outcome<()> {
    let children = checkpoint.tree().children();
    if let Some(found) = children.iter().find(|node| node.name == group) {
        render::print(&format!("\n{title}\n"));
        let mut table = variables_table();
        for node in found.children() {
            row(
                &mut table,
                checkpoint,
                node,
                &format!("{before_name}{}", node.name),
                0,
            )?;
        }
        tree::print_variables(&table);
    }
    Ok(())
}

fn frame_line(frame: &FrameInfo) -> String {
    let site = match &frame.callee {
        Some(callee) => format!("in the call of `{callee}`"),
        None => "at its checkpoint".to_owned(),
    };
    let thread = match frame.thread {
        0 => String::new(),
        member => format!(", thread {member} of the team"),
    };
    format!(
        "{} {site}, {}:{}:{}{thread}",
        frame.function, frame.file, frame.site_line, frame.site_column
    )
}

fn print_variables(checkpoint: &Restored, index: usize, frame: &FrameInfo) -> Outcome<()> {
    if frame.variables.is_empty() {
        render::print("   (no variables)\n");
        return Ok(());
    }
    let mut table = variables_table();
    for variable in &frame.variables {
        if let VariableContent::Link { frame, key } = &variable.content {
            let of = checkpoint
                .frames()
                .get(*frame)
                .map_or("?", |frame| frame.function.as_str());
            table.add_row([
                variable.key.clone(),
                String::new(),
                String::new(),
                String::new(),
                format!("is `{key}` of {of}, frame {frame}"),
            ]);
            continue;
        }
        match node_of(checkpoint, index, &variable.key) {
            Some(node) => row(&mut table, checkpoint, node, &variable.key, 0)?,
            None => {
                let size = render::bytes(variable.bytes);
                table.add_row([
                    variable.key.clone(),
                    short_type(&variable.rust_type),
                    "empty".into(),
                    size,
                    String::new(),
                ]);
            }
        }
    }
    tree::print_variables(&table);
    Ok(())
}

fn whole_as_json(checkpoint: &Restored) -> Outcome<Value> {
    let meta = checkpoint.meta();
    let mut frames = Vec::new();
    for (index, frame) in checkpoint.frames().iter().enumerate() {
        let mut variables = Vec::new();
        for variable in &frame.variables {
            let mut value = match (&variable.content, node_of(checkpoint, index, &variable.key)) {
                (VariableContent::Link { frame, key }, _) => {
                    json!({ "link": { "frame": frame, "key": key } })
                }
                (_, Some(node)) => node_as_json(checkpoint, node)?,
                (_, None) => json!({}),
            };
            value["name"] = json!(variable.key);
            value["rust_type"] = json!(variable.rust_type);
            value["line"] = json!(variable.line);
            value["parameter"] = json!(variable.parameter);
            variables.push(value);
        }
        frames.push(json!({
            "function": frame.function, "module": frame.module, "file": frame.file, "line": frame.line,
            "site": frame.site, "site_line": frame.site_line, "site_column": frame.site_column,
            "thread": frame.thread, "waits_for_threads": waits_for_threads(checkpoint, index),
            "callee": frame.callee, "layout": format!("{:016x}", frame.layout),
            "source": format!("{:016x}", frame.source), "variables": variables,
        }));
    }
    let devices = devices(checkpoint);
    Ok(json!({
        "id": checkpoint.id().0, "path": checkpoint.path(), "program": meta.program, "version": meta.version,
        "visit": meta.visit, "time": meta.time_text(), "reason": meta.reason, "host": meta.host,
        "notes": meta.notes, "frames": frames,
        "computed_on": devices_as_json(&devices.computes_on), "shown_devices": devices_as_json(&shown(&devices)),
        "needs": needs(checkpoint),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_are_alike_are_counted() {
        let device = |name: &str| Device {
            name: name.into(),
            vendor: "v".into(),
            platform: "p".into(),
            kind: "CPU".into(),
            shown_as: 0,
        };
        let text = in_words(&[device("a"), device("b"), device("a")]);
        assert_eq!(text, "2 times `a` (CPU of v, p), `b` (CPU of v, p)");
        assert_eq!(devices_as_json(&[device("a")])[0]["platform"], json!("p"));
    }

    #[test]
    fn a_command_is_shown_as_one_types_it() {
        let note = r#"["./heat","my deck.toml","--title","it's","n=3"]"#;
        let typed = as_typed(COMMAND_NOTE, note).unwrap();
        let words: Vec<String> = serde_json::from_str(note).unwrap();
        assert_eq!(shlex::split(&typed), Some(words));
        assert!(typed.starts_with("./heat 'my deck.toml' --title "), "{typed}");
        assert_eq!(as_typed("other", note), None);
        assert_eq!(as_typed(COMMAND_NOTE, "no list"), None);
    }
}
