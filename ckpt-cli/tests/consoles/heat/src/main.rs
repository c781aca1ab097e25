//! The package of the book's pages: a row of warm cells on a line, which has never heard of ckpt.

use std::fs;

struct Simulation {
    pos: Vec<f64>,
    heat: Vec<f64>,
    step: u64,
}

impl Simulation {
    fn advance(&mut self, steps: u64) {
        while self.step < steps {
            self.exchange();
            self.step += 1;
            if self.step % (steps / 4) == 0 {
                println!("{:5} {:.12}", self.step, self.heat[self.heat.len() / 2]);
            }
        }
    }

    /// Each gives to its neighbours, the more the hotter it is.
    fn exchange(&mut self) {
        let before = self.heat.clone();
        for i in 1..before.len() - 1 {
            let distance = self.pos[i + 1] - self.pos[i];
            self.heat[i] += 0.1 * (before[i - 1] - 2.0 * before[i] + before[i + 1]) / distance;
        }
    }
}

/// The number behind a name in the deck.
fn number(deck: &str, name: &str) -> u64 {
    let line = deck.lines().find(|line| line.starts_with(name)).expect("the name is in the deck");
    line.split('=').nth(1).expect("a value").trim().parse().expect("a number")
}

fn main() {
    let path = std::env::args().nth(1).expect("usage: heat DECK");
    let deck = fs::read_to_string(path).expect("the deck can be read");
    let cells = number(&deck, "cells");
    let pos = (0..cells).map(|i| i as f64 * 1.5).collect();
    let heat = (0..cells).map(|i| (i % 7) as f64).collect();
    let mut sim = Simulation { pos, heat, step: 0 };
    sim.advance(number(&deck, "steps"));
    let lines: Vec<String> = sim.heat.iter().map(|heat| format!("{heat:.12}")).collect();
    fs::write("heat.csv", lines.join("\n")).expect("the result can be written");
}
