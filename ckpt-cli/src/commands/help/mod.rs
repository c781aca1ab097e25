//! `cargo ckpt help`: the help of a command, or a page of the book in the terminal.

mod markdown;
mod topics;

use clap::CommandFactory;
use clap::builder::StyledStr;

use crate::failure::{Failure, Outcome, says};
use crate::output;
use crate::render;
use topics::{TOPICS, Topic};

/// Explain a command, or a topic: a page of the book
///
/// Topics are the pages of the book, in the width of the terminal. A message's code is explained as by `cargo ckpt explain`.
/// Without a topic, all commands and topics are listed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Help {
    /// A command, a topic or the code of a message
    #[arg(value_name = "TOPIC")]
    topic: Option<String>,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt help limits
  cargo ckpt help batch | less
  cargo ckpt help run

Exit codes: 0 done, 2 no such topic.";

impl Help {
    /// Prints it.
    pub fn perform(&self) -> Outcome<u8> {
        let Some(topic) = &self.topic else {
            all();
            return Ok(0);
        };
        let topic = topic.to_lowercase();
        if let Some(text) = of_command(&topic) {
            render::print_as_it_is(&shown(&text));
            return Ok(0);
        }
        if let Some(found) = TOPICS.iter().find(|one| one.name == topic) {
            render::print_as_it_is(&markdown::shown(
                found.page,
                ckpt::store::columns_of(std::io::stdout()).unwrap_or(80),
                output::coloured(),
            ));
            return Ok(0);
        }
        if crate::messages::Messages::all().find(&topic).is_ok() {
            return super::explain::Explain::of(topic).perform();
        }
        Err(
            Failure::usage(says!("E3204: there is neither a command nor a topic `{topic}`"))
                .help_list("topics are", TOPICS.iter().map(|one| one.name)),
        )
    }
}

/// What `--help` of the command says.
fn of_command(name: &str) -> Option<StyledStr> {
    let mut all = super::line::CommandLine::command();
    all.build();
    let command = all.find_subcommand_mut(name)?;
    Some(command.render_long_help())
}

fn shown(text: &StyledStr) -> String {
    let text = match output::coloured() {
        true => text.ansi().to_string(),
        false => text.to_string(),
    };
    format!("{}\n", text.trim_end())
}

/// The help of the whole, and the topics.
fn all() {
    let help = super::line::CommandLine::command().render_help();
    render::print_as_it_is(&shown(&help));
    let mut table = render::table(&["TOPIC", "ABOUT"]);
    for topic in &TOPICS {
        table.add_row([topic.name, Topic::about(topic)]);
    }
    render::print("\nTopics, for `cargo ckpt help TOPIC`:\n\n");
    render::print_table(&table);
}
