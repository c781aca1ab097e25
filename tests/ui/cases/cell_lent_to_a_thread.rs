use std::sync::atomic::{AtomicU64, Ordering};

struct Cells(AtomicU64);

#[ckpt::main]
fn main() {
    let cells = Cells(AtomicU64::new(0));
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for i in 0..9 {
                    ckpt::checkpoint!();
                    cells.0.fetch_add(i, Ordering::Relaxed);
                }
            });
        }
    });
    println!("{}", cells.0.load(Ordering::Relaxed));
}
