//! The first line in which two texts differ.

/// Two texts that should be one: where they part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Number of the first differing line, from 1.
    pub line: usize,
    /// That line of the reference; `None` when the reference ends before it.
    pub expected: Option<String>,
    /// That line of the other text; `None` when that ends before it.
    pub found: Option<String>,
}

impl Difference {
    /// Where `found` parts from `expected`; `None` when they are equal byte for byte.
    pub fn between(expected: &[u8], found: &[u8]) -> Option<Self> {
        if expected == found {
            return None;
        }
        let mut lines = (
            expected.split_inclusive(|b| *b == b'\n'),
            found.split_inclusive(|b| *b == b'\n'),
        );
        let mut line = 1;
        loop {
            match (lines.0.next(), lines.1.next()) {
                (Some(a), Some(b)) if a == b => line += 1,
                (a, b) => {
                    return Some(Difference {
                        line,
                        expected: a.map(shown),
                        found: b.map(shown),
                    });
                }
            }
        }
    }
}

fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    format!("{:?}", text.strip_suffix('\n').unwrap_or(&text))
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let end = "(the output ends)";
        writeln!(f, "line {}", self.line)?;
        writeln!(f, "      expected {}", self.expected.as_deref().unwrap_or(end))?;
        write!(f, "      found    {}", self.found.as_deref().unwrap_or(end))
    }
}

#[cfg(test)]
mod tests {
    use super::Difference;

    #[test]
    fn equal_texts_do_not_differ() {
        assert_eq!(Difference::between(b"a\nb\n", b"a\nb\n"), None);
    }

    #[test]
    fn a_missing_line_is_named() {
        let difference = Difference::between(b"a\nb\n", b"a\n").unwrap();
        assert_eq!((difference.line, difference.found), (2, None));
    }

    #[test]
    fn a_missing_end_of_line_is_a_difference() {
        assert!(Difference::between(b"a\nb\n", b"a\nb").is_some());
    }
}
