//! A program as a tree of statements: what the writer makes, the printer prints and the minimiser prunes.

use std::collections::BTreeSet;

/// A type of the program's own, for its methods.
const STATE: &str = include_str!("../template/state.rs");

/// A statement, or something that holds statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// One line that holds no other statement.
    Line(String),
    /// Heads with the statements under each, then the closing line: `if c {` .. `} else {` .. `}`.
    Block {
        /// The heads and what is under each.
        parts: Vec<(String, Vec<Statement>)>,
        /// The last line.
        close: String,
    },
}

impl Statement {
    /// A block with one head.
    pub fn block(head: impl Into<String>, body: Vec<Statement>, close: impl Into<String>) -> Self {
        Statement::Block {
            parts: vec![(head.into(), body)],
            close: close.into(),
        }
    }

    /// The same without its sites; nothing if it is one.
    pub fn without_sites(self) -> Option<Statement> {
        match self {
            Statement::Line(_) if self.holds_site() => None,
            Statement::Line(line) => Some(Statement::Line(line)),
            Statement::Block { parts, close } => {
                let parts = parts.into_iter().map(|(head, body)| {
                    let body = body.into_iter().filter_map(Statement::without_sites);
                    (head, body.collect())
                });
                Some(Statement::Block {
                    parts: parts.collect(),
                    close,
                })
            }
        }
    }

    /// Whether there is a site in it.
    pub fn holds_site(&self) -> bool {
        match self {
            Statement::Line(line) => line.contains("ckpt::checkpoint!"),
            Statement::Block { parts, .. } => parts.iter().any(|(_, body)| body.iter().any(Self::holds_site)),
        }
    }
}

/// A function with its attribute's marked calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// `pub fn run()`, without the brace.
    pub signature: String,
    /// The instrumented functions that its body calls; those it no longer mentions are left out when printed.
    pub calls: Vec<String>,
    /// Its statements.
    pub body: Vec<Statement>,
    /// Whether it is a method of `State`.
    pub method: bool,
    /// Whether ckpt instruments it: it holds a site, or leads to one.
    pub instrumented: bool,
}

/// A whole program: a module with an entry `run`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its module's name.
    pub name: String,
    /// Its functions, `run` first.
    pub functions: Vec<Function>,
}

impl Program {
    /// Whether it does more than compute and print.
    pub fn has_files(&self) -> bool {
        self.functions.iter().any(|function| {
            let mut text = String::new();
            print_all(&function.body, 0, &mut text);
            ["std::fs::", "File::", "append(", "cut(", "go(", "set_var"]
                .iter()
                .any(|call| text.contains(call))
        })
    }

    /// The module's text.
    pub fn print(&self) -> String {
        let mut text = format!("use crate::support::*;\n\n{STATE}");
        for function in &self.functions {
            let printed = function.print();
            match function.method {
                true => text += &format!("\nimpl State {{\n{printed}}}\n"),
                false => text += &format!("\n{printed}"),
            }
        }
        text
    }
}

impl Function {
    fn print(&self) -> String {
        let mut body = String::new();
        print_all(&self.body, 1, &mut body);
        let calls: BTreeSet<&str> = self
            .calls
            .iter()
            .filter(|name| body.contains(&format!("{name}(")))
            .map(String::as_str)
            .collect();
        let arguments = if calls.is_empty() {
            String::new()
        } else {
            let calls_itself_alone = calls
                .iter()
                .all(|name| self.signature.contains(&format!("fn {name}(")));
            let recursive = if calls_itself_alone { ", recursive" } else { "" };
            let calls: Vec<&str> = calls.into_iter().collect();
            format!("(calls({}){recursive})", calls.join(", "))
        };
        let attribute = match self.instrumented {
            true => format!("#[ckpt::instrument{arguments}]\n"),
            false => String::new(),
        };
        format!("{attribute}{} {{\n{body}}}\n", self.signature)
    }
}

fn print_all(statements: &[Statement], depth: usize, text: &mut String) {
    let indent = "    ".repeat(depth);
    for statement in statements {
        match statement {
            Statement::Line(line) => *text += &format!("{indent}{line}\n"),
            Statement::Block { parts, close } => {
                for (head, body) in parts {
                    *text += &format!("{indent}{head}\n");
                    print_all(body, depth + 1, text);
                }
                *text += &format!("{indent}{close}\n");
            }
        }
    }
}
