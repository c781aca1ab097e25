// Second version: 2-opt moves by difference in length, and reheating.
use super::{rng::XorShift, DistanceTable, Tour};

pub struct Schedule { pub t0: f64, pub cooling: f64, pub moves: usize, pub t_end: f64, pub reheats: u32 }

impl Default for Schedule {
    fn default() -> Self { Schedule { t0: 0.6, cooling: 0.985, moves: 4_000, t_end: 1e-4, reheats: 2 } }
}

fn gain(d: &DistanceTable, t: &[usize], i: usize, j: usize) -> f64 {
    let n = t.len();
    let (a, b) = (t[(i + n - 1) % n], t[i]);
    let (c, e) = (t[j], t[(j + 1) % n]);
    if a == c || b == e { return 0.0 }
    d[(a, c)] + d[(b, e)] - d[(a, b)] - d[(c, e)]
}

pub fn anneal(d: &DistanceTable, start: Tour, rng: &mut XorShift, s: &Schedule) -> (Tour, f64) {
    let mut tour = start;
    let mut len = d.len_of(&tour);
    let (mut best, mut best_len) = (tour.clone(), len);
    let mut t = s.t0;
    let mut reheats = s.reheats;
    let mut accepted = 0u64;
    let mut level = 0;

    loop {
        for _ in 0..s.moves {
            let i = rng.below(tour.len());
            let j = rng.below(tour.len());
            let (i, j) = if i < j { (i, j) } else { (j, i) };
            let delta = gain(d, &tour, i, j);
            let take = delta < 0.0 || rng.unit() < (-delta / t).exp();
            if !take { continue; }
            tour[i..=j].reverse();
            len += delta;
            accepted += 1;
            if len < best_len - 1e-12 {
                best_len = len;
                best.clone_from(&tour);
            }
        }
        level += 1;
        if level % 100 == 0 { println!("level {:4} T {:.5} length {:.6} best {:.6}", level, t, len, best_len); }
        t *= s.cooling;
        if t < s.t_end {
            if reheats == 0 { break (best, best_len) }
            reheats -= 1;
            t = s.t0 * 0.1;
            tour = best.clone();
            len = d.len_of(&tour);
            println!("reheated after {} accepted moves, best {:.6}", accepted, best_len);
        }
    }
}
