//! What callgrind has written, read for one number.

use std::path::Path;

/// Instructions executed in one object, those of what it calls in others not counted. The file has names and positions
/// written out.
pub fn instructions(text: &str, object: &Path) -> u64 {
    let (mut is_ours, mut is_of_a_call, mut sum) = (false, false, 0);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("ob=") {
            is_ours = Path::new(name) == object;
        } else if line.starts_with("calls=") {
            // The line after it has what the call took altogether.
            is_of_a_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || first == '+' || first == '*') {
            let cost = line.split(' ').nth(1).and_then(|cost| cost.parse::<u64>().ok());
            if is_ours && !is_of_a_call {
                sum += cost.unwrap_or(0);
            }
            is_of_a_call = false;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_elsewhere_is_not_counted() {
        let text = "events: Ir\n\nob=/bin/himeno\nfl=a.rs\nfn=main\n0 10\ncob=/lib/libmpi.so\ncfn=MPI_Wait\n\
                    calls=2 0\n0 1000\n0 5\n\nob=/lib/libmpi.so\nfn=MPI_Wait\n0 1000\n";
        assert_eq!(instructions(text, Path::new("/bin/himeno")), 15);
        assert_eq!(instructions(text, Path::new("/lib/libmpi.so")), 1000);
    }
}
