//! A sum of square roots by the jobs of a pool that lives through the whole run; every step waits for the answers to its jobs.

use std::sync::mpsc::{channel, Sender, Receiver};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

type Job = Box<dyn FnOnce() -> f64 + Send>;

struct Pool {
    jobs: Option<Sender<Job>>,
    results: Receiver<f64>,
    workers: Vec<JoinHandle<()>>,
}

impl Pool {
    fn new(n: usize) -> Pool {
        let (jobs, queue) = channel::<Job>();
        let (answer, results) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let workers = (0..n)
            .map(|_| {
                let (queue, answer) = (Arc::clone(&queue), answer.clone());
                thread::spawn(move || loop {
                    let job = queue.lock().unwrap().recv();
                    match job {
                        Ok(job) => answer.send(job()).unwrap(),
                        Err(_) => break,
                    }
                })
            })
            .collect();
        Pool { jobs: Some(jobs), results, workers }
    }

    fn sum(&self, step: usize, n: usize) -> f64 {
        for k in 0..n {
            let job: Job = Box::new(move || (0..2000).map(|i| ((i * k + step) as f64).sqrt()).sum());
            self.jobs.as_ref().unwrap().send(job).unwrap();
        }
        let mut all: Vec<f64> = (0..n).map(|_| self.results.recv().unwrap()).collect();
        all.sort_by(f64::total_cmp);
        all.iter().sum()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs.take();
        for worker in self.workers.drain(..) {
            worker.join().unwrap();
        }
    }
}

fn main() {
    let pool = Pool::new(3);
    let mut total = 0.0;
    for step in 0..200 {
        total += pool.sum(step, 8);
        if step % 50 == 0 {
            println!("{step} {total:.6}");
        }
    }
    println!("{total:.9}");
}
