use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[derive(Default)]
pub struct Timers {
    sections: BTreeMap<&'static str, Section>,
}

#[derive(Default)]
struct Section {
    calls: u32,
    total: Duration,
}

impl Timers {
    /// Runs `f` and adds the time it takes to the section `name`.
    pub fn time<T, F>(&mut self, name: &'static str, f: F) -> T
    where
        F: FnOnce() -> T,
    {
        let t = Instant::now();
        let out = f();
        self.add(name, t.elapsed());
        out
    }

    pub fn add(&mut self, name: &'static str, spent: Duration) {
        let section = self.sections.entry(name).or_default();
        section.calls += 1;
        section.total += spent;
    }

    pub fn report(&self) {
        for (name, section) in &self.sections {
            println!("{name:>8}: {:>3} calls", section.calls);
            eprintln!("{name:>8}: {:.3} s", section.total.as_secs_f64());
        }
    }
}

/// Calls `f` with 0, 1, .. and says how many times per second.
pub fn repeat(times: usize, mut f: impl FnMut(usize)) -> f64 {
    let begin = Instant::now();
    for i in 0..times {
        f(i);
    }
    times as f64 / begin.elapsed().as_secs_f64()
}
