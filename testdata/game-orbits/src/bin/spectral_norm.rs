// The Computer Language Benchmarks Game
// https://salsa.debian.org/benchmarksgame-team/benchmarksgame/
//
// contributed by the Rust Project Developers
// contributed by Matt Brubeck
// contributed by TeXitoi

use std::ops::Add;

fn main() {
    let n = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(3000);
    let answer = spectralnorm(n);
    println!("{:.9}", answer);
}

fn spectralnorm(n: usize) -> f64 {
    let mut u = vec![1.0; n];
    let mut v = vec![0.0; n];
    let mut tmp = vec![0.0; n];
    for _ in 0..10 {
        mult_at_av(&u, &mut v, &mut tmp);
        mult_at_av(&v, &mut u, &mut tmp);
    }
    (dot(&u, &v) / dot(&v, &v)).sqrt()
}

fn mult_at_av(v: &[f64], out: &mut [f64], tmp: &mut [f64]) {
    mult(v, tmp, 0, a);
    mult(tmp, out, 0, |i, j| a(j, i));
}

fn mult<F>(v: &[f64], out: &mut [f64], start: usize, a: F)
where
    F: Fn([usize; 2], [usize; 2]) -> F64x2,
{
    for (i, slot) in out.iter_mut().enumerate().map(|(i, s)| (i + start, s)) {
        let mut sum = F64x2(0.0, 0.0);
        for (j, chunk) in v.chunks(2).enumerate().map(|(j, s)| (2 * j, s)) {
            let top = match chunk {
                [x, y] => F64x2(*x, *y),
                [x] => F64x2(*x, 0.0),
                _ => unreachable!(),
            };
            let bot = a([i; 2], [j, j + 1]);
            sum = sum + top / bot;
        }
        let F64x2(x, y) = sum;
        *slot = x + y;
    }
}

fn a(i: [usize; 2], j: [usize; 2]) -> F64x2 {
    F64x2(
        ((i[0] + j[0]) * (i[0] + j[0] + 1) / 2 + i[0] + 1) as f64,
        ((i[1] + j[1]) * (i[1] + j[1] + 1) / 2 + i[1] + 1) as f64,
    )
}

fn dot(v: &[f64], u: &[f64]) -> f64 {
    v.iter().zip(u.iter()).map(|(a, b)| *a * *b).fold(0., |a, i| a + i)
}

struct F64x2(f64, f64);
impl Add for F64x2 {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        F64x2(self.0 + rhs.0, self.1 + rhs.1)
    }
}
impl std::ops::Div for F64x2 {
    type Output = Self;
    fn div(self, rhs: Self) -> Self {
        F64x2(self.0 / rhs.0, self.1 / rhs.1)
    }
}
