//! One-dimensional shallow water: a dam break over a bump, solved with a
//! well-balanced Rusanov scheme.
//!
//! Written without an index in sight: every stencil is a `windows`, every update a `zip`.

use std::fs;
use std::iter::{once, repeat_n, successors};
use std::ops::{Add, Mul, Sub};

use itertools::{Itertools, MinMaxResult, izip};

const G: f64 = 9.81;
const DRY: f64 = 1e-6;

/// Conserved variables of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct State {
    h: f64,
    hu: f64,
}

impl Add for State {
    type Output = State;
    fn add(self, o: State) -> State {
        State { h: self.h + o.h, hu: self.hu + o.hu }
    }
}

impl Sub for State {
    type Output = State;
    fn sub(self, o: State) -> State {
        State { h: self.h - o.h, hu: self.hu - o.hu }
    }
}

impl Mul<State> for f64 {
    type Output = State;
    fn mul(self, s: State) -> State {
        State { h: self * s.h, hu: self * s.hu }
    }
}

impl State {
    fn still(h: f64) -> Self {
        State { h, hu: 0.0 }
    }

    fn u(&self) -> f64 {
        if self.h > DRY { self.hu / self.h } else { 0.0 }
    }

    fn celerity(&self) -> f64 {
        (G * self.h.max(0.0)).sqrt()
    }

    fn flux(&self) -> State {
        State { h: self.hu, hu: self.hu * self.u() + 0.5 * G * self.h * self.h }
    }

    fn speed(&self) -> f64 {
        self.u().abs() + self.celerity()
    }

    fn mirrored(self) -> Self {
        State { hu: -self.hu, ..self }
    }
}

/// Numerical flux between two states.
fn rusanov(l: State, r: State) -> State {
    let c = l.speed().max(r.speed());
    0.5 * (l.flux() + r.flux()) - 0.5 * c * (r - l)
}

/// Hydrostatic reconstruction (Audusse et al. 2004) at one interface: fluxes for the left and for the right cell.
fn interface((l, zl): (State, f64), (r, zr): (State, f64)) -> (State, State) {
    let z = zl.max(zr);
    let cut = |s: State, zs: f64| {
        let h = (s.h + zs - z).max(0.0);
        State { h, hu: h * s.u() }
    };
    let (ls, rs) = (cut(l, zl), cut(r, zr));
    let f = rusanov(ls, rs);
    let source = |s: State, cut: State| State { h: 0.0, hu: 0.5 * G * (s.h * s.h - cut.h * cut.h) };
    (f + source(l, ls), f + source(r, rs))
}

struct Channel {
    dx: f64,
    bed: Vec<f64>,
    cells: Vec<State>,
}

impl Channel {
    fn dam_break(n: usize, length: f64) -> Channel {
        let dx = length / n as f64;
        let centres = || (0..n).map(move |i| (i as f64 + 0.5) * dx);
        let bed: Vec<f64> =
            centres().map(|x| (0.4 - 0.05 * (x - 0.65 * length).powi(2)).max(0.0)).collect();
        let cells = centres()
            .zip(&bed)
            .map(|(x, z)| if x < 0.4 * length { 2.0 } else { 0.6_f64 } - z)
            .map(|h| State::still(h.max(0.0)))
            .collect();
        Channel { dx, bed, cells }
    }

    fn dt(&self, cfl: f64) -> f64 {
        let fastest = self.cells.iter().map(State::speed).fold(f64::MIN_POSITIVE, f64::max);
        cfl * self.dx / fastest
    }

    /// The cells with a mirrored ghost at either end.
    fn ghosted(&self) -> Vec<(State, f64)> {
        let (first, last) = (self.cells[0], *self.cells.last().expect("a channel has cells"));
        once(first.mirrored())
            .chain(self.cells.iter().copied())
            .chain(once(last.mirrored()))
            .zip(once(self.bed[0]).chain(self.bed.iter().copied()).chain(self.bed.last().copied()))
            .collect()
    }

    fn rate(&self) -> Vec<State> {
        let fluxes = self.ghosted().windows(2).map(|w| interface(w[0], w[1])).collect_vec();
        fluxes
            .iter()
            .tuple_windows()
            .map(|((_, west), (east, _))| (1.0 / self.dx) * (*west - *east))
            .collect()
    }

    fn with(&self, cells: Vec<State>) -> Channel {
        Channel { dx: self.dx, bed: self.bed.clone(), cells }
    }

    /// Heun's method; consumes the old state and gives the new one.
    fn advanced(self, dt: f64) -> Channel {
        let k1 = self.rate();
        let guess = self.with(izip!(&self.cells, &k1).map(|(s, k)| *s + dt * *k).collect());
        let k2 = guess.rate();
        let cells = izip!(self.cells, k1, k2)
            .map(|(s, a, b)| s + 0.5 * dt * (a + b))
            .map(|s| if s.h < DRY { State::default() } else { s })
            .collect();
        Channel { dx: self.dx, bed: self.bed, cells }
    }

    fn volume(&self) -> f64 {
        self.dx * self.cells.iter().map(|s| s.h).sum::<f64>()
    }

    fn energy(&self) -> f64 {
        izip!(&self.cells, &self.bed)
            .map(|(s, z)| 0.5 * s.hu * s.u() + G * s.h * (z + 0.5 * s.h))
            .sum::<f64>()
            * self.dx
    }

    /// Water surface as one line of text, for the impatient.
    fn sketch(&self, width: usize) -> String {
        const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let size = self.cells.len().div_ceil(width);
        izip!(&self.cells, &self.bed)
            .map(|(s, z)| s.h + z)
            .chunks(size)
            .into_iter()
            .map(|chunk| chunk.fold(0.0, f64::max))
            .map(|eta| LEVELS[((eta / 2.0 * 8.0) as usize).min(7)])
            .collect()
    }
}

#[derive(Debug)]
struct Sample {
    t: f64,
    volume: f64,
    energy: f64,
    surface: (f64, f64),
}

impl Sample {
    fn of(t: f64, channel: &Channel) -> Sample {
        let surface = match izip!(&channel.cells, &channel.bed).map(|(s, z)| s.h + z).minmax() {
            MinMaxResult::MinMax(low, high) => (low, high),
            MinMaxResult::OneElement(x) => (x, x),
            MinMaxResult::NoElements => unreachable!(),
        };
        Sample { t, volume: channel.volume(), energy: channel.energy(), surface }
    }

    fn csv(&self) -> String {
        let Sample { t, volume, energy, surface: (low, high) } = self;
        format!("{t:.9},{volume:.12},{energy:.12},{low:.9},{high:.9}")
    }
}

fn simulate(channel: Channel, end: f64, every: f64) -> (Channel, Vec<Sample>) {
    let mut samples = vec![Sample::of(0.0, &channel)];
    let mut due = successors(Some(every), |t| Some(t + every)).take_while(|t| *t <= end + 1e-12).peekable();
    let mut state = Some(channel);
    let mut t = 0.0;
    while let Some(&target) = due.peek() {
        let now = state.take().expect("put back below");
        let dt = now.dt(0.45).min(target - t);
        let next = now.advanced(dt);
        t += dt;
        if t >= target - 1e-12 {
            samples.push(Sample::of(t, &next));
            println!("{t:7.3} {}", next.sketch(60));
            due.next();
        }
        state = Some(next);
    }
    (state.unwrap(), samples)
}

fn main() {
    let [n, end] = std::env::args()
        .skip(1)
        .map(|a| a.parse::<f64>().expect("usage: shallow-water [CELLS [END]]"))
        .chain([1600.0, 6.0].into_iter().skip(std::env::args().len() - 1))
        .collect_array()
        .expect("at most two arguments");

    let start = Channel::dam_break(n as usize, 20.0);
    let before = start.volume();
    println!("{}", repeat_n('-', 68).collect::<String>());
    let (channel, samples) = simulate(start, end, 0.25);

    let table = once("t,volume,energy,lowest,highest".to_owned())
        .chain(samples.iter().map(Sample::csv))
        .join("\n");
    fs::write("history.csv", table + "\n").expect("cannot write history.csv");
    let profile = izip!(&channel.cells, &channel.bed)
        .enumerate()
        .map(|(i, (s, z))| format!("{:.6} {:.12} {:.12} {:.6}", (i as f64 + 0.5) * channel.dx, s.h, s.hu, z))
        .join("\n");
    fs::write("profile.dat", profile).expect("cannot write profile.dat");

    let lost = (channel.volume() - before).abs() / before;
    println!("volume drift {lost:.1e}");
    println!("energy left  {:.6}", channel.energy() / samples[0].energy);
    assert!(lost < 1e-9, "water went missing");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lake_at_rest_stays() {
        let mut lake = Channel::dam_break(50, 20.0);
        for (s, z) in lake.cells.iter_mut().zip(&lake.bed) {
            *s = State::still(1.0 - z);
        }
        let lake = (0..20).fold(lake, |l, _| {
            let dt = l.dt(0.4);
            l.advanced(dt)
        });
        assert!(lake.cells.iter().all(|s| s.hu.abs() < 1e-12));
    }
}
