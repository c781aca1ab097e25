use std::sync::OnceLock;

#[derive(Debug)]
pub struct Config {
    pub cells: usize,
    pub particles: usize,
    pub length: f64,
    pub dt: f64,
    pub steps: usize,
    pub every: usize,
    pub drift: f64,
    pub thermal: f64,
}

static CONFIG: OnceLock<Config> = OnceLock::new();

pub fn config() -> &'static Config {
    CONFIG.get().expect("config::init comes first")
}

/// key=value words override the defaults.
pub fn init(words: impl Iterator<Item = String>) {
    let mut c = Config {
        cells: 128,
        particles: 20_000,
        length: 4.0 * std::f64::consts::PI,
        dt: 0.05,
        steps: 600,
        every: 5,
        drift: 1.0,
        thermal: 0.02,
    };
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            panic!("expected key=value, got {word}");
        };
        match key {
            "cells" => c.cells = value.parse().unwrap(),
            "particles" => c.particles = value.parse().unwrap(),
            "dt" => c.dt = value.parse().unwrap(),
            "steps" => c.steps = value.parse().unwrap(),
            "every" => c.every = value.parse().unwrap(),
            "drift" => c.drift = value.parse().unwrap(),
            "thermal" => c.thermal = value.parse().unwrap(),
            _ => panic!("unknown key {key}"),
        }
    }
    CONFIG.set(c).unwrap();
}
