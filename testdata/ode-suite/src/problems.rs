pub struct Problem {
    pub name: &'static str,
    pub rhs: fn(f64, &[f64], &mut [f64]),
    pub start: &'static [f64],
    pub span: (f64, f64),
    /// Something that the exact solution keeps.
    pub invariant: Option<fn(&[f64]) -> f64>,
}

fn lorenz(_t: f64, y: &[f64], dy: &mut [f64]) {
    let (sigma, rho, beta) = (10.0, 28.0, 8.0 / 3.0);
    dy[0] = sigma * (y[1] - y[0]);
    dy[1] = y[0] * (rho - y[2]) - y[1];
    dy[2] = y[0] * y[1] - beta * y[2];
}

fn kepler(_: f64, y: &[f64], dy: &mut [f64]) {
    let r3 = (y[0] * y[0] + y[1] * y[1]).powf(1.5);
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = -y[0] / r3;
    dy[3] = -y[1] / r3;
}

fn kepler_energy(y: &[f64]) -> f64 {
    0.5 * (y[2].powi(2) + y[3].powi(2)) - 1.0 / y[0].hypot(y[1])
}

fn lotka_volterra(_t: f64, y: &[f64], dy: &mut [f64]) {
    let [hares, lynxes] = [y[0], y[1]];
    dy[0] = 1.1 * hares - 0.4 * hares * lynxes;
    dy[1] = 0.1 * hares * lynxes - 0.4 * lynxes;
}

fn van_der_pol(_: f64, y: &[f64], dy: &mut [f64]) {
    const MU: f64 = 5.0;
    dy[0] = y[1];
    dy[1] = MU * (1.0 - y[0] * y[0]) * y[1] - y[0];
}

/// A chain of pendulums with springs between them, driven at one end.
fn chain(t: f64, y: &[f64], dy: &mut [f64]) {
    let n = y.len() / 2;
    for i in 0..n {
        let left = if i == 0 { 0.5 * (0.7 * t).sin() } else { y[i - 1] };
        let right = if i + 1 == n { 0.0 } else { y[i + 1] };
        dy[i] = y[n + i];
        dy[n + i] = 4.0 * (left - 2.0 * y[i] + right) - y[i].sin();
    }
}

pub static PROBLEMS: &[Problem] = &[
    Problem { name: "lorenz", rhs: lorenz, start: &[1.0, 1.0, 1.0], span: (0.0, 20.0), invariant: None },
    Problem {
        name: "kepler",
        rhs: kepler,
        start: &[0.4, 0.0, 0.0, 2.0],
        span: (0.0, 60.0),
        invariant: Some(kepler_energy),
    },
    Problem {
        name: "lotka",
        rhs: lotka_volterra,
        start: &[10.0, 10.0],
        span: (0.0, 80.0),
        invariant: Some(|y| 0.1 * y[0] - 0.4 * y[0].ln() + 0.4 * y[1] - 1.1 * y[1].ln()),
    },
    Problem { name: "vanderpol", rhs: van_der_pol, start: &[2.0, 0.0], span: (0.0, 40.0), invariant: None },
    Problem { name: "chain", rhs: chain, start: &[0.0; 24], span: (0.0, 30.0), invariant: None },
];
