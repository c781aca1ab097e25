//! A pattern that binds references is matched again at a restart.

/// What a body is made of.
pub enum Body {
    /// Points.
    Cloud(Vec<f64>),
    /// Nothing.
    Empty,
}

/// The sum over a body.
#[ckpt::instrument]
pub fn mass(body: &Body) -> f64 {
    let mut total = 0.0;
    match body {
        Body::Cloud(points) => {
            for index in 0..points.len() {
                ckpt::checkpoint!();
                total += points[index];
            }
        }
        Body::Empty => total = -1.0,
    }
    total
}
