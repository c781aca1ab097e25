use nalgebra::{Isometry3, Matrix3, UnitQuaternion, Vector3};

/// A free rigid body: Euler's equations in the body frame.
pub struct Body {
    inertia: Matrix3<f64>,
    inverse: Matrix3<f64>,
    omega: Vector3<f64>,
    pub attitude: UnitQuaternion<f64>,
    frames: Vec<Isometry3<f64>>,
}

impl Body {
    pub fn new(principal: Vector3<f64>, omega: Vector3<f64>) -> Self {
        let inertia = Matrix3::from_diagonal(&principal);
        let inverse = inertia.try_inverse().expect("a real body");
        Body { inertia, inverse, omega, attitude: UnitQuaternion::identity(), frames: Vec::new() }
    }

    fn rate(&self, w: Vector3<f64>) -> Vector3<f64> {
        -self.inverse * w.cross(&(self.inertia * w))
    }

    pub fn step(&mut self, dt: f64) -> Vector3<f64> {
        let half = self.omega + self.rate(self.omega) * (0.5 * dt);
        self.omega += self.rate(half) * dt;
        self.attitude *= UnitQuaternion::from_scaled_axis(half * dt);
        if self.frames.len() < 16 {
            self.frames.push(Isometry3::from_parts(Vector3::zeros().into(), self.attitude));
        }
        half
    }

    pub fn energy(&self) -> f64 {
        0.5 * self.omega.dot(&(self.inertia * self.omega))
    }
}
