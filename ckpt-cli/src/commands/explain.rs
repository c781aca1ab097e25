//! `cargo ckpt explain`: what a message means, where to look and what to do.

use serde_json::json;

use crate::failure::Outcome;
use crate::messages::Messages;
use crate::render::{self, FormatOption};

/// Explain a message by its code
///
/// Errors and refusals of ckpt begin with a code: those of the compiler with E1, of a program that runs with E2, of
/// cargo ckpt with E3. Without a code, all messages are listed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Explain {
    /// The code in front of the message
    #[arg(value_name = "CODE")]
    code: Option<String>,
    #[command(flatten)]
    format: FormatOption,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt explain E1012

Exit codes: 0 done, 2 no such code.";

impl Explain {
    /// Of this message, for people.
    pub fn of(code: String) -> Self {
        Self {
            code: Some(code),
            format: FormatOption::default(),
        }
    }

    /// Explains one, or lists all.
    pub fn perform(&self) -> Outcome<u8> {
        let messages = Messages::all();
        let Some(code) = &self.code else {
            self.list(messages);
            return Ok(0);
        };
        let (code, entry) = messages.find(code)?;
        let (title, place) = messages.group(code).unwrap_or_default();
        if self.format.json() {
            render::print_json(&json!({
                "code": code, "group": title, "says": entry.says, "cause": entry.cause, "place": place,
                "next": entry.next, "example": entry.example, "shown": entry.example_of_words(),
            }));
            return Ok(0);
        }
        let example = entry.example.as_ref();
        let example = example.map_or_else(String::new, |text| {
            format!("\nexample:\n  {}\n", text.replace('\n', "\n  "))
        });
        render::print(&format!(
            "{code}: {}\n\ncause: {}\nplace: {place}\nnext:  {}\n{example}",
            entry.example_of_words(),
            entry.cause,
            entry.next,
        ));
        Ok(0)
    }

    fn list(&self, messages: &Messages) {
        if self.format.json() {
            let all: Vec<_> = messages
                .iter()
                .map(|(code, entry)| json!({ "code": code, "says": entry.says }))
                .collect();
            render::print_json(&json!({ "messages": all }));
            return;
        }
        let mut table = render::table(&["CODE", "MESSAGE"]);
        for (code, entry) in messages.iter() {
            table.add_row([code, entry.example_of_words().lines().next().unwrap_or_default()]);
        }
        render::print_table(&table);
    }
}
