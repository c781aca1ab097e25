//! Vectors of three numbers. Only operations that IEEE 754 rounds exactly, so that every machine computes
//! the same orbits.

pub type Vector = [f64; 3];

pub fn minus(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub fn norm(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

pub fn unit(a: Vector) -> Vector {
    let length = norm(a);
    a.map(|x| x / length)
}

pub fn add_scaled(a: &mut Vector, factor: f64, b: Vector) {
    for axis in 0..3 {
        a[axis] += factor * b[axis];
    }
}

/// The pull of a body of unit gm at distance `d`: d / |d|^3.
pub fn attraction(d: Vector) -> Vector {
    let square = dot(d, d);
    let factor = 1.0 / (square * square.sqrt());
    d.map(|x| factor * x)
}

/// A uniformly distributed direction in the plane: points of the square until one falls into the circle.
pub fn direction(seed: &mut u64) -> (f64, f64) {
    loop {
        let (x, y) = (uniform(seed), uniform(seed));
        let square = x * x + y * y;
        if square > 0.01 && square < 1.0 {
            let length = square.sqrt();
            return (x / length, y / length);
        }
    }
}

/// A number from -1 to 1 (Knuth's MMIX linear congruence, upper bits).
fn uniform(seed: &mut u64) -> f64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}
