//! `cargo ckpt diff`: where two checkpoints, or two runs, part.

mod again;
mod runs;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ckpt::store::{CheckpointId, NodeKind, Restored, columns_of, file_of, printable};
use serde_json::{Value, json};

use crate::commands::inspect::elsewhere;
use crate::failure::{Failure, Outcome, code, says};
use crate::launch::session::whole_number;
use crate::plot::raster::Plane;
use crate::plot::{self, Picture};
use crate::render::{self, cut};
use crate::stores::lines::{Lines, Part, Ranks, rank_list};
use crate::stores::{self, StoreArgs, Which};
use crate::values::differ::{self, Difference, Element, Pair};
use crate::values::tolerance::Tolerance;

/// Compare two checkpoints, or two runs: where they part
///
/// A checkpoint is a number or `latest` in the store, or the path of a file in any store. A run is `run:RUN`, its identity or how it
/// begins, or a store: its newest run. Of two runs the checkpoints are compared that both have taken at the same visit, and
/// the first at which the runs part is shown.
/// Without a tolerance the bytes decide. With one, two numbers are the same if |a - b| <= ABS + REL * max(|a|, |b|), or,
/// with `--ulp`, if there are not more floating-point numbers between them. Of a program of several processes the
/// files of all ranks are compared, each with that of the same rank.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Diff {
    /// The first checkpoint, or the first run
    #[arg(value_name = "A")]
    a: String,
    /// The second checkpoint, or the second run
    #[arg(value_name = "B")]
    b: String,
    /// How far numbers may be apart: ABS or ABS,REL
    #[arg(long, value_name = "ABS[,REL]", value_parser = Tolerance::parse_distance)]
    tolerance: Option<Tolerance>,
    /// How many steps from one floating-point number to the next numbers may be apart
    #[arg(long, value_name = "N", conflicts_with = "tolerance", value_parser = whole_number::<u64>)]
    ulp: Option<u64>,
    /// Leave these variables out: `started`, `main/started`, or all below `main/clock`
    #[arg(long, value_name = "NAME")]
    ignore: Vec<String>,
    /// Draw the differences of the first array that differs: a heat map, by the logarithm
    #[arg(long, value_name = "FILE.svg|png")]
    plot: Option<PathBuf>,
    /// Only the files of this rank
    #[arg(long, value_name = "R|all", default_value = "all")]
    rank: Ranks,
    /// How many elements of each variable are shown
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole_number::<usize>)]
    first: usize,
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt diff 3 4
  cargo ckpt diff latest other/heat.ckpt.d/000004.r0.h5 --tolerance 1e-12,1e-9
  cargo ckpt diff monday.ckpt.d tuesday.ckpt.d --ulp 4 --plot first.svg
  cargo ckpt diff run:1a2b3c4d run:5e6f

Exit codes: 0 the same, 1 different, 76 no such checkpoint.";

impl Diff {
    /// Compares.
    pub fn perform(&self) -> Outcome<u8> {
        match (
            runs::named(&self.a, &self.store)?,
            runs::named(&self.b, &self.store)?,
        ) {
            (Some(a), Some(b)) => return runs::compare(self, a, b),
            (Some(_), None) => no_run(&self.b, &self.a)?,
            (None, Some(_)) => no_run(&self.a, &self.b)?,
            (None, None) => {}
        }
        let (a, b) = (Path::new(&self.a), Path::new(&self.b));
        // Beside a store there has to be another one: that is the one to blame.
        for (store, other) in [(a, b), (b, a)] {
            if store.is_dir() && !other.exists() && other.to_string_lossy().parse::<Which>().is_err() {
                stores::existing(other, Path::new("."), "")?;
            }
        }
        let pairs = self.pairs()?;
        self.knows_what_to_ignore(&pairs)?;
        let mut compared = Vec::new();
        for (rank, a, b) in pairs {
            compared.push(self.compared(rank, a, b)?);
        }
        let same = compared.iter().all(|one| one.list.is_empty());
        if self.store.json() {
            let differences: Vec<Value> = compared.iter().flat_map(Compared::as_json).collect();
            render::print_json(&json!({ "same": same, "differences": differences }));
        } else {
            print(&compared);
        }
        self.plot(&compared)?;
        Ok(if same { 0 } else { code::NO })
    }

    /// The options that say what is the same, as they are typed.
    fn repeated(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
        if let Some(Tolerance::Distance { absolute, relative }) = self.tolerance {
            add("--tolerance", format!("{absolute:e},{relative:e}"));
        }
        self.ulp.iter().for_each(|ulp| add("--ulp", ulp.to_string()));
        self.ignore.iter().for_each(|name| add("--ignore", name.clone()));
        if let Ranks::One(rank) = self.rank {
            add("--rank", rank.to_string());
        }
        words
    }

    /// What is left out has to be there: a misspelt name would leave nothing out.
    fn knows_what_to_ignore(&self, pairs: &[(Option<u32>, Restored, Restored)]) -> Outcome<()> {
        let all = || pairs.iter().flat_map(|(_, a, b)| [a, b]);
        let names: BTreeSet<String> = all().flat_map(differ::places).collect();
        let is_known = |name: &str| {
            names
                .iter()
                .any(|place| is_of(name, place) || is_of(place, name) || is_below(name, place))
        };
        match self.ignore.iter().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(name) => Err(Failure::usage(says!(
                "E3138: neither checkpoint has a `{name}` that could be left out"
            ))
            .help_list("there are", names)),
        }
    }

    /// Compares two files of the same rank.
    fn compared(&self, rank: Option<u32>, a: Restored, b: Restored) -> Outcome<Compared> {
        let pair = Pair {
            a: &a,
            b: &b,
            tolerance: self.ulp.map(Tolerance::Ulps).or(self.tolerance),
            shown: self.first,
        };
        let mut list = pair.differences()?;
        list.retain(|one| !self.ignore.iter().any(|name| is_of(&one.place, name)));
        Ok(Compared { rank, a, b, list })
    }

    /// Draws the first array that differs, if that is wanted.
    fn plot(&self, compared: &[Compared]) -> Outcome<()> {
        let Some(to) = &self.plot else { return Ok(()) };
        let arrays = compared
            .iter()
            .flat_map(|one| one.list.iter().map(move |difference| (one, difference)));
        let mut arrays = arrays.filter(|(_, difference)| difference.elements.is_some_and(|(_, of)| of > 1));
        let found =
            arrays.find_map(|(one, difference)| Some((one, difference, difference.numbers.as_ref()?)));
        let Some((one, difference, paths)) = found else {
            if !self.store.json() {
                render::print("No array of numbers differs: nothing was drawn.\n");
            }
            return Ok(());
        };
        plot::draw(&one.picture(difference, paths)?, to)?;
        if !self.store.json() {
            render::print(&format!("Drawn: {}, in {}\n", difference.named(), to.display()));
        }
        Ok(())
    }

    /// What is compared with what, and the rank, where there are several.
    fn pairs(&self) -> Outcome<Vec<(Option<u32>, Restored, Restored)>> {
        let (a, b) = (side(&self.a, &self.store)?, side(&self.b, &self.store)?);
        if let (Side::Line(a_lines, a), Side::Line(b_lines, b)) = (&a, &b) {
            let mut pairs = Vec::new();
            for part in a_lines.chosen(self.rank, *a)? {
                let name = a_lines.several.then_some(part.rank);
                pairs.push((name, a_lines.load(part, *a)?, b_lines.load(part, *b)?));
            }
            return Ok(pairs);
        }
        // A file is that of one rank, and is compared with that of the same, unless another is asked for.
        let of_file = [&a, &b].into_iter().find_map(|side| match side {
            Side::File(_, part, _) => Some(part.rank),
            Side::Line(..) => None,
        });
        let rank = match self.rank {
            Ranks::One(rank) => rank,
            Ranks::All => of_file.unwrap_or(0),
        };
        Ok(vec![(None, a.load(rank)?, b.load(rank)?)])
    }
}

/// Whether a place is a variable of that name, with its function's name in front or without, or below it.
fn is_of(place: &str, name: &str) -> bool {
    let variable = place.split_once('/').map_or(place, |(_, variable)| variable);
    let starts = [place, variable].map(|whole| whole.strip_prefix(name));
    let mut rests = starts.into_iter().flatten();
    rests.any(|rest| rest.is_empty() || rest.starts_with(['.', '/']))
}

/// Whether a name is that of something below a place.
fn is_below(name: &str, place: &str) -> bool {
    let variable = place.split_once('/').map_or(place, |(_, variable)| variable);
    [place, variable]
        .iter()
        .any(|whole| name.strip_prefix(whole).is_some_and(|rest| rest.starts_with('.')))
}

/// Beside a run there has to be another one: what is there and is none is to blame.
fn no_run(name: &str, run: &str) -> Outcome<()> {
    if !Path::new(name).exists() && name.parse::<Which>().is_err() {
        return Ok(());
    }
    Err(
        Failure::usage(says!("E3121: `{name}` is no run, and `{run}` is compared with one"))
            .help("name another store, or `run:RUN`; a checkpoint is compared with a checkpoint: its number, or its file"),
    )
}

/// One of the two that are compared.
enum Side {
    /// All files of a number.
    Line(Lines, CheckpointId),
    /// One file.
    File(Lines, Part, CheckpointId),
}

impl Side {
    fn load(&self, rank: u32) -> Outcome<Restored> {
        match self {
            Side::File(lines, part, id) => lines.load(part, *id),
            Side::Line(lines, id) => lines.load(lines.part(rank)?, *id),
        }
    }
}

fn side(name: &str, store: &StoreArgs) -> Outcome<Side> {
    if let Ok(which) = name.parse::<Which>() {
        let lines = store.lines()?;
        let id = lines.resolve(which)?;
        return Ok(Side::Line(lines, id));
    }
    let path = Path::new(name);
    let file = path.file_name().and_then(|name| file_of(name.to_str()?));
    let Some((id, rank)) = file.filter(|_| path.is_file()) else {
        return Err(Failure::usage(says!(
            "E3003: `{name}` is neither a checkpoint's number nor its file"
        ))
        .help("write a number, `latest`, or a path such as `heat.ckpt.d/000004.r0.h5`"));
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let lines = Lines::of(&folder)?;
    Ok(Side::File(lines, Part { rank, folder }, id))
}

/// Two files that have been compared.
struct Compared {
    /// Whose they are, where there are several ranks.
    rank: Option<u32>,
    a: Restored,
    b: Restored,
    list: Vec<Difference>,
}

impl Compared {
    /// The distances of two arrays; of more than two dimensions, those in the plane of the first difference.
    fn picture(&self, difference: &Difference, paths: &(String, String)) -> Outcome<Picture> {
        let node = |checkpoint: &'_ Restored, path: &str| {
            let found = checkpoint.tree().find(path).cloned();
            found.ok_or_else(|| Failure::store(says!("E3091: cannot read {}", path.trim())))
        };
        let (a, b) = (node(&self.a, &paths.0)?, node(&self.b, &paths.1)?);
        let shape = match &a.kind {
            NodeKind::Dataset { shape, .. } => shape.clone(),
            _ => Vec::new(),
        };
        let index = difference.first.first().map(|element| element.index.clone());
        let plane = Plane::with(&index.unwrap_or_default(), &shape);
        let raster = plane.of_distances((&self.a, &a), (&self.b, &b))?;
        let of = |one: &Restored| format!("checkpoint {} (visit {})", one.id(), one.meta().visit);
        Ok(Picture {
            title: format!("{}{} {shape:?}: |a - b|", difference.named(), plane.words(&shape)),
            subtitle: format!("a: {}, b: {}; grey: the same", of(&self.a), of(&self.b)),
            raster,
            range: None,
            logarithmic: true,
        })
    }

    fn as_json(&self) -> Vec<Value> {
        let one = |difference: &Difference| {
            let mut value = json!(difference);
            if let Some(rank) = self.rank {
                value["rank"] = json!(rank);
            }
            value
        };
        self.list.iter().map(one).collect()
    }
}

fn print(compared: &[Compared]) {
    let differ: Vec<&Compared> = compared.iter().filter(|one| !one.list.is_empty()).collect();
    if differ.is_empty() {
        if let Some(first) = compared.first() {
            print_head(first);
        }
        match compared.len() {
            1 => render::print("The same.\n"),
            ranks => render::print(&format!("The same on all {ranks} ranks.\n")),
        }
        return;
    }
    for one in &differ {
        print_head(one);
        print_differences(&one.list);
    }
    let ranks: Vec<u32> = differ.iter().filter_map(|one| one.rank).collect();
    let of = rank_list(&ranks).map_or_else(String::new, |ranks| format!(" ({ranks})"));
    let number = differ.iter().map(|one| one.list.len()).sum();
    render::print(&format!("{}{of}\n", render::count(number, "difference")));
}

fn print_head(one: &Compared) {
    let head = |name: &str, one: &Restored| {
        let meta = one.meta();
        format!(
            "{name}: {}{} ({} {}, visit {})\n",
            one.path().display(),
            elsewhere(one),
            meta.program,
            meta.version,
            meta.visit
        )
    };
    let rank = one.rank.map_or_else(String::new, |rank| format!("rank {rank}\n"));
    render::print(&format!("{rank}{}{}\n", head("a", &one.a), head("b", &one.b)));
}

/// A table, or a list where there is no room for one.
fn print_differences(list: &[Difference]) {
    let mut table = render::table(&["WHERE", "WHAT", "FIRST AT", "A", "B", "FARTHEST APART"]);
    for difference in list {
        let mut elements = difference.first.iter();
        let mut cells = || match elements.next() {
            Some(element) => {
                let (a, b) = shown(element);
                [at(element), a, b]
            }
            None => Default::default(),
        };
        let [at, a, b] = cells();
        table.add_row([
            &difference.named(),
            &difference.what,
            &at,
            &a,
            &b,
            &difference.apart(),
        ]);
        for _ in difference.first.iter().skip(1) {
            let [at, a, b] = cells();
            table.add_row(["", "", &at, &a, &b, ""]);
        }
    }
    match columns_of(std::io::stdout()).filter(|columns| !table.fits(*columns)) {
        None => render::print_table(&table),
        Some(columns) => list.iter().for_each(|one| print_difference(one, columns)),
    }
    render::print("\n");
}

/// A difference over as many lines as it takes.
fn print_difference(difference: &Difference, columns: usize) {
    let apart = difference.apart();
    let apart = match apart.is_empty() {
        true => apart,
        false => format!("; farthest apart: {apart}"),
    };
    let mut text = format!("{}: {}{apart}\n", difference.named(), difference.what);
    for element in &difference.first {
        let at = at(element);
        let (first, next) = match at.is_empty() {
            true => ("  ".to_owned(), "  ".to_owned()),
            false => (format!("  {at}  "), " ".repeat(at.chars().count() + 4)),
        };
        let (a, b) = shown(element);
        let line = format!("{first}a {a}, b {b}");
        text += &match line.chars().count() <= columns {
            true => line + "\n",
            false => {
                let room = columns.saturating_sub(next.len() + 2);
                format!("{first}a {}\n{next}b {}\n", cut(&a, room), cut(&b, room))
            }
        };
    }
    render::print(&text);
}

fn at(element: &Element) -> String {
    match element.index.as_slice() {
        [] => String::new(),
        index => format!("{index:?}"),
    }
}

/// As much of both values of an element as there is room for: of long ones what is around their first difference.
fn shown(element: &Element) -> (String, String) {
    // Of integers nothing is cut off.
    const LONGEST: usize = 40;
    const BEFORE: usize = 8;
    let (a, b) = (printable(&element.a), printable(&element.b));
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let from = match a.chars().count().max(b.chars().count()) > LONGEST {
        true => same.saturating_sub(BEFORE),
        false => 0,
    };
    let around = |text: &str| {
        let rest: String = text.chars().skip(from).collect();
        let before = if from > 0 { "\u{2026}" } else { "" };
        cut(&format!("{before}{rest}"), LONGEST)
    };
    (around(&a), around(&b))
}
