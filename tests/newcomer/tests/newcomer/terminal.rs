//! A shell in a terminal of 80 columns and 24 lines, which `script` makes: lines are typed, and what is shown until the next prompt is
//! read.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::account::Account;
use crate::screen;

pub const COLUMNS: usize = 80;

/// How long a command may take: the first builds everything.
const TOO_LONG: Duration = Duration::from_secs(1500);

/// Between the prompt's marks stands how the last command ended.
const PROMPT: (&str, &str) = ("<<newcomer ", ">>");

pub struct Terminal {
    script: Child,
    keyboard: ChildStdin,
    screen: Receiver<Vec<u8>>,
}

/// What a command has shown, and its exit code.
#[derive(Debug)]
pub struct Shown {
    pub text: String,
    pub code: i32,
}

impl Terminal {
    pub fn open(account: &Account) -> Self {
        let line = format!("stty cols {COLUMNS} rows 24 -echo; exec bash --norc --noprofile --noediting -i");
        let mut script = account
            .command("script")
            .args(["-qefc", &line, "/dev/null"])
            .env("PS1", format!("{}$?{}", PROMPT.0, PROMPT.1))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script` of util-linux");
        let keyboard = script.stdin.take().unwrap();
        let screen = follow(script.stdout.take().unwrap());
        let mut terminal = Self {
            script,
            keyboard,
            screen,
        };
        terminal.until_prompt("the shell", &mut || ());
        terminal
    }

    /// Types a line, and waits for the prompt after it.
    pub fn types(&mut self, line: &str) -> Shown {
        self.types_and(line, &mut || ())
    }

    /// The same; meanwhile something is done from elsewhere, again and again.
    pub fn types_and(&mut self, line: &str, meanwhile: &mut dyn FnMut()) -> Shown {
        writeln!(self.keyboard, "{line}").unwrap();
        self.until_prompt(line, meanwhile)
    }

    fn until_prompt(&mut self, line: &str, meanwhile: &mut dyn FnMut()) -> Shown {
        let end = Instant::now() + TOO_LONG;
        let mut bytes = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&bytes);
            if let Some((before, code)) = parted(&text) {
                let lines: Vec<String> = before.lines().map(screen::plain).collect();
                return Shown {
                    text: lines.join("\n"),
                    code,
                };
            }
            assert!(Instant::now() < end, "`{line}` takes too long: {text}");
            match self.screen.recv_timeout(Duration::from_millis(100)) {
                Ok(piece) => bytes.extend(piece),
                Err(RecvTimeoutError::Timeout) => meanwhile(),
                Err(RecvTimeoutError::Disconnected) => panic!("`{line}` has ended the shell: {text}"),
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The shell has ended where this fails.
        let _ = writeln!(self.keyboard, "exit");
        let _ = self.script.wait();
    }
}

/// What stands before the prompt at the end, and the code in it.
fn parted(text: &str) -> Option<(&str, i32)> {
    let (before, rest) = text.rsplit_once(PROMPT.0)?;
    let (code, after) = rest.split_once(PROMPT.1)?;
    let code = after.trim().is_empty().then(|| code.parse().ok())??;
    Some((before, code))
}

/// What appears on the screen, as it comes.
fn follow(mut screen: ChildStdout) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(length @ 1..) = screen.read(&mut piece) {
            if sender.send(piece[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}
