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
    #[command(flatten)]
    store: StoreOption,
    #[command(flatten)]
    format: FormatOption,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt doctor

Exit codes: 0 nothing required is missing, 1 something is.";

impl Doctor {
    /// Checks and reports.
    pub fn perform(&self) -> Outcome<u8> {
        let store = stores::for_program(self.store.dir.as_deref(), "program")?;
        let list = checks(&store);
        let missing = list.iter().filter(|check| check.state == State::Missing).count();
        if self.format.json() {
            render::print_json(&serde_json::json!({ "healthy": missing == 0, "checks": list }));
        } else {
            report(&list, missing);
        }
        Ok(if missing == 0 { 0 } else { code::NO })
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
