//! Of a variable of which a field is lent, the rest is saved here and the field in the callee.

/// A model.
#[derive(ckpt::Checkpoint)]
pub struct Model {
    field: Vec<f64>,
    name: String,
}

#[ckpt::instrument]
fn relax(field: &mut Vec<f64>) {
    for index in 1..field.len() {
        ckpt::checkpoint!();
        field[index] = 0.5 * (field[index] + field[index - 1]);
    }
}

/// Relaxes it.
#[ckpt::instrument(calls(relax))]
pub fn solve(n: usize) -> String {
    let mut model = Model {
        field: vec![1.0; n],
        name: "relaxed".to_owned(),
    };
    relax(&mut model.field);
    format!("{} {}", model.name, model.field.len())
}
