use crate::linalg::{axpy, Cg, Csr, NotConverged};
use crate::Real;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    BackwardEuler,
    CrankNicolson,
    Bdf2,
}

impl FromStr for Scheme {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        Ok(match s {
            "euler" => Scheme::BackwardEuler,
            "cn" => Scheme::CrankNicolson,
            "bdf2" => Scheme::Bdf2,
            _ => return Err(format!("no scheme '{s}' (euler, cn, bdf2)")),
        })
    }
}

/// M du/dt + K u = f(t), with some unknowns held at their first values.
pub struct Problem<T> {
    pub mass: Csr<T>,
    pub stiffness: Csr<T>,
    pub fixed: Vec<bool>,
}

pub struct StepInfo<'s, T> {
    pub step: usize,
    pub time: T,
    pub u: &'s [T],
    pub iterations: usize,
}

impl<T: Real> Problem<T> {
    pub fn integrate(
        &self,
        scheme: Scheme,
        u0: Vec<T>,
        dt: T,
        steps: usize,
        load: impl Fn(T) -> Vec<T>,
        mut observe: impl FnMut(StepInfo<'_, T>) -> bool,
    ) -> Result<Vec<T>, NotConverged> {
        let theta = match scheme {
            Scheme::CrankNicolson => T::of(0.5),
            Scheme::BackwardEuler => T::ONE,
            Scheme::Bdf2 => T::of(2.0 / 3.0),
        };
        let mut matrix = self.mass.combine(T::ONE, &self.stiffness, theta * dt);
        matrix.fix(&self.fixed);
        let mut solver = Cg::new(&matrix, T::of(1e-3) * T::EPSILON.sqrt());

        let mut u = u0;
        let mut before: Option<Vec<T>> = None;
        for step in 1..=steps {
            let time = T::of(step as f64) * dt;
            let history = match (scheme, &before) {
                (Scheme::Bdf2, Some(old)) => {
                    u.iter().zip(old).map(|(u, o)| (T::of(4.0) * *u - *o) * T::of(1.0 / 3.0)).collect()
                }
                _ => u.clone(),
            };
            let mut rhs = &self.mass * &history[..];
            let f = load(time);
            axpy(&mut rhs, dt * theta, &f);
            if scheme == Scheme::CrankNicolson {
                let old = load(time - dt);
                axpy(&mut rhs, dt * (T::ONE - theta), &old);
                let ku = &self.stiffness * &u[..];
                axpy(&mut rhs, -dt * (T::ONE - theta), &ku);
            }
            for (k, held) in self.fixed.iter().enumerate() {
                if *held {
                    rhs[k] = u[k];
                }
            }
            let old = u.clone();
            let outcome = solver.solve(&rhs, &mut u)?;
            before = Some(old);
            if !observe(StepInfo { step, time, u: &u, iterations: outcome.iterations }) {
                break;
            }
        }
        Ok(u)
    }
}
