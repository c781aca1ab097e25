use std::fs;
use std::io;
use std::path::Path;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum DeckError {
    #[error("input or output: {0}")]
    Io(#[from] io::Error),
    #[error("line {line}: {what}")]
    Syntax { line: usize, what: String },
}

#[derive(Debug, Clone)]
pub struct Deck {
    pub cells: usize,
    pub density: f64,
    pub temperature: f64,
    pub steps: usize,
    pub dt: f64,
    pub dump: usize,
    pub thermo: usize,
    pub seed: u64,
}

impl Default for Deck {
    fn default() -> Deck {
        Deck {
            cells: 5,
            density: 0.8442,
            temperature: 0.728,
            steps: 300,
            dt: 0.004,
            dump: 50,
            thermo: 20,
            seed: 87_287,
        }
    }
}

impl Deck {
    pub fn read(path: &Path) -> Result<Deck, DeckError> {
        let mut deck = Deck::default();
        for (k, line) in fs::read_to_string(path)?.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            deck.set(line).map_err(|what| DeckError::Syntax { line: k + 1, what })?;
        }
        Ok(deck)
    }

    fn set(&mut self, line: &str) -> Result<(), String> {
        let (key, value) = line.split_once(char::is_whitespace).ok_or("a key and a value, please")?;
        let value = value.trim();
        macro_rules! number {
            ($field:ident) => {
                self.$field = value.parse().map_err(|_| format!("`{value}` is no {}", stringify!($field)))?
            };
        }
        match key {
            "cells" => number!(cells),
            "density" => number!(density),
            "temp" => number!(temperature),
            "steps" => number!(steps),
            "dt" => number!(dt),
            "dump" => number!(dump),
            "thermo" => number!(thermo),
            "seed" => number!(seed),
            other => return Err(format!("unknown key `{other}`")),
        }
        Ok(())
    }
}
