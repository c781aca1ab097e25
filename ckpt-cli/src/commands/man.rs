//! `cargo ckpt man`: the help of all commands as man pages.

use std::fs;
use std::path::PathBuf;

use clap_mangen::Man;

use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::render;

/// Print the man page of a command, or write those of all
///
/// What `--help` says, in the form of `man`. In a folder of the manual, `cargo help ckpt` finds the first of them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct ManPages {
    /// The command [default: the page about all of them]
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    to: Option<PathBuf>,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt man --to ~/.local/share/man/man1
  cargo ckpt man run | man -l -

Exit codes: 0 done, 2 no such command, 78 the folder cannot be written.";

impl ManPages {
    /// Prints or writes.
    pub fn perform(&self) -> Outcome<u8> {
        let mut all = super::line::whole_command()
            .name("cargo-ckpt")
            .bin_name("cargo-ckpt");
        // Of all commands the pages of the subcommands are named, not those of their `help`.
        all = all.disable_help_subcommand(true);
        all.build();
        if let Some(folder) = &self.to {
            fs::create_dir_all(folder).about("cannot make", folder)?;
            clap_mangen::generate_to(all, folder).about("cannot write in", folder)?;
            return Ok(0);
        }
        let chosen = match &self.command {
            None => &all,
            Some(name) => all.find_subcommand(name).ok_or_else(|| {
                Failure::usage(says!("E3007: there is no command `{name}`"))
                    .help_list("there are", all.get_subcommands().map(clap::Command::get_name))
            })?,
        };
        let mut page = Vec::new();
        Man::new(chosen.clone())
            .render(&mut page)
            .expect("a list takes all bytes");
        render::print_as_it_is(&String::from_utf8_lossy(&page));
        Ok(0)
    }
}
