//! Walks macros: of those that take expressions, the expressions; of others, every name among their tokens counts, also
//! those that a format string captures, and they may leave the loop around them.

use super::Use;
use super::expr::{Walker, moves_nothing};
use crate::library::{Macros, Meaning};
use crate::syntax::macros::{
    Arguments, Exits, arguments_evaluated_always, arguments_of_macro, name_of_macro, repeated_in_list,
};
use crate::syntax::mentions::each_variable;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::Parser;
use syn::{Expr, Macro, Pat};

impl Walker<'_> {
    /// A macro in the place of an expression or statement.
    pub(super) fn macro_tokens(&mut self, mac: &Macro) {
        let name = name_of_macro(mac);
        if let Some((value, count)) = repeated_in_list(self.library, mac) {
            self.expr(&value);
            self.expr(&count);
            return;
        }
        if self.library.says(&name, Macros::Matches) && self.matched(mac) {
            return;
        }
        match arguments_of_macro(self.library, mac) {
            Some(arguments) => self.arguments(&name, &arguments),
            None => self.unknown(&name, mac),
        }
        if self.library.own().has(&name) {
            self.touched(&mac.tokens);
        }
        if self.library.formats(&name) && self.library.ends(&name) {
            self.leave_all();
        }
    }

    /// The name of a macro says that it leaves these as they are, and it may be another one of that name.
    fn touched(&mut self, tokens: &TokenStream) {
        let before = self.flow.nodes[self.here].events.len();
        self.tokens(tokens, Use::Read);
        let events = self.flow.nodes[self.here].events.iter_mut().skip(before);
        events.for_each(|event| event.by_name = true);
    }

    /// `matches!(value, pattern if condition)`: the value and the condition may change something.
    fn matched(&mut self, mac: &Macro) -> bool {
        let parser = |input: syn::parse::ParseStream<'_>| {
            let value: Expr = input.parse()?;
            let behind: TokenStream = input.parse()?;
            Ok((value, behind))
        };
        let Ok((value, behind)) = parser.parse2(mac.tokens.clone()) else {
            return false;
        };
        // A pattern binds by value unless it says `ref`, and what stands in it may be a macro.
        let pattern: TokenStream = { behind.clone().into_iter().skip(1) }
            .take_while(|token| !matches!(token, TokenTree::Ident(word) if word == "if"))
            .collect();
        let pattern = Pat::parse_multi_with_leading_vert.parse2(pattern);
        match pattern.is_ok_and(|pattern| moves_nothing(&self.flow.locals, &pattern)) {
            true => self.stays(&value, Use::Read),
            false => self.operand(&value, Use::Read),
        }
        let before = self.flow.nodes[self.here].events.len();
        self.tokens(&behind, Use::Read);
        let is_if = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "if");
        let condition: TokenStream = behind
            .into_iter()
            .skip_while(|token| !is_if(token))
            .skip(1)
            .collect();
        if condition.is_empty() {
            let events = self.flow.nodes[self.here].events.iter_mut().skip(before);
            events.for_each(|event| event.may_take = false);
        }
        if let Ok(condition) = syn::parse2::<Expr>(condition) {
            self.optionally(|walker| walker.expr(&condition));
        }
        true
    }

    /// What stands in a format string is shown by reference.
    fn is_formatted(&mut self) {
        if self.taking == 0
            && let Some(event) = self.flow.nodes[self.here].events.last_mut()
        {
            event.may_take = false;
        }
    }

    fn arguments(&mut self, name: &str, arguments: &Arguments) {
        let kind = self.library.key(name);
        // What a user says of a macro is true of those as well that take their arguments by value.
        let lends = !self.library.added().means(name, Meaning::Formats);
        let look = |walker: &mut Self, value: &Expr| match lends {
            true => walker.stays(value, Use::Read),
            false => walker.operand(value, Use::Read),
        };
        let always_evaluated = arguments_evaluated_always(self.library, name);
        for (index, argument) in arguments.iter().enumerate() {
            let value = match argument {
                Expr::Assign(named) => &*named.right,
                other => other,
            };
            match (kind, value) {
                (_, Expr::Lit(literal)) => self.tokens(&literal.to_token_stream(), Use::Read),
                // What stands behind a condition is evaluated when that does not hold.
                _ if index >= always_evaluated => {
                    self.optionally(|walker| look(walker, value));
                }
                (Some(Macros::Writes), _) if index == 0 => self.operand(value, Use::Change),
                (Some(Macros::Takes | Macros::Condition), _) => self.expr(value),
                _ => look(self, value),
            }
        }
    }

    fn unknown(&mut self, name: &str, mac: &Macro) {
        let kind = match name {
            name if self.library.says(name, Macros::Takes) => Use::Move,
            name if self.library.formats(name) => Use::Read,
            _ => Use::Change,
        };
        self.tokens(&mac.tokens, kind);
        self.captured_by(name);
        let exits = Exits::of(self.library, mac);
        let innermost = exits.innermost.then_some(None);
        for label in innermost.into_iter().chain(exits.labels.iter().map(Some)) {
            for breaks in [true, false] {
                self.optionally(|walker| walker.jump(label.map(String::as_str), breaks));
            }
        }
    }

    pub(super) fn tokens(&mut self, tokens: &TokenStream, kind: Use) {
        each_variable(tokens.clone(), &mut |name, is_captured| {
            let before = self.log.len();
            self.text(name, if is_captured { Use::Read } else { kind });
            if is_captured && self.log.len() > before {
                self.is_formatted();
            }
        });
    }
}
