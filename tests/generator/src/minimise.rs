//! The smallest program that still goes wrong: statements are taken out one by one for as long as the failure stays.

use crate::tree::{Function, Program, Statement};

/// Prunes `program` while `fails` holds. `fails` must hold for `program` itself.
pub fn minimise(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    loop {
        let before = best.clone();
        for at in (1..best.functions.len()).rev() {
            let mut smaller = best.clone();
            smaller.functions.remove(at);
            accept(&mut best, smaller, &mut fails);
        }
        for function in 0..best.functions.len() {
            prune(&mut best, function, &mut fails);
        }
        if best == before {
            return best;
        }
    }
}

fn accept(best: &mut Program, smaller: Program, fails: &mut impl FnMut(&Program) -> bool) -> bool {
    let better = fails(&smaller);
    if better {
        *best = smaller;
    }
    better
}

/// Tries every statement of a function, outer ones before those in them: without it, with its inner statements alone,
/// and without them.
fn prune(best: &mut Program, function: usize, fails: &mut impl FnMut(&Program) -> bool) {
    let mut at = 0;
    while at < best.functions[function].size() {
        let changes = [Change::Remove, Change::Unwrap, Change::Empty];
        let removed = changes.into_iter().find(|change| {
            let mut smaller = best.clone();
            smaller.functions[function].change(at, *change) && accept(best, smaller, fails)
        });
        if !matches!(removed, Some(Change::Remove | Change::Unwrap)) {
            at += 1;
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Change {
    /// Takes the statement out.
    Remove,
    /// Puts its inner statements into its place.
    Unwrap,
    /// Takes its inner statements out, all at once.
    Empty,
}

impl Function {
    fn size(&self) -> usize {
        count(&self.body)
    }

    fn change(&mut self, at: usize, change: Change) -> bool {
        apply(&mut self.body, &mut at.clone(), change)
    }
}

fn count(statements: &[Statement]) -> usize {
    let inside = |statement: &Statement| match statement {
        Statement::Line(_) => 0,
        Statement::Block { parts, .. } => parts.iter().map(|(_, body)| count(body)).sum(),
    };
    statements.iter().map(|statement| 1 + inside(statement)).sum()
}

/// Changes the statement that `at` counts down to, in the order in which they are printed.
fn apply(statements: &mut Vec<Statement>, at: &mut usize, change: Change) -> bool {
    for index in 0..statements.len() {
        if *at == 0 {
            return change_here(statements, index, change);
        }
        *at -= 1;
        if let Statement::Block { parts, .. } = &mut statements[index] {
            for (_, body) in parts {
                if *at < count(body) {
                    return apply(body, at, change);
                }
                *at -= count(body);
            }
        }
    }
    false
}

fn change_here(statements: &mut Vec<Statement>, index: usize, change: Change) -> bool {
    match (change, &mut statements[index]) {
        (Change::Remove, _) => {
            statements.remove(index);
            true
        }
        (_, Statement::Line(_)) => false,
        (Change::Unwrap, Statement::Block { parts, .. }) => {
            let inside: Vec<Statement> = parts.drain(..).flat_map(|(_, body)| body).collect();
            statements.splice(index..=index, inside);
            true
        }
        (Change::Empty, Statement::Block { parts, .. }) => {
            let full = parts.iter().any(|(_, body)| body.len() > 1);
            parts.iter_mut().for_each(|(_, body)| body.clear());
            full
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_fails_is_left() {
        let program = crate::program(3, 4);
        let asks = |p: &Program| p.print().contains("ckpt::checkpoint!");
        let least = minimise(&program, asks);
        let sites = least.print().matches("checkpoint!").count();
        assert_eq!((sites, least.functions.len()), (1, 1), "{}", least.print());
    }
}
