//! `let x = loop { .. break value }`, `let else`, and a deferred initialisation.

/// Counts down.
#[ckpt::instrument]
pub fn count_down(from: Option<u32>) -> u32 {
    let Some(mut left) = from else { return 0 };
    let name;
    if left > 3 {
        name = "many";
    } else {
        name = "few";
    }
    let rounds = loop {
        ckpt::checkpoint!();
        if left == 0 {
            break left + 1;
        }
        left -= 1;
    };
    println!("{name}");
    rounds
}
