// K-means: the points are assigned by threads of crossbeam that get their chunks from a channel.

use crossbeam::channel;
use crossbeam::thread;

const CLUSTERS: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Clone, Default)]
struct Sums {
    x: [f64; CLUSTERS],
    y: [f64; CLUSTERS],
    count: [usize; CLUSTERS],
}

fn nearest(centres: &[Point], p: &Point) -> usize {
    let distance = |c: &Point| (c.x - p.x).powi(2) + (c.y - p.y).powi(2);
    (0..centres.len()).min_by(|a, b| distance(&centres[*a]).total_cmp(&distance(&centres[*b]))).unwrap()
}

fn assign(points: &[Point], centres: &[Point], threads: usize) -> Vec<Sums> {
    let (send_work, work) = channel::unbounded::<(usize, &[Point])>();
    let (send_done, done) = channel::bounded(64);
    points.chunks(256).enumerate().for_each(|chunk| send_work.send(chunk).unwrap());
    drop(send_work);
    let mut all = vec![Sums::default(); points.len().div_ceil(256)];
    thread::scope(|s| {
        for _ in 0..threads {
            let (work, send_done) = (work.clone(), send_done.clone());
            s.spawn(move |_| {
                for (number, chunk) in work {
                    let mut sums = Sums::default();
                    for p in chunk {
                        let k = nearest(centres, p);
                        sums.x[k] += p.x;
                        sums.y[k] += p.y;
                        sums.count[k] += 1;
                    }
                    send_done.send((number, sums)).unwrap();
                }
            });
        }
        drop(send_done);
        for (number, sums) in done {
            all[number] = sums;
        }
    })
    .unwrap();
    all
}

fn main() {
    let threads = std::env::args().nth(1).map(|n| n.parse().unwrap()).unwrap_or(3);
    let mut seed = 12345u64;
    let mut draw = || {
        seed = seed.wrapping_mul(2862933555777941757).wrapping_add(3037000493);
        (seed >> 33) as f64 / (1u64 << 31) as f64
    };
    let points: Vec<Point> = (0..6000)
        .map(|i| {
            let (cx, cy) = ((i % 4) as f64, (i % 3) as f64);
            Point { x: cx + 0.8 * draw(), y: cy + 0.8 * draw() }
        })
        .collect();
    let mut centres: Vec<Point> = (0..CLUSTERS).map(|k| points[k * 97]).collect();
    for turn in 0..60 {
        let sums = assign(&points, &centres, threads);
        let mut moved = 0.0f64;
        for (k, centre) in centres.iter_mut().enumerate() {
            let count: usize = sums.iter().map(|s| s.count[k]).sum();
            if count == 0 {
                continue;
            }
            let new = Point {
                x: sums.iter().map(|s| s.x[k]).sum::<f64>() / count as f64,
                y: sums.iter().map(|s| s.y[k]).sum::<f64>() / count as f64,
            };
            moved = moved.max((new.x - centre.x).hypot(new.y - centre.y));
            *centre = new;
        }
        if turn % 10 == 0 {
            println!("turn {turn}: moved {moved:.12}");
        }
        if moved < 1e-12 {
            println!("settled after {turn} turns");
            break;
        }
    }
    for centre in &centres {
        println!("{:.9} {:.9}", centre.x, centre.y);
    }
}
