//! Times, counted in looks at the clock, some 30 nanoseconds each: a machine may be slow, or be made by a program, and what
//! is short on it is told by what a look takes.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What a look takes at least, and what is believed of it at most.
const SOONEST: Duration = Duration::from_nanos(20);
const LATEST: Duration = Duration::from_micros(2);

/// A time in looks at the clock.
pub(crate) fn in_looks(time: Duration) -> u32 {
    static LOOK: OnceLock<Duration> = OnceLock::new();
    let look = LOOK.get_or_init(one_look).as_nanos().max(1);
    u32::try_from(time.as_nanos() / look).unwrap_or(u32::MAX)
}

/// How long a look takes: the shortest of some, as others may come between.
fn one_look() -> Duration {
    let looks = (0..16).map(|_| {
        let began = Instant::now();
        began.elapsed()
    });
    looks.min().unwrap_or_default().clamp(SOONEST, LATEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_so_many_looks() {
        assert_eq!(in_looks(Duration::ZERO), 0);
        let second = in_looks(Duration::from_secs(1));
        assert!((500_000..=50_000_000).contains(&second), "{second}");
        assert_eq!(in_looks(Duration::MAX), u32::MAX);
    }
}
