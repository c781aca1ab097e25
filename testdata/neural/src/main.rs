//! A small multi-layer perceptron, trained to tell two moons (and a ring) apart. Nothing but Vecs.

mod data;
mod nn;
mod optim;

use std::fs::File;
use std::io::Write;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

use data::Dataset;
use nn::Network;
use optim::{Adam, Momentum, Optimizer};

struct EarlyStop {
    best: f32,
    patience: usize,
    waited: usize,
    snapshot: Option<Network>,
}

impl EarlyStop {
    fn new(patience: usize) -> Self {
        EarlyStop { best: f32::INFINITY, patience, waited: 0, snapshot: None }
    }

    /// True when it is time to stop.
    fn see(&mut self, loss: f32, net: &Network) -> bool {
        if loss < self.best - 1e-5 {
            self.best = loss;
            self.waited = 0;
            self.snapshot = Some(net.clone());
        } else {
            self.waited += 1;
        }
        self.waited > self.patience
    }
}

fn evaluate(net: &Network, set: &Dataset) -> (f32, f32) {
    let mut loss = 0.0;
    let mut right = 0;
    for (x, label) in set.iter() {
        let p = net.infer(x);
        loss -= p[label].max(1e-9).ln();
        let guess = p.iter().enumerate().max_by(|a, b| a.1.partial_cmp(b.1).unwrap()).map(|(k, _)| k);
        right += (guess == Some(label)) as usize;
    }
    (loss / set.len() as f32, right as f32 / set.len() as f32)
}

fn main() -> Result<()> {
    let epochs: u64 = match std::env::args().nth(1) {
        Some(a) => a.parse().with_context(|| format!("epochs: {a}"))?,
        None => 60,
    };
    let which = std::env::args().nth(2).unwrap_or("adam".into());

    let mut rng = ChaCha8Rng::seed_from_u64(1234);
    let all = Dataset::moons_and_ring(4000, 0.12, &mut rng);
    let (train, test) = all.split(0.8, &mut rng);
    let mut net = Network::new(&[2, 24, 16, 3], &mut rng);
    let mut optimizer: Box<dyn Optimizer> = match which.as_str() {
        "adam" => Box::new(Adam::new(net.parameters(), 3e-3)),
        "momentum" => Box::new(Momentum::new(net.parameters(), 0.05, 0.9)),
        _ => anyhow::bail!("optimizer: adam or momentum, not {which}"),
    };
    println!("{} training and {} test points, {} parameters", train.len(), test.len(), net.parameters());

    let bar = ProgressBar::new(epochs);
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}")?);
    let mut log = File::create("loss.log").context("loss.log")?;
    let mut stop = EarlyStop::new(12);
    let mut order: Vec<usize> = (0..train.len()).collect();
    let batch_size = 32;

    for epoch in 0..epochs {
        order.shuffle(&mut rng);
        let mut running = 0.0f32;
        for batch in order.chunks(batch_size) {
            let mut grads = net.zero_grads();
            for &k in batch {
                let (x, label) = train.get(k);
                // a little noise on the inputs against overfitting
                let x = [x[0] + 0.02 * (rng.random::<f32>() - 0.5), x[1] + 0.02 * (rng.random::<f32>() - 0.5)];
                running += net.backprop(&x, label, &mut grads);
            }
            grads.scale(1.0 / batch.len() as f32);
            optimizer.step(&mut net, &grads);
        }
        let (loss, accuracy) = evaluate(&net, &test);
        writeln!(log, "{epoch} {:.6} {loss:.6} {accuracy:.4}", running / train.len() as f32)?;
        bar.set_message(format!("loss {loss:.4}"));
        bar.inc(1);
        if stop.see(loss, &net) {
            bar.abandon_with_message("stopped early");
            println!("no progress since epoch {}", epoch - stop.patience as u64 - 1);
            break;
        }
    }
    bar.finish();

    let net = stop.snapshot.take().unwrap_or(net);
    let (loss, accuracy) = evaluate(&net, &test);
    println!("test loss {loss:.6}, accuracy {:.2} %", 100.0 * accuracy);
    std::fs::write("weights.txt", net.to_string())?;
    println!("{}", data::ascii_map(|x| net.infer(x)));
    Ok(())
}
