//! A variable that is shadowed where a site needs it is saved through a reference.

/// Doubles a text in two ways.
#[ckpt::instrument]
pub fn twice(text: &str) -> String {
    let text = text.to_owned();
    let mut longer = String::new();
    for round in 0..2 {
        let text = format!("{text}{round}");
        ckpt::checkpoint!();
        longer += &text;
    }
    text + &longer
}
