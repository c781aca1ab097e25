//! How a program names its functions to the session.

use crate::team::{self};
use crate::value::{Function, name_function};

/// Names a function, so that a checkpoint can hold pointers to it: it has their names, since an address means nothing in
/// another process.
///
/// Call it at the start of `main`, for every function that a variable of this type of pointer may hold at a site; under
/// `#[ckpt::main]` a restart makes the call too. Without a session it does nothing. `cargo ckpt` does so by itself.
///
/// ```
/// fn halve(x: f64) -> f64 {
///     x / 2.0
/// }
///
/// #[ckpt::main]
/// fn main() {
///     ckpt::function("halve", halve as fn(f64) -> f64);
///     ckpt::function("sqrt", f64::sqrt as fn(f64) -> f64);
///     let mut rules: Vec<fn(f64) -> f64> = vec![halve, f64::sqrt];
///     let mut x = 1000.0;
///     for _ in 0..10 {
///         ckpt::checkpoint!();
///         x = rules[0](x);
///         rules.reverse();
///     }
///     assert!(x < 2.0);
/// }
/// ```
pub fn function<F: Function>(name: &'static str, function: F) {
    if team::is_here() {
        name_function(name, function);
    }
}
