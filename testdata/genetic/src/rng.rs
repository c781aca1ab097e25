pub struct XorShift { s: u64 }

impl XorShift {
    pub fn new(seed: u64) -> Self { XorShift { s: seed | 1 } }

    #[inline]
    pub fn next(&mut self) -> u64 {
        self.s ^= self.s << 13;
        self.s ^= self.s >> 7;
        self.s ^= self.s << 17;
        self.s.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn unit(&mut self) -> f64 { (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64) }

    pub fn below(&mut self, n: usize) -> usize { (self.next() >> 32) as usize * n >> 32 }

    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut p: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            let j = self.below(i + 1);
            p.swap(i, j);
        }
        p
    }
}
