//! `cargo ckpt serve`: jobs and checkpoints in the browser.

use std::path::PathBuf;

use serde_json::json;

use crate::failure::{AboutFile, Outcome};
use crate::output;
use crate::render::{self, FormatOption};
use crate::serve;

/// Show jobs and their checkpoints in the browser
///
/// Prints an address of this machine, for a browser on it, and answers there until Ctrl-C: the jobs of all stores below a folder,
/// their timelines, sizes and waits, the values of every checkpoint as numbers, curves, histograms and images, two
/// checkpoints side by side, and the plan over the source. What runs is followed. Only who has the address can look, it holds
/// a token; other machines cannot reach it, and the page asks nothing of them. Nothing is changed, unless `--allow-stop` is given.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Serve {
    /// The folder whose stores are shown, those in folders below it too
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// The port of the address [default: one that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true, value_parser = port)]
    port: u16,
    /// Let the page ask a job to take a checkpoint and stop
    #[arg(long)]
    allow_stop: bool,
    #[command(flatten)]
    format: FormatOption,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt serve
  cargo ckpt serve runs/ --port 8080 --allow-stop
  cargo ckpt serve --format json    the address for a script

From another machine, through ssh: `ssh -L 8080:127.0.0.1:8080 HOST`, with `--port 8080` there, and then the
address in the browser here.

Exit codes: 0 ended by Ctrl-C, 78 the folder cannot be read, or the port is taken.";

fn port(text: &str) -> Result<u16, String> {
    text.parse()
        .map_err(|_| format!("write a port, 0 to {}", u16::MAX))
}

impl Serve {
    /// Answers until it is interrupted.
    pub fn perform(&self) -> Outcome<u8> {
        let root = std::fs::canonicalize(&self.folder).about("cannot look into", &self.folder)?;
        std::fs::read_dir(&root).about("cannot look into", &root)?;
        let options = serve::Options {
            root,
            port: self.port,
            allow_stop: self.allow_stop,
        };
        serve::serve(&options, |address| match self.format.json() {
            true => render::print_json(&json!({ "address": address, "folder": options.root })),
            false => {
                render::print_as_it_is(&format!("{address}\n"));
                output::note("open it in a browser on this machine; Ctrl-C ends it");
            }
        })?;
        Ok(0)
    }
}
