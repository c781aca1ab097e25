/// The NPB generator, in 46-bit integers rather than in halves of doubles: the numbers are the same.
pub struct Lcg {
    state: u64,
    multiplier: u64,
}

const MASK: u64 = (1 << 46) - 1;

impl Lcg {
    pub fn new(seed: f64, multiplier: f64) -> Lcg {
        Lcg { state: seed as u64, multiplier: multiplier as u64 }
    }

    pub fn next(&mut self) -> f64 {
        self.state = mul(self.state, self.multiplier);
        self.state as f64 / (1u64 << 46) as f64
    }

    /// The state after one draw.
    pub fn skip(mut self) -> f64 {
        self.next();
        self.state as f64
    }

    /// a^n mod 2^46
    pub fn power(a: f64, n: usize) -> f64 {
        fn go(a: u64, n: usize) -> u64 {
            match n {
                0 => 1,
                n if n % 2 == 0 => go(mul(a, a), n / 2),
                n => mul(a, go(a, n - 1)),
            }
        }
        go(a as u64, n) as f64
    }
}

fn mul(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b) & MASK
}
