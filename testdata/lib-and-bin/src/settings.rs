use crate::Error;
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub atoms_per_side: usize,
    pub density: f64,
    pub temperature: f64,
    pub cutoff: f64,
    pub dt: f64,
    pub steps: u64,
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { atoms_per_side: 6, density: 0.7, temperature: 1.2, cutoff: 2.0, dt: 0.002, steps: 1000, seed: 7 }
    }
}

fn number<T: FromStr>(flag: &str, value: Option<String>) -> Result<T, Error> {
    let value = value.ok_or_else(|| Error::Usage(format!("{flag} wants a value")))?;
    value.parse().map_err(|_| Error::Usage(format!("{flag} {value}: not a number")))
}

impl Settings {
    pub fn from_args(mut args: impl Iterator<Item = String>) -> Result<Self, Error> {
        let mut s = Settings::default();
        while let Some(flag) = args.next() {
            match flag.as_str() {
                "--steps" => s.steps = number(&flag, args.next())?,
                "--atoms" => s.atoms_per_side = number(&flag, args.next())?,
                "--dt" => s.dt = number(&flag, args.next())?,
                "--seed" => s.seed = number(&flag, args.next())?,
                _ => return Err(Error::Usage(format!("unknown flag {flag}"))),
            }
        }
        Ok(s)
    }
}
