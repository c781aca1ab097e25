use crate::{rk, OdeError, Rhs, Solution, Stats};
use std::collections::VecDeque;

/// Four-step Adams-Bashforth predictor with an Adams-Moulton corrector; started by Heun steps.
pub fn adams_bashforth_moulton(f: Rhs, t0: f64, t1: f64, y0: &[f64], tol: f64) -> Result<Solution, OdeError> {
    let n = ((t1 - t0) * 40.0 * tol.powf(-0.25)).ceil() as usize;
    let mut evaluations = 0;
    let mut call = |t: f64, y: &[f64]| -> Vec<f64> {
        let mut dy = vec![0.0; y.len()];
        f(t, y, &mut dy);
        evaluations += 1;
        dy
    };
    let axpy = |y: &[f64], terms: &[(f64, &Vec<f64>)]| -> Vec<f64> {
        (0..y.len()).map(|i| y[i] + terms.iter().map(|(c, v)| c * v[i]).sum::<f64>()).collect()
    };

    let mut past: VecDeque<Vec<f64>> = VecDeque::with_capacity(4);
    let (y, trace) = rk::fixed_steps(t0, t1, y0, n, |t, h, y| {
        let now = call(t, y);
        past.push_front(now);
        past.truncate(4);
        let new = if past.len() < 4 {
            let guess = axpy(y, &[(h, &past[0])]);
            let end = call(t + h, &guess);
            axpy(y, &[(h / 2.0, &past[0]), (h / 2.0, &end)])
        } else {
            let w = h / 24.0;
            let guess = axpy(y, &[(55.0 * w, &past[0]), (-59.0 * w, &past[1]), (37.0 * w, &past[2]), (-9.0 * w, &past[3])]);
            let end = call(t + h, &guess);
            axpy(y, &[(9.0 * w, &end), (19.0 * w, &past[0]), (-5.0 * w, &past[1]), (w, &past[2])])
        };
        y.copy_from_slice(&new);
    })?;
    Ok(Solution { y, trace, stats: Stats { steps: n, rejected: 0, evaluations } })
}
