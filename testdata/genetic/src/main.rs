/*
 * Travelling salesman, two ways:
 *   tsp ga [cities]      a genetic algorithm (order crossover, tournament selection, elitism)
 *   tsp anneal [cities]  simulated annealing with 2-opt moves
 *   tsp both [cities]    the annealed tour of the GA's winner
 */
mod rng;

#[path = "annealing_v2.rs"]
mod annealing;

use rng::XorShift;
use std::cmp::Ordering;
use std::io::Write;

const POP_SIZE: usize = 240;
const GENERATIONS: usize = 1500;
const ELITE: usize = 4;
const STAGNATION_LIMIT: usize = 150;

pub type Tour = Vec<usize>;

#[derive(Clone, Copy, Debug)]
pub struct City { pub x: f64, pub y: f64 }

pub struct DistanceTable { rows: Vec<Vec<f64>> }

impl DistanceTable {
    pub fn new(cities: &[City]) -> Self {
        let rows = cities.iter()
            .map(|a| cities.iter().map(|b| ((a.x - b.x).powi(2) + (a.y - b.y).powi(2)).sqrt()).collect())
            .collect();
        DistanceTable { rows }
    }
    pub fn len_of(&self, tour: &[usize]) -> f64 {
        tour.windows(2).map(|w| self[(w[0], w[1])]).sum::<f64>() + self[(tour[tour.len() - 1], tour[0])]
    }
}

impl std::ops::Index<(usize, usize)> for DistanceTable {
    type Output = f64;
    fn index(&self, (a, b): (usize, usize)) -> &f64 { &self.rows[a][b] }
}

macro_rules! swap_if {
    ($cond:expr, $a:ident, $b:ident) => { if $cond { let t = $a; $a = $b; $b = t; } };
}

/// OX: a slice of the mother stays in place, the rest comes in the father's order.
fn order_crossover(rng: &mut XorShift, mum: &[usize], dad: &[usize]) -> Tour {
    let n = mum.len();
    let mut lo = rng.below(n);
    let mut hi = rng.below(n);
    swap_if!(lo > hi, lo, hi);

    let mut taken = vec![false; n];
    let mut child = vec![usize::MAX; n];
    for k in lo..=hi {
        child[k] = mum[k];
        taken[mum[k]] = true;
    }
    let mut at = (hi + 1) % n;
    for off in 1..=n {
        let c = dad[(hi + off) % n];
        if taken[c] { continue }
        child[at] = c;
        at = (at + 1) % n;
    }
    child
}

fn mutate(rng: &mut XorShift, tour: &mut Tour) {
    if rng.unit() < 0.35 {
        let (mut i, mut j) = (rng.below(tour.len()), rng.below(tour.len()));
        swap_if!(i > j, i, j);
        tour[i..=j].reverse();
    }
    if rng.unit() < 0.10 {
        let c = tour.remove(rng.below(tour.len()));
        let to = rng.below(tour.len() + 1);
        tour.insert(to, c);
    }
}

fn tournament<'p>(rng: &mut XorShift, pop: &'p [Tour], fitness: &[f64], rounds: usize) -> &'p Tour {
    let mut winner = rng.below(pop.len());
    for _ in 1..rounds {
        let rival = rng.below(pop.len());
        if fitness[rival] < fitness[winner] { winner = rival; }
    }
    &pop[winner]
}

fn genetic(dist: &DistanceTable, n: usize, rng: &mut XorShift) -> (Tour, f64) {
    let mut population: Vec<Tour> = (0..POP_SIZE).map(|_| rng.permutation(n)).collect();
    let mut best: Option<(Tour, f64)> = None;
    let mut stagnant = 0;

    for gen in 0..GENERATIONS {
        // rank: best first
        population.sort_by(|a, b| dist.len_of(a).partial_cmp(&dist.len_of(b)).unwrap_or(Ordering::Equal));
        let fitness: Vec<f64> = population.iter().map(|t| dist.len_of(t)).collect();

        let improved = match &best { None => true, Some((_, l)) => fitness[0] < *l - 1e-12 };
        if improved {
            best = Some((population[0].clone(), fitness[0]));
            stagnant = 0;
        } else {
            stagnant += 1;
            if stagnant >= STAGNATION_LIMIT {
                println!("gen {:4}: nothing new for {} generations", gen, stagnant);
                break;
            }
        }
        if gen % 100 == 0 {
            let mean = fitness.iter().sum::<f64>() / fitness.len() as f64;
            println!("gen {:4}: best {:.5} mean {:.5} worst {:.5}", gen, fitness[0], mean, fitness[POP_SIZE - 1]);
        }

        let mut children: Vec<Tour> = population[..ELITE].to_vec();
        while children.len() < POP_SIZE {
            let mum = tournament(rng, &population, &fitness, 4);
            let dad = tournament(rng, &population, &fitness, 4);
            let mut child = order_crossover(rng, mum, dad);
            mutate(rng, &mut child);
            children.push(child);
        }
        population = children;
    }
    best.unwrap()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let how = args.get(1).map(|s| s.as_str()).unwrap_or("ga");
    let n: usize = match args.get(2) {
        Some(s) => match s.parse() {
            Ok(n) if n >= 5 => n,
            _ => { eprintln!("{}: need a number of cities, 5 or more", s); std::process::exit(2); }
        },
        None => 60,
    };

    let mut rng = XorShift::new(0x9E37_79B9_7F4A_7C15);
    let cities: Vec<City> = (0..n).map(|_| City { x: rng.unit(), y: rng.unit() }).collect();
    let dist = DistanceTable::new(&cities);

    let (tour, len) = match how {
        "ga" => genetic(&dist, n, &mut rng),
        "anneal" => annealing::anneal(&dist, rng.permutation(n), &mut rng, &annealing::Schedule::default()),
        "both" => {
            let (t, l) = genetic(&dist, n, &mut rng);
            println!("handing over at {:.6}", l);
            annealing::anneal(&dist, t, &mut rng, &annealing::Schedule { t0: 0.05, ..Default::default() })
        }
        other => { eprintln!("ga, anneal or both, not {}", other); std::process::exit(2) }
    };

    let mut seen = tour.clone();
    seen.sort_unstable();
    assert!(seen.iter().enumerate().all(|(i, &c)| i == c), "not a permutation");
    println!("{} cities: tour of {:.9}", n, len);

    let mut f = std::fs::File::create("best_tour.txt").expect("best_tour.txt");
    for &c in &tour {
        writeln!(f, "{:3} {:.6} {:.6}", c, cities[c].x, cities[c].y).expect("write");
    }
}
