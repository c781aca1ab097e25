// A forest fire: the land is cut into strips, each of which a thread of crossbeam's scope follows through all the days.

use crossbeam::thread;
use std::sync::{Barrier, Mutex};

const WIDTH: usize = 80;
const DAYS: usize = 240;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Land {
    Empty,
    Tree(u8),
    Fire,
}

struct Dice {
    state: u64,
}

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % sides
    }
}

struct Borders {
    // The first and the last row of every strip.
    rows: Vec<Mutex<[Vec<Land>; 2]>>,
    dawn: Barrier,
}

fn day(strip: &mut [Vec<Land>], above: &[Land], below: &[Land], dice: &mut Dice) -> usize {
    let old: Vec<Vec<Land>> = strip.to_vec();
    let mut burning = 0;
    for y in 0..strip.len() {
        let up = if y == 0 { above } else { &old[y - 1][..] };
        let down = if y + 1 == strip.len() { below } else { &old[y + 1][..] };
        for x in 0..WIDTH {
            let left = old[y][(x + WIDTH - 1) % WIDTH];
            let right = old[y][(x + 1) % WIDTH];
            let near = [up[x], down[x], left, right].iter().filter(|l| **l == Land::Fire).count();
            strip[y][x] = match old[y][x] {
                Land::Empty if dice.roll(40) == 0 => Land::Tree(0),
                Land::Empty => Land::Empty,
                Land::Tree(_) if near > 0 && dice.roll(10) < 8 => Land::Fire,
                Land::Tree(age) if dice.roll(4000) == 0 && age > 3 => Land::Fire,
                Land::Tree(age) => Land::Tree(age.saturating_add(1)),
                Land::Fire => Land::Empty,
            };
            if strip[y][x] == Land::Fire {
                burning += 1;
            }
        }
    }
    burning
}

fn main() {
    let threads: usize = std::env::args().nth(1).map_or(2, |n| n.parse().expect("how many threads"));
    let mut land = vec![vec![Land::Tree(9); WIDTH]; 60];
    land[30][40] = Land::Fire;
    let height = land.len().div_ceil(threads);
    let strips = land.chunks(height).count();
    let borders = Borders {
        rows: land
            .chunks(height)
            .map(|strip| Mutex::new([strip[0].clone(), strip[strip.len() - 1].clone()]))
            .collect(),
        dawn: Barrier::new(strips),
    };
    let mut burnt = vec![0usize; strips];
    thread::scope(|s| {
        for ((k, strip), burnt) in land.chunks_mut(height).enumerate().zip(burnt.iter_mut()) {
            let borders = &borders;
            s.spawn(move |_| {
                let mut dice = Dice { state: 88172645463325252 + k as u64 };
                let sea = vec![Land::Empty; WIDTH];
                for _today in 0..DAYS {
                    let above = if k == 0 { sea.clone() } else { borders.rows[k - 1].lock().unwrap()[1].clone() };
                    let below = if k + 1 == strips { sea.clone() } else { borders.rows[k + 1].lock().unwrap()[0].clone() };
                    *burnt += day(strip, &above, &below, &mut dice);
                    borders.dawn.wait();
                    *borders.rows[k].lock().unwrap() = [strip[0].clone(), strip[strip.len() - 1].clone()];
                    borders.dawn.wait();
                }
            });
        }
    })
    .expect("a strip panicked");
    let trees = land.iter().flatten().filter(|l| matches!(l, Land::Tree(_))).count();
    let ages: usize = land.iter().flatten().map(|l| if let Land::Tree(age) = l { *age as usize } else { 0 }).sum();
    println!("burnt {burnt:?}, {trees} trees, {ages} years");
}
