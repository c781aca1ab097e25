//! `cargo ckpt report`: the life of a job.

use std::path::{Path, PathBuf};

use ckpt::store::RunId;

use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::output::told;
use crate::render;
use crate::report;
use crate::stores::{self, StoreArgs};

/// Show what became of a job: failures, what checkpoints cost, how often to take them
///
/// Goes by what the processes of the run have noted in the store (`events.log`, `job.json`): of the run that began last, unless
/// another is named. The waste is the time that the program
/// stood still for checkpoints, and what it has computed in vain; beside it stands what Daly's model (FGCS 22, 2006)
/// predicts for the interval that it had, and for the best one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct ReportCommand {
    /// Write one page that needs nothing else
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt report
  cargo ckpt report --html job.html

Exit codes: 0 done, 76 no job has run on the store, 78 it is somebody else's.";

impl ReportCommand {
    /// Reports.
    pub fn perform(&self) -> Outcome<u8> {
        let store = self.store.named()?;
        let home = stores::home(&store);
        let run = self.store.run(&store)?;
        let Some(job) = stores::job(&store, run)? else {
            return Err(Failure::no_checkpoint(says!(
                "E3108: no job has noted anything in `{}`",
                home.display()
            ))
            .help("a program that runs with checkpoints does, from its start on"));
        };
        let life = report::life(&store, job)?;
        if life.unreadable_lines > 0 {
            told!(
                "warning[W3009]: {} of the log of run {} in `{}` cannot be read\n  \
                 the report lacks what stood there: processes, checkpoints and failures may be more than it says",
                render::count(life.unreadable_lines, "line"),
                life.job.run.short(),
                home.display()
            );
        }
        if let Some(file) = &self.html {
            std::fs::write(file, report::page(&life)).about("cannot write", file)?;
        }
        match self.store.json() {
            true => render::print_json(&life),
            false => {
                render::print(&report::words(&life));
                let lines = stores::lines::Lines::of_run(&store, Some(life.job.run))?;
                for (folder, ids) in lines.in_fallbacks(&lines.list()?) {
                    render::print(&format!(
                        "\nin the fallback `{}`: {}\n",
                        folder.display(),
                        stores::id_list(&ids)
                    ));
                }
                if run.is_none() {
                    self.tell_of_others(&store, life.job.run)?;
                }
            }
        }
        Ok(0)
    }

    /// The runs that the store has beside the one that was reported.
    fn tell_of_others(&self, store: &Path, shown: RunId) -> Outcome<()> {
        const FEW: usize = 5;
        let records = stores::runs::records(store)?;
        let others = records.iter().rev().map(|record| record.run);
        let others: Vec<String> = others.filter(|run| *run != shown).map(RunId::short).collect();
        let Some(first) = others.first() else {
            return Ok(());
        };
        let listed = others[..others.len().min(FEW)].join(", ");
        let more = if others.len() > FEW { ", ..." } else { "" };
        let number = render::count(others.len(), "other run");
        render::print(&format!(
            "\nThe store has {number}: {listed}{more}. {} reports one.\n",
            stores::command_about(store, "report", &["--run", first])
        ));
        Ok(())
    }
}
