//! Random numbers of an atom, by SplitMix64.

pub struct Random(u64);

impl Random {
    pub fn new(atom: u32) -> Random {
        Random((u64::from(atom) + 1).wrapping_mul(0xA076_1D64_78BD_642F))
    }

    /// From 0 to 1, without 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About normally distributed with variance 1, as the sum of twelve: no logarithm, which no standard rounds.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}
