//! Random numbers: xoshiro256++ (Blackman and Vigna 2019), one for each thread.

/// A generator of four words.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// The generator of a thread: its words come from SplitMix64.
    pub fn new(thread: u64) -> Self {
        let mut seed = thread.wrapping_mul(0xA076_1D64_78BD_642F);
        let state = std::array::from_fn(|_| {
            seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        });
        Self { state }
    }

    fn next(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// From 0 to 1, without 1.
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Exponentially distributed with mean 1, by von Neumann's comparisons: no logarithm, which no standard rounds.
    pub fn exponential(&mut self) -> f64 {
        let mut whole = 0.0;
        loop {
            let first = self.uniform();
            let (mut last, mut falls) = (first, 1);
            loop {
                let next = self.uniform();
                if next >= last {
                    break;
                }
                last = next;
                falls += 1;
            }
            if falls % 2 == 1 {
                return whole + first;
            }
            whole += 1.0;
        }
    }
}
