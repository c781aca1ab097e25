use anyhow::{bail, ensure, Result};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deck {
    pub title: String,
    pub grid: Grid,
    pub chemistry: Chemistry,
    pub time: Time,
    #[serde(default)]
    pub seeds: Vec<Seed>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Grid {
    pub nx: usize,
    pub ny: usize,
    #[serde(default)]
    pub boundary: Boundary,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Boundary {
    #[default]
    Periodic,
    Reflecting,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Chemistry {
    pub feed: f64,
    pub kill: f64,
    pub diffusion: Diffusion,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Diffusion {
    pub u: f64,
    pub v: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Time {
    pub steps: u32,
    pub dt: f64,
    #[serde(default = "Time::report_every")]
    pub report_every: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case")]
pub enum Seed {
    Square { at: (usize, usize), size: usize },
    Disc { at: (usize, usize), radius: f64 },
    Noise { amplitude: f64, seed: u64 },
}

impl Time {
    fn report_every() -> u32 {
        100
    }
}

impl Chemistry {
    pub fn set(&mut self, key: &str, value: f64) -> Result<()> {
        *match key {
            "feed" => &mut self.feed,
            "kill" => &mut self.kill,
            "diffusion.u" => &mut self.diffusion.u,
            "diffusion.v" => &mut self.diffusion.v,
            _ => bail!("there is no rate '{key}'"),
        } = value;
        Ok(())
    }
}

impl Deck {
    pub fn check(&self) -> Result<()> {
        ensure!(self.grid.nx >= 3 && self.grid.ny >= 3, "the grid is too small");
        ensure!(self.time.report_every > 0, "report_every must not be 0");
        ensure!(self.time.dt * self.chemistry.diffusion.u.max(self.chemistry.diffusion.v) < 0.25, "unstable: dt is too large");
        Ok(())
    }
}
