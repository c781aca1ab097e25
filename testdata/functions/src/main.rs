//! Pointers to functions in variables, structs, lists and tables; states of a machine that are functions.

mod rules;

use rules::{Activation, Rule};
use std::collections::HashMap;

struct Layer {
    weights: Vec<f64>,
    activation: Activation,
}

impl Layer {
    fn train(&mut self, x: f64) -> f64 {
        let mut y = x;
        for w in &mut self.weights {
            y = (self.activation.function)(*w * y);
            *w += 1e-3 * (self.activation.derivative)(&y) + 1e-6 * (self.activation.second)(&y);
        }
        y
    }
}

struct Machine {
    heat: f64,
    steps: u32,
    state: fn(&mut Machine) -> bool,
}

impl Machine {
    fn warm(&mut self) -> bool {
        self.heat += 0.75;
        if self.heat > 20.0 {
            self.state = Self::cool;
        }
        true
    }

    fn cool(&mut self) -> bool {
        self.heat *= 0.875;
        if self.heat < 5.0 {
            self.state = Machine::warm;
        }
        self.steps < 3000
    }

    fn run(&mut self) {
        loop {
            self.steps += 1;
            let state = self.state;
            if !state(self) {
                break;
            }
        }
    }
}

fn add(a: f64, b: f64) -> f64 {
    a + b
}

fn twice<T: Into<f64> + Copy>(x: T) -> f64 {
    x.into() * 2.0
}

fn main() {
    let mut layers: Vec<Layer> = ["sigmoid", "tanh"]
        .iter()
        .map(|name| Layer { weights: vec![0.5, 0.25, 0.125], activation: rules::named(name).unwrap() })
        .collect();
    let mut y = 0.5;
    for epoch in 0..3000 {
        for layer in &mut layers {
            y = layer.train(y);
        }
        if epoch % 1000 == 0 {
            layers.reverse();
            println!("{epoch} {y}");
        }
    }

    let mut machine = Machine { heat: 1.0, steps: 0, state: Machine::warm };
    machine.run();
    println!("{} {}", machine.heat, machine.steps);

    let mut table: HashMap<String, fn(f64, f64) -> f64> = HashMap::new();
    table.insert("add".to_string(), add);
    table.insert("max".to_string(), f64::max);
    table.insert("sub".to_string(), |a, b| a - b);
    let mut chain: [Rule; 3] = [f64::sin, twice::<f64>, |x| x * x];
    let mut rule: Rule = chain[0];
    let mut x = 0.25;
    for step in 0..3000 {
        x = table[["add", "max", "sub"][step % 3]](x, rule(x));
        x = (x * 1e3).fract();
        if step % 7 == 0 {
            chain.rotate_left(1);
            rule = chain[step % 3];
        }
        if step % 1000 == 0 {
            println!("{step} {x}");
        }
    }
    println!("{x} {}", table.len());
}
