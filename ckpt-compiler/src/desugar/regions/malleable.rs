//! Whether what a member of a team has to itself at its site is the same whoever it is and however many there are: where it
//! is in its loops, and what reductions gave. Then a restart may have another number of members, and the loops that they
//! share deal the remaining iterations out among those.
//!
//! What a member has done in its share of a loop is its own: the variables that the closures of shared loops change, and
//! all that comes of them but by `reduce`. None of these may be there before the site.

use crate::library::Teams;
use crate::names::{LocalSet, Locals};
use crate::syntax::marks::Marks;
use crate::syntax::mentions::{locals_in, locals_of};
use crate::syntax::purity::is_assignment;
use crate::visit::{self, Visit};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Expr, ExprClosure, ExprMethodCall, Pat, Stmt};

/// Whether the members of the team that runs this closure may be others at a restart.
pub(super) fn is_malleable(closure: &ExprClosure, marks: Marks<'_>, locals: &Locals) -> bool {
    obstacle(closure, marks, locals).is_none()
}

/// What ties a checkpoint to the members that the team has, where something does.
pub(super) fn obstacle(closure: &ExprClosure, marks: Marks<'_>, locals: &Locals) -> Option<String> {
    let member = match closure.inputs.iter().collect::<Vec<_>>()[..] {
        [Pat::Ident(member)] => member,
        [_] => return Some("its closure does not name its member".into()),
        _ => return Some("every member has a part of the data to itself".into()),
    };
    let mut body = Body {
        member: &member.ident,
        marks,
        locals,
        declared: LocalSet::default(),
        before: LocalSet::default(),
        own: LocalSet::default(),
        in_share: 0,
        changed_by_own: 0,
        obstacle: None,
    };
    // What comes of a variable that is the member's own may stand in front of where that is found out.
    loop {
        let known = body.own.clone();
        body.declared = LocalSet::default();
        body.visit_expr(&closure.body);
        if body.own == known {
            break;
        }
    }
    body.before.retain(|local| body.own.contains(local));
    let kept = locals.by_name(&body.before).into_iter().next();
    let kept = kept.map(|one| format!("`{}` holds what a member has done in its share", locals.name(one)));
    let obstacle = body.obstacle.or(kept)?;
    Some(locals.restore_text(&obstacle).into_owned())
}

struct Body<'a> {
    member: &'a Ident,
    marks: Marks<'a>,
    locals: &'a Locals,
    /// The variables that have been declared so far, and those that are in front of a site.
    declared: LocalSet,
    before: LocalSet,
    /// Those that hold what a member has done in its share.
    own: LocalSet,
    /// How many closures are around that the member runs for its share.
    in_share: u32,
    /// How many conditions are around that depend on the member's own.
    changed_by_own: u32,
    /// What is seen first that ties the checkpoint to this member.
    obstacle: Option<String>,
}

impl Body<'_> {
    fn ties(&mut self, does: bool, why: impl FnOnce(&Self) -> String) {
        if does && self.obstacle.is_none() {
            self.obstacle = Some(why(self));
        }
    }

    /// The member itself goes somewhere where it may be asked for its number.
    fn passes_on(&mut self, does: bool) {
        self.ties(does, |body| format!("`{}` is passed on", body.member));
    }

    fn is_member(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(path) if path.path.is_ident(self.member))
    }

    /// Whether a value depends on what the member has done in its share.
    fn is_own(&self, expr: &Expr) -> bool {
        struct OwnWork<'b>(&'b Body<'b>, bool);
        impl<'ast> Visit<'ast> for OwnWork<'_> {
            fn visit_expr(&mut self, expr: &'ast Expr) {
                match expr {
                    Expr::MethodCall(call) if self.0.is_member(&call.receiver) => {
                        // What `reduce` gives is the same for all; other calls give what one of them did.
                        self.1 |= !self.0.marks.library.is_call(call, Teams::GivesSame);
                        call.args.iter().skip(1).for_each(|one| self.visit_expr(one));
                        return;
                    }
                    Expr::Path(path) => {
                        let local = path.path.get_ident().and_then(|name| self.0.locals.id(name));
                        self.1 |= local.is_some_and(|local| self.0.own.contains(local));
                    }
                    Expr::Macro(one) => {
                        let named = locals_in(self.0.locals, one.mac.tokens.clone());
                        self.1 |= !named.is_disjoint(&self.0.own);
                    }
                    _ => {}
                }
                visit::visit_expr(self, expr);
            }
        }
        let mut finder = OwnWork(self, false);
        finder.visit_expr(expr);
        finder.1
    }

    fn changes(&mut self, place: &Expr, with: Option<&Expr>) {
        let is_own =
            self.in_share > 0 || self.changed_by_own > 0 || with.is_some_and(|value| self.is_own(value));
        if is_own {
            match root(place) {
                Some(name) => self.own.extend(self.locals.id(name)),
                None => self
                    .own
                    .extend(locals_in(self.locals, place.to_token_stream()).iter()),
            }
        }
    }

    fn declares(&mut self, pattern: &Pat, value: Option<&Expr>) {
        let bound = locals_of(self.locals, pattern);
        if self.changed_by_own > 0 || value.is_some_and(|value| self.is_own(value)) {
            self.own.extend(bound.iter());
        }
        if self.in_share == 0 {
            self.declared.extend(bound.iter());
        }
    }

    /// A condition, or what a loop goes over, and what depends on it.
    fn under(&mut self, condition: &Expr, inside: impl FnOnce(&mut Self)) {
        let own = u32::from(self.is_own(condition));
        self.visit_expr(condition);
        self.changed_by_own += own;
        inside(self);
        self.changed_by_own -= own;
    }

    /// The arguments of a call, which may write to what it is lent.
    fn arguments<'e>(&mut self, call: &Expr, arguments: impl Iterator<Item = &'e Expr>) {
        for argument in arguments {
            match argument {
                Expr::Reference(one) if one.mutability.is_some() => {
                    self.changes(&one.expr, Some(call));
                    self.visit_expr(&one.expr);
                }
                other => self.visit_expr(other),
            }
        }
    }

    fn call_of_member(&mut self, call: &ExprMethodCall) {
        let method = &call.method;
        let is_same = self.marks.library.key::<Teams>(&method.to_string());
        self.ties(!matches!(is_same, Some(Teams::Same | Teams::GivesSame)), |body| {
            format!("`{}.{method}()` is another for each member", body.member)
        });
        self.in_share += 1;
        for argument in &call.args {
            match argument {
                Expr::Closure(closure) => self.visit_expr(&closure.body),
                other => self.visit_expr(other),
            }
        }
        self.in_share -= 1;
    }
}

impl<'ast> Visit<'ast> for Body<'_> {
    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        if let Stmt::Macro(one) = stmt
            && Marks::is_checkpoint(&one.mac)
        {
            self.before.extend(self.declared.iter());
            let own = self.changed_by_own > 0;
            self.ties(own, |_| {
                "whether a member comes to the site depends on what it has done in its share".into()
            });
            return;
        }
        // A call that leads to a site may have been lent anything.
        if !matches!(
            stmt,
            Stmt::Expr(
                Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) | Expr::Block(_) | Expr::If(_),
                _
            )
        ) {
            let leads_on = self.marks.in_stmt(stmt);
            self.ties(leads_on, |_| {
                "the site is in a function that the members call".into()
            });
        }
        visit::visit_stmt(self, stmt);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let value = local.init.as_ref().map(|init| &*init.expr);
        visit::visit_local(self, local);
        self.declares(&local.pat, value);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let named = locals_in(self.locals, mac.tokens.clone());
        let member = self.locals.id(self.member);
        self.passes_on(member.is_some_and(|member| named.contains(member)));
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::MethodCall(call) if self.is_member(&call.receiver) => return self.call_of_member(call),
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                // What it lends may be written to under another name.
                let lends = self.marks.library.lends_exclusively(&name);
                self.ties(lends, |_| writes_elsewhere(expr));
                self.changes(&call.receiver, Some(expr));
                self.visit_expr(&call.receiver);
                return self.arguments(expr, call.args.iter());
            }
            Expr::Call(call) => return self.arguments(expr, call.args.iter()),
            // Nobody knows when it is called.
            Expr::Closure(closure) => {
                self.in_share += 1;
                self.visit_expr(&closure.body);
                self.in_share -= 1;
                return;
            }
            Expr::Path(path) => self.passes_on(path.path.is_ident(self.member)),
            Expr::Assign(assign) => self.changes(&assign.left, Some(&assign.right)),
            Expr::Binary(one) if is_assignment(&one.op) => self.changes(&one.left, Some(&one.right)),
            Expr::Reference(one) => self.ties(one.mutability.is_some(), |_| writes_elsewhere(expr)),
            Expr::If(one) => {
                return self.under(&one.cond, |body| {
                    body.visit_block(&one.then_branch);
                    if let Some((_, other)) = &one.else_branch {
                        body.visit_expr(other);
                    }
                });
            }
            Expr::While(one) => return self.under(&one.cond, |body| body.visit_block(&one.body)),
            Expr::Match(one) => {
                return self.under(&one.expr, |body| {
                    one.arms.iter().for_each(|arm| body.visit_arm(arm))
                });
            }
            Expr::ForLoop(one) => {
                return self.under(&one.expr, |body| {
                    body.declares(&one.pat, Some(&one.expr));
                    body.visit_block(&one.body);
                });
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

fn writes_elsewhere(expr: &Expr) -> String {
    let name = match root(expr) {
        Some(name) => format!("`{name}`"),
        None => "a variable".into(),
    };
    format!("{name} is lent to be written to under another name")
}

/// The variable that a place is of.
fn root(place: &Expr) -> Option<&Ident> {
    match place {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Field(one) => root(&one.base),
        Expr::Index(one) => root(&one.expr),
        Expr::Paren(one) => root(&one.expr),
        Expr::Unary(one) => root(&one.expr),
        Expr::MethodCall(one) => root(&one.receiver),
        Expr::Reference(one) => root(&one.expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::{Hiding, resolved};

    fn malleable(text: &str) -> bool {
        let function = syn::parse_str(&format!("fn f() {{ {text} }}")).expect("a function");
        let library = crate::library::Library::builtin();
        let (function, locals) = resolved(library, &[], &function, &Locals::default(), Hiding::AsWritten);
        let Some(Stmt::Expr(Expr::Closure(closure), _)) = function.block.stmts.first() else {
            panic!("a closure");
        };
        let marks = Marks { calls: &[], library };
        is_malleable(closure, marks, &locals)
    }

    #[test]
    fn loops_and_reductions_are_the_same_for_all() {
        for body in [
            "{ for turn in 0..9 { checkpoint!(); member.for_each(0..5, Static, |i| work(i)); } }",
            "{ let mut last = 0.0; for turn in 0..9 { checkpoint!(); let mut own = 0.0; \
               member.for_each(0..5, Static, |i| own += f(i)); last = member.reduce(own, f64::max); if last < 1.0 { break; } \
               member.master(|| println!(\"{last}\")); } }",
            "{ let mut a = 0; while a < 9 { checkpoint!(); a += 1; member.barrier(); } }",
        ] {
            assert!(malleable(&format!("|member| {body}")), "{body}");
        }
    }

    #[test]
    fn what_a_member_has_done_in_its_share_is_its_own() {
        for body in [
            // Each of four has done 25: two could not go on with that.
            "{ let mut own = 0; for turn in 0..9 { checkpoint!(); member.for_each(0..100, Static, |i| own += 1); } member.reduce(own, add) }",
            "{ let mut own = 0; for turn in 0..9 { checkpoint!(); let mut n = 0; member.for_each(0..100, Static, |i| n += 1); own += n; } }",
            "{ let mut own = 0; for turn in 0..9 { checkpoint!(); let mut n = 0; member.for_each(0..100, Static, |i| n += 1); if n > 3 { own += 1; } } }",
            "{ let mut own = Vec::new(); for turn in 0..9 { checkpoint!(); member.for_each(0..100, Static, |i| own.push(i)); } }",
            "{ let mut own = Vec::new(); for turn in 0..9 { checkpoint!(); member.for_each(0..100, Static, |i| add(&mut own, i)); } }",
            "{ for turn in 0..9 { checkpoint!(); work(member.number()); } }",
            "{ let n = member.count(); for turn in 0..9 { checkpoint!(); work(n); } }",
            "{ for turn in 0..9 { checkpoint!(); work(member); } }",
            "{ for turn in 0..9 { checkpoint!(); println!(\"{}\", member.number()); } }",
            "{ let mut own = 0; for turn in 0..9 { checkpoint!(); own = member.critical(|| next()); } }",
        ] {
            assert!(!malleable(&format!("|member| {body}")), "{body}");
        }
    }
}
