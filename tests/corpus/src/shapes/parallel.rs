//! Sites in the closures of parallel iterators: between blocks of items.

use super::draw;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

fn work(start: u64) -> u64 {
    let mut state = start;
    (0..5).for_each(|_| {
        draw(&mut state);
    });
    state % 1000
}

#[ckpt::instrument]
pub fn collected() {
    let mut scale = 3 + std::hint::black_box(0);
    let rows: Vec<u64> = (0..20)
        .into_par_iter()
        .map(|row| {
            ckpt::checkpoint!();
            work(row * scale)
        })
        .collect();
    scale += rows[7];
    println!("{rows:?} {scale}");
    let texts = (1..=9u8)
        .into_par_iter()
        .map(|k| {
            ckpt::checkpoint!();
            format!("{k}{scale};")
        })
        .collect::<String>();
    println!("= {texts}");
}

#[ckpt::instrument]
pub fn summed() {
    let starts: Vec<u64> = (0..17).map(work).collect();
    let total: u64 = starts
        .par_iter()
        .map(|start| {
            ckpt::checkpoint!();
            work(*start)
        })
        .sum();
    println!("{total}");
    let odd = starts
        .par_iter()
        .filter(|start| {
            ckpt::checkpoint!();
            **start % 2 == 1
        })
        .count();
    let last = starts.len() as u64;
    let product: u64 = (1..last)
        .into_par_iter()
        .map(|k| {
            ckpt::checkpoint!();
            k % 7 + 1
        })
        .product();
    println!("= {total} {odd} {product} {starts:?}");
}

#[ckpt::instrument]
pub fn filled_in_chunks() {
    let (width, height) = (5, 9);
    let mut image = vec![0u64; width * height + 3];
    let done = AtomicU64::new(0);
    image.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
        ckpt::checkpoint!();
        for (x, pixel) in row.iter_mut().enumerate() {
            *pixel = work((x + 10 * y) as u64);
        }
        done.fetch_add(row.len() as u64, Ordering::Relaxed);
    });
    println!("{image:?} {done:?}");
    image.par_iter_mut().enumerate().for_each(|(k, pixel)| {
        ckpt::checkpoint!();
        *pixel += k as u64;
    });
    image.par_chunks_exact_mut(4).for_each(|four| {
        ckpt::checkpoint!();
        four.reverse();
    });
    let steps: Vec<u64> = image
        .par_windows(3)
        .map(|w| {
            ckpt::checkpoint!();
            w[2] ^ w[0]
        })
        .collect();
    println!("= {image:?} {steps:?}");
}

#[derive(ckpt::Checkpoint)]
struct Grid {
    cells: Vec<f64>,
    next: Vec<f64>,
    width: usize,
}

impl Grid {
    #[ckpt::instrument]
    fn step(&mut self, dt: f64) -> f64 {
        let old = &self.cells;
        let width = self.width;
        self.next
            .par_chunks_mut(width)
            .zip(self.cells.par_chunks(width))
            .enumerate()
            .map(|(y, (new, row))| {
                ckpt::checkpoint!();
                for x in 0..row.len() {
                    let up = if y > 0 { old[(y - 1) * width + x] } else { 0.0 };
                    new[x] = row[x] + dt * (up - row[x]);
                }
                new.iter().fold(0.0, |most: f64, one| most.max(*one))
            })
            .reduce(|| 0.0, f64::max)
    }
}

#[ckpt::instrument(calls(step))]
pub fn zipped_and_reduced() {
    let cells: Vec<f64> = (0..30).map(|k| work(k) as f64).collect();
    let mut grid = Grid {
        next: cells.clone(),
        cells,
        width: 3,
    };
    for round in 0..2 {
        let most = grid.step(0.25);
        std::mem::swap(&mut grid.cells, &mut grid.next);
        println!("{round} {most}");
    }
    println!("= {:?}", grid.cells);
}

#[ckpt::instrument]
pub fn folded_and_reduced() {
    let samples = 40u64;
    let counts = (0..samples)
        .into_par_iter()
        .fold(
            || [0u64; 4],
            |mut counts, k| {
                ckpt::checkpoint!();
                counts[(work(k) % 4) as usize] += 1;
                counts
            },
        )
        .reduce(|| [0; 4], |a, b| std::array::from_fn(|k| a[k] + b[k]));
    println!("{counts:?}");
    let best = (0..samples)
        .into_par_iter()
        .map(|k| {
            ckpt::checkpoint!();
            (work(k), k)
        })
        .reduce_with(|a, b| if b.0 > a.0 { b } else { a });
    println!("= {counts:?} {best:?}");
}

#[ckpt::instrument]
pub fn gathered_in_other_collections() {
    let words = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let lengths: HashMap<String, u64> = words
        .par_iter()
        .enumerate()
        .map(|(k, word)| {
            ckpt::checkpoint!();
            (word.repeat(k % 4), work(k as u64))
        })
        .collect();
    let (small, large): (Vec<u64>, Vec<u64>) = (0..15u64)
        .into_par_iter()
        .map(|k| {
            ckpt::checkpoint!();
            work(k)
        })
        .partition(|k| *k < 500);
    let (first, second): (Vec<u64>, Vec<String>) = small
        .par_iter()
        .map(|k| {
            ckpt::checkpoint!();
            (*k, k.to_string())
        })
        .unzip();
    let nested: BTreeMap<u64, usize> = (0..6usize)
        .into_par_iter()
        .flat_map_iter(|k| {
            ckpt::checkpoint!();
            (0..k).map(move |j| (work(j as u64), k))
        })
        .collect();
    let mut lengths: Vec<_> = lengths.into_iter().collect();
    lengths.sort();
    println!("= {lengths:?} {small:?} {large:?} {first:?} {second:?} {nested:?}");
}

#[ckpt::instrument]
pub fn compared() {
    let starts: Vec<u64> = (0..21).map(work).collect();
    let largest = starts
        .par_iter()
        .map(|k| {
            ckpt::checkpoint!();
            k % 17
        })
        .max();
    let smallest = starts
        .par_iter()
        .map(|k| {
            ckpt::checkpoint!();
            k % 17
        })
        .min();
    let by_key = starts
        .par_iter()
        .enumerate()
        .map(|(k, one)| {
            ckpt::checkpoint!();
            (k, one % 5)
        })
        .max_by_key(|(_, key)| *key);
    let by = starts
        .par_iter()
        .map(|one| {
            ckpt::checkpoint!();
            *one as f64 / 3.0
        })
        .min_by(|a, b| a.partial_cmp(b).unwrap());
    println!("{largest:?} {smallest:?} {by_key:?} {by:?}");
    let any = starts.par_iter().any(|one| {
        ckpt::checkpoint!();
        *one == starts[20]
    });
    let all = starts.par_iter().all(|one| {
        ckpt::checkpoint!();
        *one != starts[20]
    });
    let found = (0..30u64).into_par_iter().find_first(|k| {
        ckpt::checkpoint!();
        k * k > 50
    });
    println!("= {any} {all} {found:?}");
}

#[ckpt::instrument]
pub fn used_up() {
    let parts: Vec<Vec<u64>> = (0..11).map(|k| vec![work(k); k as usize % 3]).collect();
    let log = Mutex::new(Vec::new());
    let lengths: Vec<usize> = parts
        .into_par_iter()
        .map(|mut part| {
            ckpt::checkpoint!();
            part.push(1);
            log.lock().unwrap().push(part.iter().sum::<u64>());
            part.len()
        })
        .collect();
    let mut log = log.into_inner().unwrap();
    log.sort_unstable();
    println!("= {lengths:?} {log:?}");
}

#[ckpt::instrument]
pub fn from_the_last_to_the_first() {
    let numbers: Vec<u64> = (3..9u32)
        .into_par_iter()
        .rev()
        .map(|k| {
            ckpt::checkpoint!();
            work(k.into())
        })
        .collect();
    let names: Vec<String> = (0..8).map(|k| format!("n{k}")).collect();
    let mut rows = vec![0u64; 15];
    let zipped: Vec<String> = names
        .into_par_iter()
        .zip(rows.par_chunks_mut(3))
        .enumerate()
        .rev()
        .map(|(place, (name, row))| {
            ckpt::checkpoint!();
            row.iter_mut().for_each(|one| *one = work(place as u64));
            format!("{place}{name}")
        })
        .collect();
    let twice: Vec<(usize, u64)> = rows
        .par_iter()
        .rev()
        .enumerate()
        .zip(numbers.par_iter().rev())
        .map(|((place, row), number)| {
            ckpt::checkpoint!();
            (place, *row ^ *number)
        })
        .collect();
    println!("= {numbers:?} {zipped:?} {rows:?} {twice:?}");
}

/// A handle of what shows how far a loop is.
#[derive(Clone)]
struct ProgressBar(Arc<AtomicU64>);

impl ProgressBar {
    fn new(_: u64) -> Self {
        Self(Arc::default())
    }
}

trait Shown: ParallelIterator {
    fn progress_with(self, bar: ProgressBar) -> impl ParallelIterator<Item = Self::Item> {
        self.inspect(move |_| _ = bar.0.fetch_add(1, Ordering::Relaxed))
    }
}

impl<I: ParallelIterator> Shown for I {}

#[ckpt::instrument]
pub fn shown_on_the_way() {
    let bar = ProgressBar::new(6);
    let numbers: Vec<u64> = (0..6u32)
        .into_par_iter()
        .rev()
        .progress_with(bar)
        .flat_map(|k| {
            ckpt::checkpoint!();
            (0..u64::from(k)).into_par_iter().map(work).collect::<Vec<u64>>()
        })
        .collect();
    let most = (0..5u64)
        .into_par_iter()
        .progress_with(ProgressBar::new(5))
        .map(|k| {
            ckpt::checkpoint!();
            work(k)
        })
        .max();
    println!("= {numbers:?} {most:?}");
}

#[ckpt::instrument]
pub fn ended_early() {
    let checked = |limit: u64| -> Result<Vec<u64>, String> {
        (0..limit)
            .into_par_iter()
            .map(|k| {
                if k < 40 {
                    Ok(work(k))
                } else {
                    Err("too large".to_string())
                }
            })
            .collect()
    };
    let plain = (checked(3), checked(50));
    let all: Result<Vec<u64>, String> = (0..12u64)
        .into_par_iter()
        .map(|k| {
            ckpt::checkpoint!();
            if k < 40 { Ok(work(k)) } else { Err(k.to_string()) }
        })
        .collect();
    let some: Option<Vec<u64>> = (0..50u64)
        .into_par_iter()
        .map(|k| {
            ckpt::checkpoint!();
            (k < 7).then(|| work(k))
        })
        .collect();
    println!("= {plain:?} {all:?} {some:?}");
}

#[ckpt::instrument]
pub fn in_a_chain_and_as_an_operand() {
    let rows: Vec<Vec<u64>> = (0..3u64).map(|k| vec![k; 9]).collect();
    let sums: Vec<u64> = rows
        .iter()
        .map(|row| {
            row.par_iter()
                .map(|k| {
                    ckpt::checkpoint!();
                    work(*k)
                })
                .sum::<u64>()
        })
        .collect();
    println!("{sums:?}");
    let mean = 4.0
        * (0..10u64)
            .into_par_iter()
            .map(|k| {
                ckpt::checkpoint!();
                work(k) % 2
            })
            .sum::<u64>() as f64
        / 10.0;
    println!(
        "= {mean} {:?}",
        rows[1]
            .par_iter()
            .map(|k| {
                ckpt::checkpoint!();
                k + 1
            })
            .collect::<Vec<_>>()
    );
}

#[ckpt::instrument]
pub fn owned_by_the_closure() {
    let table: Vec<u64> = (0..8).map(work).collect();
    let offset = 5u64;
    let shifted: Vec<u64> = (0..16usize)
        .into_par_iter()
        .map(move |k| {
            ckpt::checkpoint!();
            table[k % 8] + offset
        })
        .collect();
    let nothing: Vec<u64> = (0..0)
        .into_par_iter()
        .map(|k: u64| {
            ckpt::checkpoint!();
            k
        })
        .collect();
    let none: u64 = nothing
        .par_iter()
        .map(|k| {
            ckpt::checkpoint!();
            *k
        })
        .sum();
    println!("= {shifted:?} {offset} {nothing:?} {none}");
}

#[ckpt::instrument]
pub fn in_a_loop() {
    let mut field = vec![1u64; 12];
    for step in 0..3u64 {
        let before = field.clone();
        field
            .par_iter_mut()
            .zip(&before)
            .enumerate()
            .for_each(|(k, (now, before))| {
                ckpt::checkpoint!();
                *now = work(before + step) + k as u64;
            });
        println!("{step} {}", field.iter().sum::<u64>());
    }
    println!("= {field:?}");
}
