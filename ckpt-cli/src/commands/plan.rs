//! `cargo ckpt plan`: where checkpoints would go, and what they would hold.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use ckpt_compiler::Memory;

use crate::cargo::CargoOptions;
use crate::failure::{AboutFile, Failure, Outcome, code, says};
use crate::launch::session::time;
use crate::package::build::driver;
use crate::package::build::driver::{Wanted, known_of_builds, rewrite};
use crate::package::copy::home::Busy;
use crate::package::read::ReadPackage;
use crate::package::show::page;
use crate::package::show::plan::{FunctionPlan, Plan, ProtectionPlan, SiteArrays, Totals};
use crate::package::show::stage::{Stage, artefact};
use crate::package::{profile, read};
use crate::render::{self, FormatOption};

/// Show where checkpoints would go and what they would hold
///
/// Reads the package as it is and changes nothing: which loops carry the run, in which of them a checkpoint can be taken,
/// which functions lead there, and what becomes of every variable at a restart. Costs are estimates from the source; with
/// `--profile`, the program is built once with counters and optimisations and run with ARGS in the current folder, and
/// the costs are those of that run: for this plan, and for later plans, rewrites and runs until the sources change.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct PlanCommand {
    /// Write a page with the annotated source to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Ask rustc too: sites that the types of the program forbid are moved, and the attributes that types need are shown
    #[arg(long)]
    check: bool,
    /// Show instead what the memory of each variable needs against soft errors, and the share of each class
    #[arg(long, conflicts_with = "html")]
    protection: bool,
    /// Show instead what one stage of the compiler has made
    #[arg(long, value_name = "STAGE", conflicts_with_all = ["html", "check", "protection"])]
    stage: Option<Stage>,
    /// Number of ranks that the program is run with; otherwise 1, 2, 3, 4, 5 and 8 are tried
    #[arg(short = 'n', long, value_name = "N")]
    ranks: Option<usize>,
    /// Show all loops, not only the costliest ten
    #[arg(long)]
    all: bool,
    /// End the run of `--profile` after this much time: what it has done until then counts; `0s` for no limit
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    profile_for: String,
    #[command(flatten)]
    format: FormatOption,
    #[command(flatten)]
    cargo: CargoOptions,
    /// Arguments for the program, with `--profile`
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt plan --release
  cargo ckpt plan --html plan.html
  cargo ckpt plan --check
  cargo ckpt plan --profile -- deck.toml
  cargo ckpt plan --protection
  cargo ckpt plan --stage calls

Exit codes: 0 there is a place for checkpoints, 1 there is none, 78 ckpt.toml is wrong, 101 the package cannot be read.";

/// Loops shown without `--all`.
const FEW: usize = 10;

impl PlanCommand {
    /// Reads, analyses, shows.
    pub fn perform(&self) -> Outcome<u8> {
        let options = self.measured()?;
        let mut package = read::read(&options)?;
        let analysis = profile::analyse(&mut package);
        let main = driver::main_of(&package, &analysis)?;
        if self.check {
            let _busy = Busy::with(package.target_directory());
            let rewritten = rewrite(
                &options,
                Wanted::Sources,
                (package, analysis),
                profile::analyse,
                self.ranks,
            );
            if let (Err(failure), true) = (&rewritten, self.format.json()) {
                render::print_json(&failure.as_data());
            }
            return match rewritten.map_err(Failure::into_an_answer)? {
                Some(rewritten) => self.show(Plan::of_checked(&rewritten), &rewritten.package),
                None => {
                    render::print("There is no place for a checkpoint.\n");
                    Ok(code::NO)
                }
            };
        }
        driver::detectors_of(&package, &analysis)?;
        // What a build has learnt of rustc holds for a plan of the same sources.
        let (wishes, asked) = known_of_builds(&package, &analysis, main, self.ranks);
        let placement = analysis.place(main, &wishes);
        if let Some(stage) = self.stage {
            render::print(&artefact(stage, &package, &analysis, &placement));
            return Ok(0);
        }
        let mut plan = Plan::of(&package, &analysis, &placement);
        plan.asks_rustc_yet = !asked;
        self.show(plan, &package)
    }

    /// Measures the program if that is wanted; the options for the plan.
    fn measured(&self) -> Outcome<CargoOptions> {
        let mut options = self.cargo.clone();
        if options.profile.as_deref() == Some("") {
            options.profile = None;
            let limit = humantime::parse_duration(&self.profile_for).unwrap_or_default();
            profile::measure(
                &options,
                &self.arguments,
                Some(limit).filter(|limit| !limit.is_zero()),
            )?;
        } else if !self.arguments.is_empty() {
            return Err(Failure::usage(says!(
                "E3011: arguments for the program are given, which a plan does not start"
            ))
            .help("with `--profile` in front of `--`, it is run once and measured"));
        }
        Ok(options)
    }

    fn show(&self, mut plan: Plan, package: &ReadPackage) -> Outcome<u8> {
        plan.protection.take_if(|_| !self.protection);
        if let Some(path) = &self.html {
            fs::write(path, page::page(&plan, package)).about("cannot write", path)?;
        }
        match &plan.protection {
            _ if self.format.json() => render::print_json(&plan),
            Some(protection) if !plan.has_none() => print_protection(protection),
            _ => self.print(&plan),
        }
        Ok(if plan.has_none() { code::NO } else { 0 })
    }

    fn print(&self, plan: &Plan) {
        let most = if self.all { usize::MAX } else { FEW };
        print_loops(plan, most);
        for function in &plan.functions {
            print_function(function);
        }
        for site in &plan.devices {
            print_arrays(site);
        }
        if let Some(number) = plan.device_number.as_ref().filter(|_| !plan.functions.is_empty()) {
            render::print(&format!("\nnumber of devices: {}\n", number.sentence()));
        }
        let mut text = String::new();
        if !plan.written_out.is_empty() {
            text += "\nWritten out where they are called, so that a restart can enter their closures:\n";
        }
        for one in &plan.written_out {
            text += &format!("  `{}`, {}:{}\n", one.name, one.file, one.line);
        }
        for one in &plan.refused {
            text += &format!(
                "\nno checkpoint in `{}`, {}:{}, {} of the run\n",
                one.header,
                one.file,
                one.line,
                percent(one.share)
            );
            for reason in &one.reasons {
                text += &format!("  {reason}\n");
            }
        }
        for one in &plan.lost_statics {
            text += &format!(
                "\nno checkpoints: {}:{}: {}\n  why: {}\n  instead: {}\n",
                one.file, one.line, one.what, one.why, one.instead
            );
        }
        let Totals {
            variables_in_scope: scope,
            variables_saved: saved,
            ..
        } = plan.totals;
        text += &if plan.functions.is_empty() {
            "\nThere is no place for a checkpoint.\n".to_owned()
        } else if !plan.lost_statics.is_empty() {
            "\nThe program has no checkpoints until that is done: a build ends with an error.\n".to_owned()
        } else {
            format!(
                "\nSites reach {}{} of the run; {saved} of {scope} variables in scope are saved.\n",
                if plan.asks_rustc_yet { "at most " } else { "" },
                percent(plan.coverage)
            )
        };
        if let Some(run) = &plan.measured {
            text += &format!("Measured: {}.\n", run.words());
        }
        if let Some(checked) = &plan.checked {
            text += &format!(
                "It compiles with checkpoints, after {} of cargo.\n",
                render::count(checked.rounds, "build")
            );
            for one in &checked.decisions {
                text += &format!("  {}:{}  {}\n", one.file, one.line, one.attribute);
            }
        }
        if plan.asks_rustc_yet && !plan.has_none() {
            text += "rustc was not asked whether a checkpoint can hold these variables; where none can, a build has other sites or fewer: \
                     `plan --check` asks it.\n";
        }
        render::print(&text);
    }
}

/// The variables at each site with their classes, then the classes with their shares.
fn print_protection(plan: &ProtectionPlan) {
    for site in &plan.sites {
        let what = match &site.callee {
            Some(callee) => format!("the call of `{callee}`"),
            None => "the site".to_owned(),
        };
        let place = format!("{}:{}", site.file, site.line);
        render::print(&format!("{} at {what}, {place}\n", site.function));
        let mut table = render::table(&["  VARIABLE", "LINE", "BYTES", "CLASS", "WHY"]);
        for one in &site.variables {
            let class = match one.memory {
                Memory::Own => one.class.word(),
                Memory::OfCaller | Memory::Borrowed | Memory::MovedAway => one.memory.word(),
            };
            table.add_row([
                &format!("  {}", one.name),
                &one.line.to_string(),
                &one.bytes.map_or("?".to_owned(), render::bytes),
                class,
                one.why,
            ]);
        }
        render::right(&mut table, &[1, 2]);
        render::print_table(&table);
        render::print("\n");
    }
    let mut table = render::table(&["CLASS", "VARIABLES", "SIZE NOT KNOWN", "BYTES", "SHARE"]);
    for one in &plan.classes {
        table.add_row([
            one.class.word().to_owned(),
            one.variables.to_string(),
            one.of_unknown_size.to_string(),
            render::bytes(one.bytes),
            one.share.map(percent).unwrap_or_default(),
        ]);
    }
    render::right(&mut table, &[1, 2, 3, 4]);
    render::print_table(&table);
    if plan.of_unknown_size() > 0 {
        render::print(
            "Shares are of the sizes that are known. A checkpoint in the store of this folder tells more.\n",
        );
    }
}

/// The costliest loops: shares are estimates, or measured with the estimates beside them.
fn print_loops(plan: &Plan, most: usize) {
    let measured = plan.measured.is_some();
    let mut header = vec!["SHARE"];
    if measured {
        header.extend(["ESTIMATE", "EACH"]);
    }
    header.extend(["TRIPS", "LOOP", "WHERE", "SITE"]);
    let mut table = render::table(&header);
    for one in plan.loops.iter().take(most) {
        let mut row = vec![percent(one.share)];
        if measured {
            if one.measured.is_none() && one.share == 0.0 {
                row[0] = "not reached".into();
            }
            row.push(one.estimated_share.map(percent).unwrap_or_default());
            let each = one.measured.as_ref().map(|_| render::short_time(one.operations));
            row.push(each.unwrap_or_default());
        }
        let site = if one.chosen { "checkpoint" } else { "" };
        row.extend([
            trips(one.trips, one.trips_known),
            one.header.clone(),
            format!("{}:{} in {}", one.file, one.line, one.function),
            site.to_owned(),
        ]);
        table.add_row(row);
    }
    let numbers: &[usize] = if measured { &[0, 1, 2, 3] } else { &[0, 1] };
    render::right(&mut table, numbers);
    render::print_table(&table);
}

fn print_function(function: &FunctionPlan) {
    let mut text = format!("\n{}  {}:{}\n", function.name, function.file, function.line);
    for site in &function.sites {
        text += &format!(
            "  checkpoint in `{}`, line {}: {}\n    safe point: {}\n",
            site.header, site.line, site.why, site.safe_point
        );
        if let Some(threads) = &site.threads {
            text += &format!("    threads at a restart: {}: {}\n", threads.kind, threads.why);
            if threads.until_one_ends {
                text += "    checkpoints: as long as none of these threads has ended\n";
            }
        }
    }
    if !function.calls.is_empty() {
        text += &format!("  leads to checkpoints through {}\n", function.calls.join(", "));
    }
    render::print(&text);
    if function.variables.is_empty() {
        return;
    }
    let mut table = render::table(&["  VARIABLE", "LINE", "BYTES", "AT A RESTART", "WHY"]);
    for variable in &function.variables {
        let name = match &variable.type_text {
            Some(ty) => format!("  {}: {ty}", variable.name),
            None => format!("  {}", variable.name),
        };
        table.add_row([
            name,
            variable.line.to_string(),
            variable.bytes.map(render::bytes).unwrap_or_default(),
            variable.fate.word().to_owned(),
            variable.why.to_owned(),
        ]);
    }
    render::right(&mut table, &[1, 2]);
    render::print_table(&table);
}

/// The arrays on devices at a site.
fn print_arrays(site: &SiteArrays) {
    let what = match &site.callee {
        Some(callee) => format!("the call of `{callee}`"),
        None => "the site".to_owned(),
    };
    render::print(&format!(
        "\narrays on devices at {what}, {}:{}\n",
        site.file, site.line
    ));
    let mut table = render::table(&["  ARRAY", "LINE", "WRITTEN BY", "READ BY", "SAVED", "WHY"]);
    for array in &site.arrays {
        table.add_row([
            format!("  {}", array.name),
            array.line.to_string(),
            array.writers(),
            array.readers(),
            array.content(),
            array.why.to_owned(),
        ]);
    }
    render::right(&mut table, &[1]);
    render::print_table(&table);
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn trips(trips: f64, known: bool) -> String {
    if known {
        format!("{trips:.0}")
    } else {
        format!("~{trips:.0}")
    }
}
