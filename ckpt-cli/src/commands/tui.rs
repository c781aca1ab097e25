//! `cargo ckpt tui`: a live view of a job and of its store.

use crate::failure::Outcome;
use crate::stores::StoreOption;
use crate::stores::runs::RunOption;
use crate::tui;

/// Watch a job, and look into its checkpoints, in the terminal
///
/// Two views. The job: how it stands, the newest checkpoint, what it cost, when the next is due, and what each rank and thread has. The
/// store: its checkpoints, their values, and arrays as a line or a heat map. Nothing is changed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Tui {
    #[command(flatten)]
    store: StoreOption,
    #[command(flatten)]
    run: RunOption,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt tui
  cargo ckpt tui --dir heat.ckpt.d

Keys: Tab changes the view, arrows choose, Enter opens, Esc closes, q ends; ? shows all of them.

Exit codes: 0 done, 1 there is no terminal, 76 no store.";

impl Tui {
    /// Shows.
    pub fn perform(&self) -> Outcome<u8> {
        let store = self.store.named()?;
        let run = self.run.of(&store)?;
        tui::show(&store, run)?;
        Ok(0)
    }
}
