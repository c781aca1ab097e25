// Laplace equation on a plate: every thread owns a band of rows, neighbours exchange their edges through what all share.

use std::env;
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

const COLS: usize = 64;
const ROWS: usize = 60;

struct Edges {
    top: Vec<f64>,
    bottom: Vec<f64>,
}

struct Shared {
    edges: Vec<Mutex<Edges>>,
    residuals: Mutex<Vec<f64>>,
    barrier: Barrier,
    tolerance: f64,
}

struct Band {
    rows: usize,
    now: Vec<f64>,
    next: Vec<f64>,
}

impl Band {
    fn new(rows: usize) -> Self {
        Band { rows, now: vec![0.0; rows * COLS], next: vec![0.0; rows * COLS] }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.now[i * COLS..(i + 1) * COLS]
    }

    fn relax(&mut self, above: &[f64], below: &[f64]) -> f64 {
        let mut worst: f64 = 0.0;
        for i in 0..self.rows {
            for j in 0..COLS {
                let up = if i == 0 { above[j] } else { self.now[(i - 1) * COLS + j] };
                let down = if i + 1 == self.rows { below[j] } else { self.now[(i + 1) * COLS + j] };
                let left = if j == 0 { 0.0 } else { self.now[i * COLS + j - 1] };
                let right = if j + 1 == COLS { 0.0 } else { self.now[i * COLS + j + 1] };
                let value = 0.25 * (up + down + left + right);
                worst = worst.max((value - self.now[i * COLS + j]).abs());
                self.next[i * COLS + j] = value;
            }
        }
        std::mem::swap(&mut self.now, &mut self.next);
        worst
    }
}

fn work(id: usize, members: usize, rows: usize, shared: Arc<Shared>) -> (Vec<f64>, usize) {
    let mut band = Band::new(rows);
    let hot = vec![100.0; COLS];
    let cold = vec![0.0; COLS];
    let mut sweeps = 0;
    loop {
        {
            let mut mine = shared.edges[id].lock().unwrap();
            mine.top.copy_from_slice(band.row(0));
            mine.bottom.copy_from_slice(band.row(rows - 1));
        }
        shared.barrier.wait();
        let above = if id == 0 { hot.clone() } else { shared.edges[id - 1].lock().unwrap().bottom.clone() };
        let below = if id + 1 == members { cold.clone() } else { shared.edges[id + 1].lock().unwrap().top.clone() };
        let worst = band.relax(&above, &below);
        shared.residuals.lock().unwrap()[id] = worst;
        shared.barrier.wait();
        let overall = shared.residuals.lock().unwrap().iter().cloned().fold(0.0, f64::max);
        sweeps += 1;
        if overall < shared.tolerance || sweeps == 1500 {
            break;
        }
    }
    (band.now, sweeps)
}

fn main() {
    let members: usize = env::args().nth(1).map_or(3, |n| n.parse().expect("a number of threads"));
    let shared = Arc::new(Shared {
        edges: (0..members)
            .map(|_| Mutex::new(Edges { top: vec![0.0; COLS], bottom: vec![0.0; COLS] }))
            .collect(),
        residuals: Mutex::new(vec![f64::MAX; members]),
        barrier: Barrier::new(members),
        tolerance: 5e-3,
    });
    let mut handles = vec![];
    for id in 0..members {
        let shared = Arc::clone(&shared);
        let rows = ROWS / members + usize::from(id < ROWS % members);
        handles.push(thread::spawn(move || work(id, members, rows, shared)));
    }
    let mut plate = Vec::new();
    let mut sweeps = 0;
    for handle in handles {
        let (band, count) = handle.join().expect("a worker panicked");
        plate.extend(band);
        sweeps = count;
    }
    let mut out = File::create("plate.txt").expect("plate.txt");
    for row in plate.chunks(COLS) {
        let line: Vec<String> = row.iter().map(|t| format!("{t:.6}")).collect();
        writeln!(out, "{}", line.join(" ")).unwrap();
    }
    let mean = plate.iter().sum::<f64>() / plate.len() as f64;
    println!("{sweeps} sweeps, mean temperature {mean:.12}");
}
