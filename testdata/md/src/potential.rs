/// A spherically symmetric pair potential.
pub trait Potential {
    /// Energy, and force divided by distance, at squared distance `r2`.
    fn evaluate(&self, r2: f64) -> (f64, f64);

    /// Beyond this there is nothing.
    fn range(&self) -> f64;

    fn name(&self) -> String;
}

#[derive(Clone, Copy, Debug)]
pub struct LennardJones {
    pub epsilon: f64,
    pub sigma: f64,
}

impl LennardJones {
    pub const REDUCED: LennardJones = LennardJones { epsilon: 1.0, sigma: 1.0 };
}

impl Potential for LennardJones {
    #[inline]
    fn evaluate(&self, r2: f64) -> (f64, f64) {
        let s2 = self.sigma * self.sigma / r2;
        let s6 = s2 * s2 * s2;
        let energy = 4.0 * self.epsilon * s6 * (s6 - 1.0);
        let force = 48.0 * self.epsilon * s6 * (s6 - 0.5) / r2;
        (energy, force)
    }

    fn range(&self) -> f64 {
        f64::INFINITY
    }

    fn name(&self) -> String {
        format!("Lennard-Jones (epsilon {}, sigma {})", self.epsilon, self.sigma)
    }
}

/// Any potential, cut at a distance and shifted to be zero there.
#[derive(Clone, Debug)]
pub struct Cut<P> {
    inner: P,
    radius: f64,
    shift: f64,
}

impl<P: Potential> Cut<P> {
    pub fn shifted(inner: P, radius: f64) -> Self {
        let (shift, _) = inner.evaluate(radius * radius);
        Cut { inner, radius, shift }
    }
}

impl<P: Potential> Potential for Cut<P> {
    #[inline]
    fn evaluate(&self, r2: f64) -> (f64, f64) {
        if r2 >= self.radius * self.radius {
            return (0.0, 0.0);
        }
        let (energy, force) = self.inner.evaluate(r2);
        (energy - self.shift, force)
    }

    fn range(&self) -> f64 {
        self.radius
    }

    fn name(&self) -> String {
        format!("{}, cut at {}", self.inner.name(), self.radius)
    }
}
