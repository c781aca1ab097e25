//! What the kernels have in common: arguments, and the way they fail.

use std::fmt::Display;
use std::process;

pub const VERSION: &str = "2.16";

/// Prints to stderr like the C version and gives up.
#[macro_export]
macro_rules! die {
    ($($arg:tt)*) => {{
        eprintln!("ERROR: {}", format_args!($($arg)*));
        std::process::exit(1)
    }};
}

/// Positional arguments with names, limits and defaults.
pub struct Args<'a> {
    program: &'a str,
    words: Vec<String>,
    next: usize,
    help: Vec<String>,
}

impl<'a> Args<'a> {
    pub fn new(program: &'a str) -> Self {
        let words = std::env::args().skip(1).collect();
        Args { program, words, next: 0, help: vec![] }
    }

    pub fn take<T>(&mut self, name: &str, default: T, at_least: T) -> T
    where
        T: std::str::FromStr + PartialOrd + Display + Copy,
    {
        self.help.push(format!("<{name}, default {default}>"));
        let value = match self.words.get(self.next) {
            None => default,
            Some(w) if w == "-h" || w == "--help" => self.usage(0),
            Some(word) => word.parse().unwrap_or_else(|_| {
                eprintln!("ERROR: {name} must be a number: {word}");
                self.usage(1)
            }),
        };
        self.next += 1;
        if value < at_least {
            die!("{name} must be >= {at_least}: {value}");
        }
        value
    }

    pub fn done(self) {
        if self.words.len() > self.next {
            eprintln!("ERROR: too many arguments");
            self.usage(1);
        }
    }

    fn usage(&self, code: i32) -> ! {
        eprintln!("Usage: {} {}", self.program, self.help.join(" "));
        process::exit(code)
    }
}

/// Wall clock in seconds since it was first asked.
pub fn wtime() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static ZERO: OnceLock<Instant> = OnceLock::new();
    ZERO.get_or_init(Instant::now).elapsed().as_secs_f64()
}
