//! Stands in front of rustc while the tests run: `RUSTC_WRAPPER=built-once BUILT_ONCE=folder`.
//!
//! The tests build the runtime and what it needs in some twenty target folders, most often with the same flags and features.
//! Of a library whose sources do not change meanwhile, what rustc makes is kept, and copied where it is asked for again. Two
//! builds are the same if rustc gets the same arguments, but for the target folder, and what they name has the same content:
//! the sources, the libraries, what a build script has made, and the variables of the environment that the sources ask for.
//! What is no such library goes to rustc as it is.

mod kept;
mod key;

use key::Build;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let done = match (env::var_os("BUILT_ONCE"), Build::of(&arguments)) {
        (Some(folder), Some(build)) => build_once(Path::new(&folder), &build, &arguments),
        _ => rustc(&arguments).map(|(code, _)| code),
    };
    done.unwrap_or_else(|error| {
        eprintln!("built-once: {error:#}");
        ExitCode::FAILURE
    })
}

fn build_once(folder: &Path, build: &Build, arguments: &[OsString]) -> anyhow::Result<ExitCode> {
    let kept = kept::Kept::of(folder, build)?;
    if let Some(said) = kept.put_back(build)? {
        io::stderr().write_all(said.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    if !kept.is_new() {
        // What hangs on this library then hangs on its content.
        let _ = fs::remove_file(build.note(&build.stem));
        return rustc(arguments).map(|(code, _)| code);
    }
    // Builds that need its metadata alone begin before it is done.
    kept.note(build)?;
    let (code, said) = rustc(arguments)?;
    if code == ExitCode::SUCCESS {
        kept.keep(build, &said)?;
    }
    Ok(code)
}

/// Runs rustc. Gives what it has said as well.
fn rustc(arguments: &[OsString]) -> anyhow::Result<(ExitCode, String)> {
    let [rustc, arguments @ ..] = arguments else {
        anyhow::bail!(
            "it is called with the path of rustc and its arguments, as cargo calls a `RUSTC_WRAPPER`"
        );
    };
    let mut child = Command::new(rustc)
        .args(arguments)
        .stderr(Stdio::piped())
        .spawn()?;
    let mut said = String::new();
    // Cargo starts what needs a library as soon as a line says that its metadata are there.
    for line in BufReader::new(child.stderr.take().expect("it is piped")).split(b'\n') {
        let mut line = line?;
        line.push(b'\n');
        io::stderr().write_all(&line)?;
        said += &String::from_utf8_lossy(&line);
    }
    let status = child.wait()?;
    let code = status
        .code()
        .map_or(ExitCode::FAILURE, |code| ExitCode::from(code.to_le_bytes()[0]));
    Ok((code, said))
}
