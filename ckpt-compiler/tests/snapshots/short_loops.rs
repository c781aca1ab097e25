//! Loops of quick iterations: most run in a copy of the body without the site.

/// How many steps it takes to 1, for the number below the bound that needs most.
#[ckpt::instrument]
pub fn longest(bound: u64) -> Option<(u64, u64)> {
    let mut best = (0, 0);
    let mut start = 0;
    let ended = loop {
        ckpt::checkpoint!(short);
        start += 1;
        if start == bound {
            break start;
        }
        if start % 2 == 0 {
            continue;
        }
        let (mut at, mut steps) = (start, 0);
        while at != 1 {
            at = if at % 2 == 0 {
                at / 2
            } else {
                at.checked_mul(3)? + 1
            };
            steps += 1;
            if steps > 10_000 {
                break;
            }
        }
        if steps > best.1 {
            best = (start, steps);
        }
    };
    for _ in 0..ended {
        ckpt::checkpoint!(short);
        best.0 = best.0.max(1);
    }
    Some(best)
}
