//! What somebody sees at a terminal.

/// A line without colours; of what was written over, only the last.
pub fn plain(line: &str) -> String {
    let mut plain = String::new();
    for (number, piece) in line.split('\u{1b}').enumerate() {
        let end = match number {
            0 => 0,
            _ => piece
                .find(|c: char| c.is_ascii_alphabetic())
                .map_or(0, |end| end + 1),
        };
        plain += &piece[end..];
    }
    let shown = plain
        .trim_end_matches('\r')
        .rsplit('\r')
        .next()
        .unwrap_or_default();
    shown.to_owned()
}
