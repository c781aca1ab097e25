//! `cargo ckpt man`: the help of all commands as man pages.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

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
        all.build();
        if let Some(folder) = &self.to {
            fs::create_dir_all(folder).about("cannot make", folder)?;
            let write = |name: &str, text: &[u8]| {
                let path = folder.join(format!("{name}.1"));
                fs::write(&path, text).about("cannot write", &path)
            };
            write("cargo-ckpt", &page(&all, None))?;
            for one in all.get_subcommands() {
                let name = format!("cargo-ckpt-{}", one.get_name());
                write(&name, &page(one, Some(one.get_name())))?;
                for alias in one.get_visible_aliases() {
                    write(
                        &format!("cargo-ckpt-{alias}"),
                        format!(".so man1/{name}.1\n").as_bytes(),
                    )?;
                }
            }
            return Ok(0);
        }
        let page = match &self.command {
            None => page(&all, None),
            Some(name) => {
                let chosen = all.find_subcommand(name).ok_or_else(|| {
                    Failure::usage(says!("E3007: there is no command `{name}`"))
                        .help_list("there are", all.get_subcommands().map(clap::Command::get_name))
                })?;
                page(chosen, Some(chosen.get_name()))
            }
        };
        if !shows(&page) {
            render::print_as_it_is(&String::from_utf8_lossy(&page));
        }
        Ok(0)
    }
}

/// Has `man` show a page in a terminal, if there is one. Gives whether it did.
fn shows(page: &[u8]) -> bool {
    if !std::io::stdout().is_terminal() {
        return false;
    }
    let mut man = Command::new("man");
    let Ok(mut man) = man.args(["-l", "-"]).stdin(Stdio::piped()).spawn() else {
        return false;
    };
    // Who leaves the page before its end closes the pipe.
    let _ = man.stdin.take().map(|mut to| to.write_all(page));
    man.wait().is_ok_and(|status| status.success())
}

/// The page of a command, or of all: named, with the version and what is typed.
fn page(command: &clap::Command, name: Option<&str>) -> Vec<u8> {
    let typed = name.map_or_else(|| "cargo ckpt".to_owned(), |name| format!("cargo ckpt {name}"));
    let named = command
        .clone()
        .bin_name(&typed)
        .version(env!("CARGO_PKG_VERSION"));
    let mut all = super::line::whole_command();
    all.build();
    let as_typed = match name {
        Some(name) => all.find_subcommand_mut(name).map(clap::Command::render_usage),
        None => Some(all.render_usage()),
    };
    let usage = as_typed.map(|usage| usage.to_string()).unwrap_or_default();
    let usage = usage.split_once(": ").map_or(&*usage, |(_, usage)| usage).trim();
    let extra = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let man = Man::new(named)
        .title(name.map_or_else(
            || "CARGO-CKPT".to_owned(),
            |name| format!("CARGO-CKPT-{}", name.to_uppercase()),
        ))
        .source(format!("ckpt {}", env!("CARGO_PKG_VERSION")))
        .manual("Manual of ckpt");
    let mut page = Vec::new();
    let whole = man
        .render_title(&mut page)
        .and_then(|()| man.render_name_section(&mut page))
        .and_then(|()| writeln!(page, ".SH SYNOPSIS\n\\fB{}\\fR", escaped(usage)))
        .and_then(|()| man.render_description_section(&mut page))
        .and_then(|()| man.render_options_section(&mut page));
    whole.expect("a list takes all bytes");
    if name.is_none() {
        man.render_subcommands_section(&mut page)
            .expect("a list takes all bytes");
    }
    page.extend(sections(&extra).into_bytes());
    let see = match name {
        None => "\\fBcargo\\fR(1); the book of ckpt".to_owned(),
        Some(_) => "\\fBcargo\\-ckpt\\fR(1), \\fBcargo\\fR(1)".to_owned(),
    };
    let version = escaped(env!("CARGO_PKG_VERSION"));
    page.extend(format!(".SH VERSION\n{version}\n.SH \"SEE ALSO\"\n{see}\n").into_bytes());
    page
}

/// What stands behind the options: examples line by line, the exit codes, and whatever else there is.
fn sections(text: &str) -> String {
    let mut page = String::new();
    let parts: Vec<&str> = text
        .split("\n\n")
        .filter(|part| !part.trim().is_empty())
        .collect();
    for (number, part) in parts.iter().enumerate() {
        // A test sees to it that all help texts begin with an example and end with the exit codes.
        let is_last = number + 1 == parts.len();
        let (title, body) = match (number, part.split_once('\n'), part.split_once(": ")) {
            (0, Some((_, examples)), _) => (".SH EXAMPLES\n", examples),
            (_, _, Some((_, codes))) if is_last => (".SH \"EXIT STATUS\"\n", codes),
            _ => (".PP\n", *part),
        };
        page += title;
        for line in body.lines() {
            match line.starts_with("  ") {
                true => page += &format!(".nf\n{}\n.fi\n", escaped(line)),
                false => page += &format!("{}\n", escaped(line)),
            }
        }
    }
    page
}

/// A line as roff takes it.
fn escaped(line: &str) -> String {
    let plain = line.replace('\\', "\\e").replace('-', "\\-");
    match plain.starts_with(['.', '\'']) {
        true => format!("\\&{plain}"),
        false => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_stay_lines_and_exit_codes_are_a_section() {
        let page = sections("Example:\n  cargo ckpt list\n  cargo ckpt -h\n\nExit codes: 0 done.");
        assert_eq!(
            page,
            ".SH EXAMPLES\n.nf\n  cargo ckpt list\n.fi\n.nf\n  cargo ckpt \\-h\n.fi\n.SH \"EXIT STATUS\"\n0 done.\n"
        );
        assert_eq!(escaped(".hidden"), "\\&.hidden");
    }
}
