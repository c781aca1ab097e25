use crate::{equilibrium, Macro, Real, OPPOSITE, Q};

pub trait Collision {
    fn relax(&self, f: &[Real; Q], m: Macro) -> [Real; Q];

    fn viscosity(&self) -> Real;
}

/// One relaxation time.
#[derive(Debug, Clone, Copy)]
pub struct Bgk {
    pub omega: Real,
}

impl Collision for Bgk {
    fn relax(&self, f: &[Real; Q], m: Macro) -> [Real; Q] {
        let feq = equilibrium(m.rho, m.ux, m.uy);
        let mut out = *f;
        for q in 0..Q {
            out[q] += self.omega * (feq[q] - f[q]);
        }
        out
    }

    fn viscosity(&self) -> Real {
        (1.0 / self.omega - 0.5) / 3.0
    }
}

/// Symmetric and antisymmetric parts relax at their own rates (magic parameter 1/4).
#[derive(Debug, Clone, Copy)]
pub struct Trt {
    plus: Real,
    minus: Real,
}

impl Trt {
    pub fn with_viscosity(nu: Real) -> Self {
        let tau = 3.0 * nu + 0.5;
        let tau_minus = 0.5 + 0.25 / (tau - 0.5);
        Trt { plus: 1.0 / tau, minus: 1.0 / tau_minus }
    }
}

impl Collision for Trt {
    fn relax(&self, f: &[Real; Q], m: Macro) -> [Real; Q] {
        let feq = equilibrium(m.rho, m.ux, m.uy);
        std::array::from_fn(|q| {
            let o = OPPOSITE[q];
            let (fp, fm) = (0.5 * (f[q] + f[o]), 0.5 * (f[q] - f[o]));
            let (ep, em) = (0.5 * (feq[q] + feq[o]), 0.5 * (feq[q] - feq[o]));
            f[q] - self.plus * (fp - ep) - self.minus * (fm - em)
        })
    }

    fn viscosity(&self) -> Real {
        (1.0 / self.plus - 0.5) / 3.0
    }
}
