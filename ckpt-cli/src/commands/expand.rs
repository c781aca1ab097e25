//! `cargo ckpt expand`: the instrumented form of an annotated function, as the macro makes it.

use crate::cargo::CargoOptions;
use crate::failure::Outcome;
use crate::package::show::expand;
use crate::render;

/// Show what an annotated function becomes
///
/// Finds the function among the sources of the package and prints what `#[ckpt::main]` or `#[ckpt::instrument]` makes
/// of it, formatted. Without a name, lists the annotated functions.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Expand {
    /// Name of the function: `advance`, `Simulation::advance` or `module::advance`
    #[arg(value_name = "FUNCTION")]
    function: Option<String>,
    #[command(flatten)]
    cargo: CargoOptions,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt expand main
  cargo ckpt expand Simulation::advance

Exit codes: 0 done, 1 there is no such function, or it cannot be instrumented.";

impl Expand {
    /// Finds, instruments, prints.
    pub fn perform(&self) -> Outcome<u8> {
        let files = expand::sources(&self.cargo)?;
        let annotated = expand::annotated(&files)?;
        let Some(function) = &self.function else {
            let mut table = render::table(&["FUNCTION", "WHERE"]);
            for found in &annotated {
                table.add_row([found.name.clone(), found.place()]);
            }
            render::print_table(&table);
            return Ok(0);
        };
        let found = expand::only(&annotated, function, &files)?;
        render::print_as_it_is(&found.expansion()?);
        Ok(0)
    }
}
