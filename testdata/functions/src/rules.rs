//! Rules that others choose from.

pub type Rule = fn(f64) -> f64;

/// A rule with its derivatives, as functions of its value.
#[derive(Clone, Copy)]
pub struct Activation {
    pub function: Rule,
    pub derivative: fn(&f64) -> f64,
    pub second: fn(&f64) -> f64,
}

pub const SIGMOID: Activation = Activation {
    function: |x| 1.0 / (1.0 + (-x).exp()),
    derivative: |x| x * (1.0 - x),
    second: |x| x * (1.0 - x) * (1.0 - 2.0 * x),
};

fn tanh_derivative(x: &f64) -> f64 {
    1.0 - x * x
}

fn tanh_second(x: &f64) -> f64 {
    -2.0 * x * (1.0 - x * x)
}

pub fn named(name: &str) -> Option<Activation> {
    match name {
        "sigmoid" => Some(SIGMOID),
        "tanh" => Some(Activation { function: f64::tanh, derivative: tanh_derivative, second: tanh_second }),
        _ => None,
    }
}
