// Adaptive quadrature of many integrals: workers take tasks from a common queue until it is empty.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone, Debug)]
struct Task {
    id: usize,
    a: f64,
    b: f64,
    frequency: f64,
}

struct Pool {
    queue: Mutex<VecDeque<Task>>,
    results: Mutex<Vec<Option<f64>>>,
    evaluations: Mutex<u64>,
}

fn f(x: f64, w: f64) -> f64 {
    (w * x).sin() / (1.0 + x * x) + (x - 0.3).abs().sqrt()
}

fn adaptive(a: f64, b: f64, w: f64, fa: f64, fb: f64, depth: u32, count: &mut u64) -> f64 {
    let m = 0.5 * (a + b);
    let fm = f(m, w);
    *count += 1;
    let coarse = 0.5 * (b - a) * (fa + fb);
    let fine = 0.25 * (b - a) * (fa + 2.0 * fm + fb);
    if depth == 0 || (fine - coarse).abs() < 1e-9 {
        return fine + (fine - coarse) / 3.0;
    }
    adaptive(a, m, w, fa, fm, depth - 1, count) + adaptive(m, b, w, fm, fb, depth - 1, count)
}

fn worker(pool: Arc<Pool>) -> usize {
    let mut done = 0;
    loop {
        let task = pool.queue.lock().unwrap().pop_front();
        let task = match task {
            Some(task) => task,
            None => return done,
        };
        let mut count = 0;
        let (fa, fb) = (f(task.a, task.frequency), f(task.b, task.frequency));
        let value = adaptive(task.a, task.b, task.frequency, fa, fb, 14, &mut count);
        pool.results.lock().unwrap()[task.id] = Some(value);
        *pool.evaluations.lock().unwrap() += count;
        done += 1;
    }
}

fn main() {
    let threads: usize = std::env::args().nth(1).map(|n| n.parse().unwrap()).unwrap_or(3);
    let tasks: VecDeque<Task> = (0..400)
        .map(|id| Task {
            id,
            a: -1.0 - (id % 7) as f64 * 0.1,
            b: 1.0 + (id % 5) as f64 * 0.2,
            frequency: 1.0 + id as f64 * 0.05,
        })
        .collect();
    let total = tasks.len();
    let pool = Arc::new(Pool {
        queue: Mutex::new(tasks),
        results: Mutex::new(vec![None; total]),
        evaluations: Mutex::new(0),
    });
    let workers: Vec<_> = (0..threads)
        .map(|_| {
            let pool = pool.clone();
            thread::spawn(move || worker(pool))
        })
        .collect();
    let done: usize = workers.into_iter().map(|w| w.join().unwrap()).sum();
    let results = pool.results.lock().unwrap();
    let sum: f64 = results.iter().map(|r| r.expect("a task was lost")).sum();
    println!("{done} of {total} tasks, {} evaluations", pool.evaluations.lock().unwrap());
    println!("sum {sum:.15}, first {:.15}", results[0].unwrap());
}
