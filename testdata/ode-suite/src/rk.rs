use crate::{OdeError, Rhs, Solution, Stats};

/// Counts the calls of a right-hand side.
struct Counted<'a> {
    f: Rhs<'a>,
    calls: std::cell::Cell<usize>,
}

impl<'a> Counted<'a> {
    fn new(f: Rhs<'a>) -> Self {
        Counted { f, calls: Default::default() }
    }

    fn eval(&self, t: f64, y: &[f64], dy: &mut [f64]) {
        self.calls.set(self.calls.get() + 1);
        (self.f)(t, y, dy)
    }
}

fn finite(t: f64, y: &[f64]) -> Result<(), OdeError> {
    if y.iter().all(|v| v.is_finite()) {
        Ok(())
    } else {
        Err(OdeError::NotFinite(t))
    }
}

/// The driver of every method with fixed steps: `advance(t, h, y)` makes one step in place.
pub fn fixed_steps<S>(
    t0: f64,
    t1: f64,
    y0: &[f64],
    n: usize,
    mut advance: S,
) -> Result<(Vec<f64>, Vec<(f64, f64)>), OdeError>
where
    S: FnMut(f64, f64, &mut [f64]),
{
    let h = (t1 - t0) / n as f64;
    let mut y = y0.to_vec();
    let mut trace = vec![(t0, y[0])];
    for k in 0..n {
        let t = t0 + k as f64 * h;
        advance(t, h, &mut y);
        finite(t, &y)?;
        trace.push((t + h, y[0]));
    }
    Ok((y, trace))
}

pub fn euler(f: Rhs, t0: f64, t1: f64, y0: &[f64], tol: f64) -> Result<Solution, OdeError> {
    let n = (((t1 - t0) * 5.0 / tol.sqrt()).ceil() as usize).min(200_000);
    let counted = Counted::new(f);
    let mut dy = vec![0.0; y0.len()];
    let (y, trace) = fixed_steps(t0, t1, y0, n, |t, h, y| {
        counted.eval(t, y, &mut dy);
        for (y, dy) in y.iter_mut().zip(&dy) {
            *y += h * dy;
        }
    })?;
    Ok(Solution { y, trace, stats: Stats { steps: n, rejected: 0, evaluations: counted.calls.get() } })
}

pub fn rk4(f: Rhs, t0: f64, t1: f64, y0: &[f64], tol: f64) -> Result<Solution, OdeError> {
    let n = ((t1 - t0) * 25.0 * tol.powf(-0.25)).ceil() as usize;
    let counted = Counted::new(f);
    let dim = y0.len();
    let mut k = vec![vec![0.0; dim]; 4];
    let mut tmp = vec![0.0; dim];
    let (y, trace) = fixed_steps(t0, t1, y0, n, |t, h, y| {
        for stage in 0..4 {
            let c = [0.0, 0.5, 0.5, 1.0][stage];
            for i in 0..dim {
                tmp[i] = y[i] + if stage > 0 { c * h * k[stage - 1][i] } else { 0.0 };
            }
            counted.eval(t + c * h, &tmp, &mut k[stage]);
        }
        for i in 0..dim {
            y[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
        }
    })?;
    Ok(Solution { y, trace, stats: Stats { steps: n, evaluations: counted.calls.get(), ..Stats::default() } })
}

// Fehlberg's tableau.
const C: [f64; 6] = [0.0, 1.0 / 4.0, 3.0 / 8.0, 12.0 / 13.0, 1.0, 1.0 / 2.0];
const A: [&[f64]; 6] = [
    &[],
    &[1.0 / 4.0],
    &[3.0 / 32.0, 9.0 / 32.0],
    &[1932.0 / 2197.0, -7200.0 / 2197.0, 7296.0 / 2197.0],
    &[439.0 / 216.0, -8.0, 3680.0 / 513.0, -845.0 / 4104.0],
    &[-8.0 / 27.0, 2.0, -3544.0 / 2565.0, 1859.0 / 4104.0, -11.0 / 40.0],
];
const B5: [f64; 6] = [16.0 / 135.0, 0.0, 6656.0 / 12825.0, 28561.0 / 56430.0, -9.0 / 50.0, 2.0 / 55.0];
const B4: [f64; 6] = [25.0 / 216.0, 0.0, 1408.0 / 2565.0, 2197.0 / 4104.0, -1.0 / 5.0, 0.0];

pub fn rkf45(f: Rhs, t0: f64, t1: f64, y0: &[f64], tol: f64) -> Result<Solution, OdeError> {
    let counted = Counted::new(f);
    let dim = y0.len();
    let mut stats = Stats::default();
    let (mut t, mut y) = (t0, y0.to_vec());
    let mut h = (t1 - t0) * 1e-3;
    let mut trace = Vec::new();
    let mut k: [Vec<f64>; 6] = std::array::from_fn(|_| vec![0.0; dim]);
    let tol = tol * 1e-4;

    while t < t1 {
        h = h.min(t1 - t);
        if h < 1e-13 * t.abs().max(1.0) {
            return Err(OdeError::StepTooSmall { t, step: h });
        }
        for s in 0..6 {
            let mut stage = y.clone();
            for (a, k) in A[s].iter().zip(k.iter()) {
                stage.iter_mut().zip(k).for_each(|(y, k)| *y += h * a * k);
            }
            counted.eval(t + C[s] * h, &stage, &mut k[s]);
        }
        let mut worst = 0f64;
        let mut next = y.clone();
        for i in 0..dim {
            let (mut hi, mut lo) = (0.0, 0.0);
            for s in 0..6 {
                hi += B5[s] * k[s][i];
                lo += B4[s] * k[s][i];
            }
            next[i] += h * hi;
            let scale = tol * (1.0 + y[i].abs());
            worst = worst.max((h * (hi - lo) / scale).abs());
        }
        let factor = if worst == 0.0 { 4.0 } else { (0.9 * worst.powf(-0.2)).clamp(0.2, 4.0) };
        if worst > 1.0 {
            stats.rejected += 1;
            h *= factor;
            continue;
        }
        t += h;
        y = next;
        finite(t, &y)?;
        stats.steps += 1;
        trace.push((t, y[0]));
        h *= factor;
    }
    stats.evaluations = counted.calls.into_inner();
    Ok(Solution { y, stats, trace })
}
