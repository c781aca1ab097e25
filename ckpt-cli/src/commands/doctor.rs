//! `cargo ckpt doctor`: is everything here that ckpt needs, and if not, which command mends it.

use crate::doctor::{Check, State, checks};
use crate::failure::{Outcome, code};
use crate::render::{self, FormatOption};
use crate::stores::{self, StoreOption};

/// Check that this machine has what ckpt needs, and say how to get what is missing
///
/// Looks at the Rust toolchain, the HDF5 library and headers, libclang and MPI (needed for MPI programs only), and the
/// folder of the store: free space, and whether files can be made durable there.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Doctor {
    /// Mend what can be mended, and say what was done
    ///
    /// Installs what is missing with the system's package manager (not what only programs with MPI need), sets HDF5_DIR in
    /// .cargo/config.toml where HDF5 is in an unusual place, removes what killed processes have left in the store, and adds
    /// the dependency on ckpt to a package that uses it.
    #[arg(long)]
    fix: bool,
    /// With --fix: only say what would be done
    #[arg(long, requires = "fix")]
    dry_run: bool,
    #[command(flatten)]
    store: StoreOption,
    #[command(flatten)]
    format: FormatOption,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt doctor
  cargo ckpt doctor --fix --dry-run
  cargo ckpt doctor --fix

Exit codes: 0 nothing required is missing, 1 something is.";

impl Doctor {
    /// Checks and reports.
    pub fn perform(&self) -> Outcome<u8> {
        let store = stores::for_program(self.store.dir.as_deref(), "program")?;
        let mut list = checks(&store);
        let mended = if self.fix { self.mend(&list) } else { Vec::new() };
        if !self.dry_run && !mended.is_empty() {
            list = checks(&store);
        }
        let missing = list.iter().filter(|check| check.state == State::Missing).count();
        if self.format.json() {
            render::print_json(
                &serde_json::json!({ "healthy": missing == 0, "checks": list, "mended": mended }),
            );
        } else {
            report(&list, missing);
        }
        Ok(if missing == 0 { 0 } else { code::NO })
    }
}

/// What `--fix` has done about a check.
#[derive(Debug, serde::Serialize)]
struct Mended {
    name: &'static str,
    what: String,
    /// Not where it was only said.
    done: bool,
    error: Option<String>,
}

impl Doctor {
    /// Does, or says, what can be done, one after the other. Each is announced, and its result is reported.
    fn mend(&self, list: &[Check]) -> Vec<Mended> {
        let mut mended: Vec<Mended> = Vec::new();
        for check in list.iter().filter(|check| check.state != State::Good) {
            let Some(fix) = &check.fix else { continue };
            let what = fix.words();
            let is_wanted = check.state == State::Missing || fix.is_tidying();
            if !is_wanted || mended.iter().any(|before| before.what == what) {
                continue;
            }
            let verb = if self.dry_run { "would mend" } else { "mending" };
            self.tell(&format!("{verb} {}: {what}\n", check.name));
            let outcome = match self.dry_run {
                true => Ok(()),
                false => fix.perform(),
            };
            if let Err(failure) = &outcome {
                failure.render();
            } else if !self.dry_run {
                self.tell("  done\n");
            }
            mended.push(Mended {
                name: check.name,
                what,
                done: !self.dry_run && outcome.is_ok(),
                error: outcome.err().map(|failure| failure.to_string()),
            });
        }
        match mended.is_empty() {
            true => self.tell("There is nothing that --fix can mend.\n\n"),
            false => self.tell("\n"),
        }
        mended
    }

    fn tell(&self, text: &str) {
        if !self.format.json() {
            render::print(text);
        }
    }
}

fn report(list: &[Check], missing: usize) {
    let mut table = render::table(&["CHECK", "", "FOUND"]);
    for check in list {
        let word = match check.state {
            State::Good => "ok",
            State::Missing => "MISSING",
            State::Optional => "optional",
        };
        table.add_row([
            check.name.into(),
            render::verdict(check.state != State::Missing, word),
            check.found.as_str().into(),
        ]);
    }
    render::print_table(&table);
    for check in list.iter().filter(|check| check.state != State::Good) {
        if let Some(mend) = &check.mend {
            let purpose = if check.state == State::Optional {
                " (optional)"
            } else {
                ""
            };
            render::print(&format!(
                "\n{}{purpose}:\n  {}\n",
                check.name,
                mend.replace('\n', "\n  ")
            ));
        }
    }
    let verdict = match missing {
        0 => "Everything that ckpt needs is here.".to_owned(),
        number => format!("{} missing.", render::count(number, "requirement")),
    };
    render::print(&format!("\n{verdict}\n"));
}
