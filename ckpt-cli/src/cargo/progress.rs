//! What cargo says while it builds, without its verdict: errors of rustc are read by ckpt, which may mend what they show.

use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};

use crate::output::{self, Bar};

/// Lines that say no more than that there were errors or warnings.
const VERDICTS: [&str; 3] = ["could not compile `", "build failed, waiting", "` generated "];

/// Has cargo write to a pipe as it would to the terminal, if there is one.
pub fn pipe(command: &mut Command) {
    command.stderr(Stdio::piped());
    if let Some(color) = output::color_for_cargo() {
        command.env("CARGO_TERM_COLOR", color);
    }
    if io::stderr().is_terminal() {
        let default = |command: &mut Command, name: &str, value: &str| {
            if std::env::var_os(name).is_none() {
                command.env(name, value);
            }
        };
        if output::color_for_cargo().is_none() {
            default(command, "CARGO_TERM_COLOR", "always");
        }
        default(command, "CARGO_TERM_PROGRESS_WHEN", "always");
        default(command, "CARGO_TERM_PROGRESS_WIDTH", "80");
    }
}

/// Copies the stream to the error output, but for the verdicts; of a build that has a bar, not what cargo says of each package.
pub fn forward(stream: impl Read + Send + 'static, bar: Option<Bar>) -> JoinHandle<()> {
    thread::spawn(move || filter(BufReader::new(stream), bar.as_ref(), &mut io::stderr()))
}

fn filter(mut stream: impl BufRead, bar: Option<&Bar>, to: &mut impl Write) {
    while let Ok(piece) = next_piece(&mut stream) {
        if piece.is_empty() {
            return;
        }
        let text = String::from_utf8_lossy(&piece);
        if VERDICTS.iter().any(|verdict| text.contains(verdict)) {
            continue;
        }
        let mut show = || {
            let _ = to.write_all(&piece).and_then(|()| to.flush()); // nobody is left to be told
        };
        match (bar, step(&text)) {
            (Some(bar), Step::Done(done, of)) => bar.stands_at(done, of),
            (Some(_), Step::Begun) => {}
            (Some(bar), Step::Other) => bar.beside(show),
            (None, _) => show(),
        }
    }
}

/// What cargo says of how far it is.
#[derive(Debug, PartialEq)]
enum Step {
    /// Its own bar: so many of so many are done.
    Done(u64, u64),
    /// A package has its turn.
    Begun,
    Other,
}

fn step(text: &str) -> Step {
    let plain = anstream::adapter::strip_str(text).to_string();
    let plain = plain.trim();
    if plain.starts_with("Compiling ") {
        return Step::Begun;
    }
    let numbers = || {
        let (_, behind) = plain.strip_prefix("Building [")?.split_once("] ")?;
        let (done, of) = behind.split_once(':')?.0.trim().split_once('/')?;
        Some((done.parse().ok()?, of.parse().ok()?))
    };
    numbers().map_or(Step::Other, |(done, of)| Step::Done(done, of))
}

/// Up to the end of a line, or of one that is to be written over.
fn next_piece(stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut piece = Vec::new();
    loop {
        let bytes = stream.fill_buf()?;
        let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let length = end.map_or(bytes.len(), |end| end + 1);
        piece.extend_from_slice(&bytes[..length]);
        stream.consume(length);
        if end.is_some() || length == 0 {
            return Ok(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_left_out() {
        let said = "   Compiling a\n\rBuilding 1/2\rerror: could not compile `a` (bin \"a\") due to 1 error\n    Finished\n";
        let mut shown = Vec::new();
        filter(said.as_bytes(), None, &mut shown);
        assert_eq!(
            String::from_utf8_lossy(&shown),
            "   Compiling a\n\rBuilding 1/2\r    Finished\n"
        );
    }

    #[test]
    fn cargos_own_bar_is_read() {
        let bar = "\u{1b}[K\u{1b}[1m\u{1b}[96m    Building\u{1b}[0m [===>       ] 41/131: syn, libc   \r";
        assert_eq!(step(bar), Step::Done(41, 131));
        assert_eq!(
            step("\u{1b}[K\u{1b}[1m\u{1b}[92m   Compiling\u{1b}[0m libc v0.2.191\n"),
            Step::Begun
        );
        for other in [
            "error: linker `cc` not found\n",
            "    Building [=> ] soon\r",
            "    Finished `dev`\n",
        ] {
            assert_eq!(step(other), Step::Other, "{other}");
        }
    }
}
