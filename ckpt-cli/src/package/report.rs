//! What ckpt cannot decide alone, put to the user: the variable, its type, its place, and the ways out.

use ckpt_compiler::package::Program;
use ckpt_compiler::package::locate::{Found, locate};
use ckpt_compiler::package::rewrite;

use super::decide::Located;
use super::driver::shown;
use super::oracle::Kind;
use super::read::ReadPackage;
use crate::failure::{Failure, code};

/// The failure that ends a rewrite: everything that no decision mends, together.
pub fn unsolved(package: &ReadPackage, findings: &[Located], which: &[usize]) -> Failure {
    let program = &package.program;
    let folder = package.workspace_root();
    let all: Vec<&Located> = if which.is_empty() {
        findings.iter().collect()
    } else {
        which.iter().filter_map(|&index| findings.get(index)).collect()
    };
    let own_errors = all
        .iter()
        .all(|one| matches!(one.finding.kind, Kind::Other | Kind::Refusal));
    if own_errors {
        for one in &all {
            eprintln!("{}", one.finding.rendered.trim_end());
        }
        let name = &package.workspace.choice.target;
        return Failure::new(code::BUILD, format!("`{name}` does not build"))
            .help("rustc says why, above; if it builds without ckpt, this is a bug in ckpt: please report it");
    }
    let failure = Failure::new(code::BUILD, "ckpt cannot tell how to save this");
    let failure = all.iter().fold(failure, |failure, one| {
        failure.because(describe(program, one, &|place| shown(program, place, folder)))
    });
    failure.help(
        "put one of these on the `let`, or on the field of the type:\n\
         #[ckpt(reexecute)]  run the statement again at a restart: it gives the same value\n\
         #[ckpt(skip)]       leave the value out: it is not needed, or `Default` will do\n\
         (`cargo ckpt init` adds the dependency that these need)",
    )
}

fn describe(program: &Program, one: &Located, shown: &dyn Fn(rewrite::Place) -> String) -> String {
    let ty = &one.finding.type_name;
    let Some(&place) = one.places.first() else {
        return one.finding.message.clone();
    };
    match locate(program, place.0, place.1) {
        Some(Found::Let { names, .. }) => {
            let names = names.join("`, `");
            let what = match one.finding.kind {
                Kind::Destructor => "has a destructor that a restart would miss",
                _ => "is of a type that no checkpoint holds",
            };
            format!("{}: `{names}` {what}: `{ty}`", shown(place))
        }
        Some(Found::Parameter { name, .. }) => {
            format!("{}: parameter `{name}` is of a type that no checkpoint holds: `{ty}`", shown(place))
        }
        Some(Found::Field { name, .. }) => {
            format!("{}: field `{name}` is of a type that no checkpoint holds: `{ty}`", shown(place))
        }
        _ => format!("{}: {}", shown(place), one.finding.message),
    }
}
