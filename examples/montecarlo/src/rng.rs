//! Random numbers: xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
//! 2021), seeded through SplitMix64, and the distributions that photons need.

/// The generator: its whole state is four words.
#[derive(ckpt::Checkpoint)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    pub fn new(seed: u64) -> Rng {
        let mut at = seed;
        let state = [0; 4].map(|_: u64| {
            at = at.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (at ^ at >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        });
        Rng { state }
    }

    fn word(&mut self) -> u64 {
        let s = &mut self.state;
        let word = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        word
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential with mean 1, by comparing uniform numbers only (von Neumann 1951): no logarithm, so every
    /// machine draws the same numbers.
    pub fn exponential(&mut self) -> f64 {
        let mut whole = 0.0;
        loop {
            let first = self.uniform();
            let (mut last, mut descents) = (first, 1);
            loop {
                let next = self.uniform();
                if next >= last {
                    break;
                }
                last = next;
                descents += 1;
            }
            if descents % 2 == 1 {
                return whole + first;
            }
            whole += 1.0;
        }
    }

    /// A uniformly distributed direction in the plane: cosine and sine of its angle.
    pub fn direction(&mut self) -> (f64, f64) {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 1e-4 && square < 1.0 {
                let length = square.sqrt();
                return (x / length, y / length);
            }
        }
    }
}
