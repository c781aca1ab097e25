//! Two threads in step, and a signal at some point of an iteration that asks for a checkpoint. Prints when each member comes
//! to its site, and when the signal came; the last lines are those at which all stood, for then the program ends.

use signal_hook::consts::SIGUSR1;
use signal_hook::low_level::raise;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

const MEMBERS: usize = 2;
/// Pieces of an iteration.
const PIECES: usize = 10;
/// The iteration in which the signal comes.
const ASKS: usize = 5;

fn piece(seed: &mut u64) {
    for k in 0..1_000_000_u64 {
        *seed = (*seed ^ k).wrapping_mul(6_364_136_223_846_793_005);
    }
    black_box(seed);
}

#[ckpt::main]
fn main() {
    let asking: usize = std::env::args()
        .nth(1)
        .and_then(|word| word.parse().ok())
        .unwrap_or(0);
    let barrier = Barrier::new(MEMBERS);
    let begin = Instant::now();
    thread::scope(|s| {
        for member in 0..MEMBERS {
            let barrier = &barrier;
            s.spawn(move || {
                let mut seed = member as u64;
                for iteration in 0..4 * ASKS {
                    println!("{member} {}", begin.elapsed().as_nanos());
                    ckpt::checkpoint!();
                    for part in 0..PIECES {
                        if member == 0 && iteration == ASKS && part == asking {
                            println!("asked {}", begin.elapsed().as_nanos());
                            let _ = raise(SIGUSR1);
                        }
                        piece(&mut seed);
                    }
                    barrier.wait();
                }
            });
        }
    });
}
