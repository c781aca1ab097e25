//! 2-D acoustic wave propagation through a layered medium, with a seismogram.

mod field;
mod kernels;

use field::Wave;
use std::f64::consts::PI;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::{env, process};

struct Shot { src: (usize, usize), f0: f64, receivers: Vec<(usize, usize)> }

impl Shot {
    fn ricker(&self, t: f64) -> f64 {
        let a = (PI * self.f0 * (t - 1.2 / self.f0)).powi(2);
        (1.0 - 2.0 * a) * (-a).exp()
    }
}

fn usage() -> ! {
    eprintln!("usage: acoustic [NX NY STEPS]");
    process::exit(64)
}

fn main() {
    let argv: Vec<String> = env::args().collect();
    let (nx, ny, nt) = match argv.len() {
        1 => (260, 200, 600),
        4 => {
            let mut n = [0usize; 3];
            for (slot, text) in n.iter_mut().zip(&argv[1..]) {
                *slot = text.parse().unwrap_or_else(|_| usage());
            }
            (n[0], n[1], n[2])
        }
        _ => usage(),
    };
    if nx < 64 || ny < 64 { usage() }

    let model = |x: usize, y: usize| {
        // an anticline: layers bent upwards in the middle
        let bend = 0.12 * ny as f64 * (-((x as f64 - nx as f64 / 2.0) / (nx as f64 / 6.0)).powi(2)).exp();
        match (y as f64 + bend) / ny as f64 {
            d if d < 0.35 => 1500.0,
            d if d < 0.6 => 2200.0,
            d if d < 0.8 => 2900.0,
            _ => 3600.0,
        }
    };
    let mut wave = Wave::new(nx, ny, 10.0, model);
    let shot = Shot {
        src: (nx / 3, 30),
        f0: 14.0,
        receivers: (24..nx - 24).step_by(8).map(|x| (x, 26)).collect(),
    };
    println!("{nx} x {ny}, dt = {:.6} s, {} receivers", wave.dt, shot.receivers.len());

    let mut seismogram: Vec<Vec<f32>> = Vec::new();
    let mut peak = (0usize, 0.0f64);
    for it in 0..nt {
        let t = it as f64 * wave.dt;
        wave.step(shot.src, shot.ricker(t));
        if it % 4 == 0 {
            seismogram.push(shot.receivers.iter().map(|&r| wave[r] as f32).collect());
        }
        if it % 50 == 0 {
            let e = kernels::energy(wave.now());
            if e > peak.1 { peak = (it, e) }
            println!("it {it:5}  t {t:.4}  energy {e:.10e}");
        }
        if !wave[shot.src].is_finite() {
            eprintln!("unstable at step {it}");
            process::exit(1);
        }
    }
    println!("peak energy {:.10e} at step {}", peak.1, peak.0);

    let mut out = BufWriter::new(File::create("shot.bin").expect("shot.bin"));
    out.write_all(&(shot.receivers.len() as u32).to_le_bytes()).unwrap();
    out.write_all(&(seismogram.len() as u32).to_le_bytes()).unwrap();
    for trace in &seismogram {
        // SAFETY: f32 has no padding and any alignment will do for bytes
        let bytes = unsafe { std::slice::from_raw_parts(trace.as_ptr().cast::<u8>(), 4 * trace.len()) };
        out.write_all(bytes).unwrap();
    }
}
