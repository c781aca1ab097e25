//! In which region's threads a place of a function is, and whether a restart may have another number of them.

use super::malleable::obstacle;
use super::starts::body_of_start;
use super::teams::body_of_team;
use crate::names::Locals;
use crate::resolve::{Hiding, resolved};
use crate::syntax::marks::Marks;
use crate::visit::{self, Visit};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, ItemFn, Macro};

/// The threads around a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    /// The line that starts them, from 1, in the text that was parsed.
    pub line: usize,
    /// Of a `ckpt::team`: what ties a checkpoint to its members, or nothing if a restart may have another number.
    pub team: Option<Option<String>>,
}

/// The outermost threads around the byte `at` of the text that was parsed, or around the sites that are written in the
/// function if there is none.
pub fn around(function: &ItemFn, marks: Marks<'_>, at: Option<usize>) -> Option<Around> {
    let (function, locals) = resolved(
        marks.library,
        marks.calls,
        function,
        &Locals::default(),
        Hiding::AsWritten,
    );
    let mut finder = RegionFinder {
        marks,
        locals: &locals,
        at,
        found: None,
    };
    finder.visit_block(&function.block);
    finder.found
}

struct RegionFinder<'a> {
    marks: Marks<'a>,
    locals: &'a Locals,
    at: Option<usize>,
    found: Option<Around>,
}

impl RegionFinder<'_> {
    fn holds(&self, body: &ExprClosure) -> bool {
        match self.at {
            Some(at) => body.body.span().byte_range().contains(&at),
            None => {
                let mut written = Written(false);
                written.visit_expr(&body.body);
                written.0
            }
        }
    }

    fn finds(&mut self, body: &ExprClosure, start: Span, team: Option<Option<String>>) -> bool {
        let is_it = self.found.is_none() && self.holds(body);
        if is_it {
            let line = start.start().line;
            self.found = Some(Around { line, team });
        }
        is_it
    }
}

impl<'ast> Visit<'ast> for RegionFinder<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        let at = match expr {
            Expr::MethodCall(call) => call.method.span(),
            _ => expr.span(),
        };
        let found = if let Some(body) = body_of_team(self.marks.library, expr) {
            let tied = obstacle(body, self.marks, self.locals);
            self.finds(body, at, Some(tied))
        } else if let Some(body) = body_of_start(self.marks.library, expr) {
            self.finds(body, at, None)
        } else {
            false
        };
        if !found {
            visit::visit_expr(self, expr);
        }
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether `checkpoint!()` is written somewhere.
struct Written(bool);

impl<'ast> Visit<'ast> for Written {
    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.0 |= Marks::is_checkpoint(mac);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<Around> {
        let function: ItemFn = syn::parse_str(text).expect("a function");
        let at = text.find("HERE");
        around(
            &function,
            Marks {
                calls: &[],
                library: crate::library::Library::builtin(),
            },
            at,
        )
    }

    #[test]
    fn the_threads_around_a_place_are_found() {
        assert_eq!(
            found("fn f() { HERE; thread::scope(|s| { s.spawn(|| ()); }); }"),
            None
        );
        let thread = Around { line: 2, team: None };
        let text = "fn f() { thread::scope(|s| {\n s.spawn(|| { loop { HERE; } }); }); }";
        assert_eq!(found(text), Some(thread.clone()));
        let text = "fn f() { thread::scope(|s| {\n s.spawn(|| { loop { ckpt::checkpoint!(); } }); }); }";
        assert_eq!(found(text), Some(thread));
    }

    #[test]
    fn a_team_says_what_ties_it_to_its_members() {
        let tied = |body: &str| {
            let text = format!("fn f() {{ ckpt::team(2).run(|member| {{ {body} }}); }}");
            found(&text).expect("a team").team.expect("a team")
        };
        assert_eq!(
            tied("for turn in 0..9 { ckpt::checkpoint!(); member.barrier(); }"),
            None
        );
        for (body, why) in [
            (
                "let k = member.number(); ckpt::checkpoint!();",
                "`member.number()` is another",
            ),
            ("work(member); ckpt::checkpoint!();", "`member` is passed on"),
            (
                "let mut own = 0; loop { ckpt::checkpoint!(); member.for_each(0..9, Static, |i| own += i); }",
                "`own` holds what a member has done",
            ),
            (
                "let mut x = 0; let y = &mut x; ckpt::checkpoint!();",
                "`x` is lent",
            ),
        ] {
            let told = tied(body).expect(body);
            assert!(told.contains(why), "{body}: {told}");
        }
    }
}
