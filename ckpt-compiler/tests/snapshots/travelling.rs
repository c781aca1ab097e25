//! A variable that has no value at a site travels as an `Option`.

/// Rewrites a text, round by round.
#[ckpt::instrument]
pub fn rewritten(rounds: u64) -> String {
    let mut text = String::from("a");
    for round in 0..rounds {
        text.push('b');
        if round % 3 == 0 {
            continue;
        }
        let old = text;
        ckpt::checkpoint!();
        text = format!("{old}{round}");
    }
    text
}
