//! The lowered form as text: a statement a line, with its step; what holds a site is opened up.

use super::{Block, Branch, Lowered, Plain, Spine, SpineStep, Step, StepKind, Target};
use crate::syntax::text::line_of;
use quote::{ToTokens, quote};
use std::fmt::{self, Display, Formatter, Write};

impl Display for Lowered {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (number, site) in (1..).zip(&self.sites) {
            let line = site.span.start().line;
            let callee = site
                .callee
                .as_ref()
                .map_or(String::new(), |callee| format!(", a call of {callee}"));
            let region = site
                .region
                .map_or(String::new(), |region| format!(", before region {region}"));
            writeln!(out, "site {number}: line {line}{callee}{region}")?;
        }
        for part in &self.filled_loans {
            writeln!(out, "`{}` borrows `{}`, and saves it", part.value, part.base)?;
        }
        block(out, &self.body, 0)
    }
}

fn block(out: &mut Formatter<'_>, block: &Block, depth: usize) -> fmt::Result {
    block.steps.iter().try_for_each(|one| step(out, one, depth))
}

fn step(out: &mut Formatter<'_>, step: &Step, depth: usize) -> fmt::Result {
    write!(out, "{:4} {:indent$}", step.range.start, "", indent = depth * 2)?;
    match &step.kind {
        StepKind::Item(stmt) => writeln!(out, "{}", line_of(stmt.to_token_stream())),
        StepKind::Plain(one) => plain(out, one),
        StepKind::Spine(one) => {
            spine_target(out, one)?;
            spine(out, &one.spine, depth)
        }
    }
}

fn plain(out: &mut Formatter<'_>, plain: &Plain) -> fmt::Result {
    write!(out, "{}", line_of(plain.stmt.to_token_stream()))?;
    if let Some(treatment) = plain.treatment {
        write!(out, "   // {treatment:?}")?;
    }
    if plain.reexecutes {
        write!(out, "   // runs again at a restart")?;
    }
    if let Some(value) = &plain.restart {
        write!(out, "   // at a restart {}", line_of(value.clone()))?;
    }
    if let Some(value) = &plain.again {
        write!(
            out,
            "   // after a site again {}",
            line_of(value.to_token_stream())
        )?;
    }
    out.write_char('\n')
}

fn spine_target(out: &mut Formatter<'_>, step: &SpineStep) -> fmt::Result {
    write!(out, "[{}..={}] ", step.sites.first, step.sites.last)?;
    match &step.target {
        Target::Let { local, .. } => {
            let pattern = &local.pat;
            write!(out, "{} = ", line_of(quote!(let #pattern)))
        }
        Target::Statement(_) => Ok(()),
        Target::Tail => write!(out, "value "),
    }
}

fn spine(out: &mut Formatter<'_>, spine_: &Spine, depth: usize) -> fmt::Result {
    match spine_ {
        Spine::Site(site) => writeln!(out, "site {site}"),
        Spine::Call { site, call } => writeln!(out, "site {site} in {}", line_of(call.to_token_stream())),
        Spine::Block {
            label,
            is_unsafe,
            block: inner,
        } => {
            let keyword = if *is_unsafe { "unsafe " } else { "" };
            writeln!(out, "{}{keyword}block", line_of(label.to_token_stream()))?;
            block(out, inner, depth + 1)
        }
        Spine::If {
            condition,
            then,
            otherwise,
        } => {
            writeln!(out, "if {condition}")?;
            branch(out, then, depth)?;
            otherwise.iter().try_for_each(|one| {
                writeln!(out, "     {:indent$}else", "", indent = depth * 2)?;
                branch(out, one, depth)
            })
        }
        Spine::Match {
            scrutinee,
            arms,
            reexecutes,
        } => {
            let reexecutes = if *reexecutes {
                "   // matched again at a restart"
            } else {
                ""
            };
            writeln!(out, "match {}{reexecutes}", line_of(scrutinee.to_token_stream()))?;
            arms.iter().try_for_each(|arm| {
                let guard = arm.guard.as_ref().map(|guard| quote!(if #guard));
                let (pattern, guard) = (&arm.pattern, guard.into_iter());
                let text = line_of(quote!(#pattern #(#guard)* =>));
                writeln!(out, "     {:indent$}{text}", "", indent = depth * 2 + 2)?;
                block(out, &arm.body.block, depth + 2)
            })
        }
        Spine::Loop { label, body } => {
            writeln!(out, "{}loop", line_of(label.to_token_stream()))?;
            block(out, body, depth + 1)
        }
        Spine::Context { inner, around } => {
            write!(out, "inside {}: ", line_of(around.to_token_stream()))?;
            spine(out, inner, depth)
        }
        Spine::Jump { prefix, value } => {
            write!(out, "{} ", line_of(prefix.clone()))?;
            spine(out, value, depth)
        }
    }
}

fn branch(out: &mut Formatter<'_>, branch: &Branch, depth: usize) -> fmt::Result {
    block(out, &branch.block, depth + 1)
}
