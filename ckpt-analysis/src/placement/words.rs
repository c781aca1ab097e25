//! What the words of a loop's first line tell: a person, too, knows a time loop by its names.

/// Words of loops over time steps or iterations of a solver.
const TIME: [&str; 52] = [
    "step",
    "steps",
    "nstep",
    "nsteps",
    "timestep",
    "timesteps",
    "tstep",
    "nt",
    "istep",
    "iter",
    "iters",
    "iteration",
    "iterations",
    "niter",
    "nit",
    "itr",
    "it",
    "itmax",
    "maxiter",
    "maxit",
    "time",
    "tend",
    "tmax",
    "tfinal",
    "gen",
    "gens",
    "generation",
    "generations",
    "cycle",
    "cycles",
    "frame",
    "frames",
    "tick",
    "ticks",
    "sweep",
    "sweeps",
    "batch",
    "day",
    "days",
    "year",
    "years",
    "month",
    "norm",
    "residual",
    "resid",
    "tol",
    "tolerance",
    "converged",
    "convergence",
    "stop",
    "duration",
    "clock",
];

/// Words of loops that repeat a whole computation.
const CASES: [&str; 14] = [
    "case", "cases", "file", "files", "path", "test", "tests", "rep", "reps", "repeat", "line", "lines",
    "args", "method",
];

/// Whether a loop is one over time steps, as far as its first line says.
pub(super) fn count_time(header: &str) -> bool {
    let lower = without_methods(&header.to_lowercase());
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let is_while = header.starts_with("while");
    let alone = is_while && words.contains(&"t");
    !words.iter().any(|word| CASES.contains(word)) && (alone || words.iter().any(|word| TIME.contains(word)))
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
