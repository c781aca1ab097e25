//! What words in the text of a program tell, without a look at what they mean: by `tables/words.toml`.

use super::Program;
use serde::Deserialize;
use std::sync::LazyLock;

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    toml::from_str(include_str!("../../tables/words.toml"))
        .unwrap_or_else(|error| panic!("words.toml: {error}"))
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    loops: Loops,
    texts: Texts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Loops {
    time: String,
    r#while: String,
    cases: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    threads: String,
    addresses: String,
}

impl Program {
    /// Whether any text of the program speaks of threads.
    pub fn speaks_of_threads(&self) -> bool {
        self.has_any(&WORDS.texts.threads)
    }

    /// Whether the program asks where in memory something is.
    pub fn asks_where(&self) -> bool {
        self.has_any(&WORDS.texts.addresses)
    }

    fn has_any(&self, signs: &str) -> bool {
        let mut files = self.files.iter();
        files.any(|file| {
            signs
                .lines()
                .any(|sign| !sign.is_empty() && file.text.contains(sign))
        })
    }
}

/// Whether a loop is one over time steps, as far as its first line says: a person, too, knows it by its names.
pub fn count_time(header: &str) -> bool {
    let lower = without_methods(&header.to_lowercase());
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let any = |of: &str| of.split_whitespace().any(|known| words.contains(&known));
    let loops = &WORDS.loops;
    !any(&loops.cases) && (any(&loops.time) || header.starts_with("while") && any(&loops.r#while))
}

/// The text without `.iter(` and the like.
fn without_methods(text: &str) -> String {
    let mut pieces = text.split('.');
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let name = piece
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .count();
        let rest: String = piece.chars().skip(name).collect();
        kept.push('.');
        kept.push_str(if rest.starts_with('(') { &rest } else { piece });
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::count_time;

    #[test]
    fn a_time_loop_is_known_by_its_words() {
        for header in [
            "for it in 1..=NITER",
            "while t < t_end",
            "for _ in 0..n_steps",
            "while residual > tol",
        ] {
            assert!(count_time(header), "{header}");
        }
        for header in [
            "for i in 0..n",
            "for path in files",
            "for row in grid.iter()",
            "for (a, b) in x.iter().step_by(2)",
            "while let Some(x) = stack.pop()",
        ] {
            assert!(!count_time(header), "{header}");
        }
    }
}
