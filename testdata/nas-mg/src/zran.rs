// zran3: +1 at the ten largest random numbers, -1 at the ten smallest, 0 elsewhere

use crate::grid::{comm3, cube, zero3};

const MM: usize = 10;
const A: f64 = 1220703125.0; // 5^13
const X: f64 = 314159265.0;

fn randlc(x: &mut f64, a: f64) -> f64 {
    const D23: f64 = 8388608.0;
    const D46: f64 = D23 * D23;
    let split = |v: f64| {
        let hi = (v / D23).floor();
        (hi, v - D23 * hi)
    };
    let (a1, a2) = split(a);
    let (x1, x2) = split(*x);
    let t1 = a1 * x2 + a2 * x1;
    let (_, z) = split(t1);
    let t3 = D23 * z + a2 * x2;
    *x = t3 - D46 * (t3 / D46).floor();
    *x / D46
}

/// a^n mod 2^46
fn power(a: f64, n: usize) -> f64 {
    let mut nj = n;
    let mut aj = a;
    let mut power = 1.0;
    while nj != 0 {
        if nj % 2 == 1 { randlc(&mut power, aj); }
        let ajj = aj;
        randlc(&mut aj, ajj);
        nj /= 2;
    }
    power
}

#[derive(Clone, Copy)]
struct Charge { value: f64, at: usize }

/// One pass of bubble sort: the first of the ten goes to its place.
fn bubble(ten: &mut [Charge; MM], in_order: fn(f64, f64) -> bool) {
    for i in 0..MM - 1 {
        if in_order(ten[i].value, ten[i + 1].value) { return; }
        ten.swap(i, i + 1);
    }
}

pub fn zran3(z: &mut [f64], m: usize, nx: usize) {
    zero3(z, m);
    let a1 = power(A, nx);
    let a2 = power(A, nx * nx);
    let mut x0 = X;
    for i3 in 1..m - 1 {
        let mut x1 = x0;
        for i2 in 1..m - 1 {
            let mut xx = x1;
            let row = (i3 * m + i2) * m;
            for slot in &mut z[row + 1..row + m - 1] { *slot = randlc(&mut xx, A); }
            randlc(&mut x1, a1);
        }
        randlc(&mut x0, a2);
    }

    let mut largest = [Charge { value: 0.0, at: 0 }; MM];
    let mut smallest = [Charge { value: 1.0, at: 0 }; MM];
    for i3 in 1..m - 1 {
        for i2 in 1..m - 1 {
            for i1 in 1..m - 1 {
                let at = (i3 * m + i2) * m + i1;
                let value = z[at];
                if value > largest[0].value {
                    largest[0] = Charge { value, at };
                    bubble(&mut largest, |a, b| a <= b);
                }
                if value < smallest[0].value {
                    smallest[0] = Charge { value, at };
                    bubble(&mut smallest, |a, b| a >= b);
                }
            }
        }
    }

    for value in z[..cube(m)].iter_mut() { *value = 0.0; }
    for c in smallest.iter() { z[c.at] = -1.0; }
    for c in &largest { z[c.at] = 1.0; }
    comm3(z, m);
}
