//! Finds regions and takes the bodies of their threads out.

use super::behind::look_behind;
use super::captures::{Capture, How, VariablesInScope, captures, mentions};
use super::malleable::is_malleable;
use super::share::give_away;
use super::starts::{
    Others, Spawns, Starts, dropped, drops, first_in, goes_over, has_site, is_given_nothing, is_unseen,
    is_value, joins, joins_first, scope_in, started_once,
};
use super::teams::{body_of_team, data, given};
use super::{Member, MovesTo, Region, Regions, parts, reexecution, watchable};
use crate::diagnostics::{Diagnostics, Refusal};
use crate::names::{LocalId, LocalSet, Locals};
use crate::paths::rt;
use crate::syntax::gathered::empty_list;
use crate::syntax::marks::Marks;
use crate::syntax::mentions::{locals_in, locals_of};
use crate::syntax::region_marks;
use crate::syntax::without_ckpt::Strip;
use crate::visit::Visit;
use crate::visit::{self, VisitMut};
use proc_macro2::Span;
use quote::{ToTokens, format_ident, quote};
use std::ops::Range;
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprClosure, ExprMethodCall, ItemFn, Stmt, parse_quote, parse_quote_spanned};

/// Takes the regions of a function out that have sites in their threads: the function gets a site in front of each, and
/// the bodies lose theirs. Threads that may outlive their statement are watched.
pub fn lifted(
    mut function: ItemFn,
    marks: Marks<'_>,
    locals: &Locals,
    errors: &mut Diagnostics,
) -> (ItemFn, Regions) {
    watchable::watch(marks.library, &mut function);
    let regions = lift(&mut function, marks, locals, errors);
    (function, regions)
}

fn lift(function: &mut ItemFn, marks: Marks<'_>, locals: &Locals, errors: &mut Diagnostics) -> Regions {
    if !Starts::with_sites(marks, |starts| starts.visit_block(&function.block)) {
        return Regions::default();
    }
    parts::hand_out(&mut function.block, marks, locals);
    let variables = VariablesInScope::of(marks.library, locals, function);
    let mut lifter = Lifter {
        marks,
        variables: &variables,
        locals,
        outer: function.sig.ident.to_string(),
        found: Regions::default(),
        errors,
    };
    lifter.visit_block_mut(&mut function.block);
    lifter.found
}

struct Lifter<'a> {
    marks: Marks<'a>,
    variables: &'a VariablesInScope<'a>,
    locals: &'a Locals,
    outer: String,
    found: Regions,
    errors: &'a mut Diagnostics,
}

impl VisitMut for Lifter<'_> {
    /// Scopes first, also those of inner blocks: what starts threads with sites after that is waited for by `join`.
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut statements = Vec::new();
        for mut stmt in std::mem::take(&mut block.stmts) {
            let number = self.found.regions.len();
            let span = stmt.span();
            let region = if let Some(scope) =
                scope_in(self.marks.library, &mut stmt).filter(|scope| self.has_sites(scope))
            {
                self.region(scope, number)
            } else if let Some(call) = self.team_in(&mut stmt) {
                self.team(call, number)
            } else {
                visit::visit_stmt_mut(self, &mut stmt);
                statements.push(stmt);
                continue;
            };
            self.found.regions.push(region);
            statements.push(region_marks::site(number, span));
            statements.push(stmt);
        }
        block.stmts = statements;
        self.joined(block);
    }

    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Lifter<'_> {
    /// Regions of this block: statements that start threads with sites, and others behind them that join these.
    fn joined(&mut self, block: &mut Block) {
        let mut at = 0;
        while let Some((first, last)) = self.started(&block.stmts[at..]) {
            let (first, last) = (at + first, at + last);
            self.bring_lists_close(&mut block.stmts[at..=last], first - at);
            let number = self.found.regions.len();
            let starts = |stmt: &Stmt| self.starts_with_sites(stmt);
            let behind = block.stmts[..=last].iter().rposition(starts).unwrap_or(last) + 1;
            let own = give_away(&mut block.stmts, behind, number, self.marks, self.locals);
            let between = &block.stmts[behind..=last];
            let receives = between
                .iter()
                .filter(|stmt| own.is_none() && goes_over(self.marks.library, stmt));
            let receives: Vec<Span> = receives.map(|stmt| stmt.span()).collect();
            let last = own.map_or(last, |own| own - 1);
            let start = reexecution::start(self.marks.library, self.locals, &block.stmts, first, last);
            let region = self.waiting(&mut block.stmts, start..last + 1, own, number);
            self.found.regions.push(region);
            // What is gone over may come from the threads, one after the other, and these may stand at a site, whose checkpoint is
            // taken only where they are waited for.
            for at in receives {
                self.errors.refuse(at, Refusal::WorkBetween);
            }
            let span = block.stmts[start].span();
            let site = region_marks::site(number, span);
            block.stmts.insert(start, site);
            at = last + 3;
        }
    }

    /// An empty list that the statements from this one on are the first to name is made in front of it: what stands between need not run again
    /// for it.
    fn bring_lists_close(&self, statements: &mut [Stmt], first: usize) {
        for at in (0..first).rev() {
            let Stmt::Local(local) = &statements[at] else {
                continue;
            };
            let Some(list) = empty_list(self.marks.library, local).and_then(|list| self.locals.id(list))
            else {
                continue;
            };
            let names = |stmt: &Stmt| locals_in(self.locals, stmt.to_token_stream()).contains(list);
            if local.attrs.is_empty()
                && names(&statements[first])
                && !statements[at + 1..first].iter().any(names)
            {
                statements[at..first].rotate_left(1);
            }
        }
    }

    /// The first statement that starts threads with sites, and the last one before those are joined.
    fn started(&self, statements: &[Stmt]) -> Option<(usize, usize)> {
        let first = statements
            .iter()
            .position(|stmt| self.starts_with_sites(stmt) && !joins(self.marks.library, stmt))?;
        let join = first
            + statements[first..]
                .iter()
                .position(|one| joins(self.marks.library, one))?;
        Some((first, join - 1))
    }

    /// The thread that starts a team waits for all of it where the program would wait for the first: what stands between
    /// that and the last wait would come later than it does without ckpt, and another thread may depend on it.
    fn refuse_work(&mut self, starts: &[Stmt], rest: &[Stmt]) {
        let of_others = self.joins_of_others(starts, rest);
        let waits = rest[..of_others]
            .iter()
            .rposition(|one| joins(self.marks.library, one))
            .map_or(rest.len().min(1), |last| last + 1);
        let work = rest[..waits].iter().find(|stmt| {
            let library = self.marks.library;
            !joins_first(library, stmt) && !is_value(stmt) && !is_unseen(library, stmt)
        });
        if let Some(work) = work {
            self.errors.refuse(work.span(), Refusal::WorkBetween);
        }
    }

    /// Where the statements begin behind the last that joins these threads: the joins behind it are of others. All, where none is seen to join
    /// these.
    fn joins_of_others(&self, starts: &[Stmt], rest: &[Stmt]) -> usize {
        let named = |stmt: &Stmt| locals_in(self.locals, stmt.to_token_stream());
        let mut handles = LocalSet::default();
        for stmt in starts {
            // What a thread does is not where its handle is.
            let mut alone = stmt.clone();
            Spawns(self.marks.library, &mut |closure: &mut ExprClosure| {
                *closure.body = parse_quote!(());
            })
            .visit_stmt_mut(&mut alone);
            handles.extend(named(&alone).iter());
        }
        let mut end = None;
        for (index, stmt) in rest.iter().enumerate() {
            let all = named(stmt);
            if all.is_disjoint(&handles) {
                continue;
            }
            match joins(self.marks.library, stmt) {
                true => end = Some(index + 1),
                // Where else they may be.
                false => handles.extend(all.iter()),
            }
        }
        end.unwrap_or(rest.len())
    }

    fn starts_with_sites(&self, stmt: &Stmt) -> bool {
        Starts::with_sites(self.marks, |starts| starts.visit_stmt(stmt))
    }

    /// Whether a thread that the closure of a scope starts has a site.
    fn has_sites(&self, scope: &ExprClosure) -> bool {
        Starts::with_sites(self.marks, |starts| starts.visit_expr(&scope.body))
    }

    fn region(&mut self, scope: &mut ExprClosure, number: usize) -> Region {
        let mut block = body_of(scope);
        let Some(last) = block.stmts.iter().rposition(|stmt| self.starts_with_sites(stmt)) else {
            return Region::default();
        };
        let own = give_away(&mut block.stmts, last + 1, number, self.marks, self.locals);
        let is_drop = |stmt: &&Stmt| drops(self.marks.library, stmt);
        let drops_behind = block.stmts[last + 1..].iter().take_while(is_drop).count();
        let last = own.map_or(last + drops_behind, |own| own - 1);
        let region = self.waiting(&mut block.stmts, 0..last + 1, own, number);
        let span = block.stmts[last].span();
        if let Stmt::Expr(expr, semicolon @ None) = &mut block.stmts[last] {
            match expr {
                Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) | Expr::Block(_) | Expr::If(_) => {}
                _ => *semicolon = Some(syn::Token![;](span)),
            }
        }
        *scope.body = Expr::Block(syn::ExprBlock {
            attrs: Vec::new(),
            label: None,
            block,
        });
        region
    }

    /// A region that starts its threads with the statements of `range`, and the wait behind them. `own` is the statement
    /// of a share of the work that its own thread had.
    fn waiting(
        &mut self,
        statements: &mut Vec<Stmt>,
        range: Range<usize>,
        own: Option<usize>,
        number: usize,
    ) -> Region {
        let last = own.unwrap_or(range.end - 1);
        self.refuse_work(&statements[range.clone()], &statements[last + 1..]);
        let span = statements[range.end - 1].span();
        let mut region = self.statements(&mut statements[range]);
        match own {
            Some(own) => self.members(&mut statements[own], &mut region),
            None => statements.insert(last + 1, region_marks::wait(number, span)),
        }
        region
    }

    /// The statements of a region up to the last that starts a thread.
    fn statements(&mut self, statements: &mut [Stmt]) -> Region {
        let mut region = Region::default();
        for stmt in &mut *statements {
            let changed = reexecution::changed_in(self.marks.library, self.locals, stmt);
            region.lends.extend(self.variables.changeable(changed).iter());
            let before = self.found.members.len();
            let once = started_once(self.marks, stmt);
            self.members(stmt, &mut region);
            if self.found.members.len() > before && joins(self.marks.library, stmt) {
                self.errors.refuse(stmt.span(), Refusal::StartedAndJoined);
            }
            for (member, _) in (before..).zip(once).filter(|(_, once)| *once) {
                self.moves(member, &mut region);
            }
        }
        let all = mentions(self.locals, &quote!(#(#statements)*));
        let members = &self.found.members;
        region.moves.retain(|local, to| {
            let alone = members[to.member].captures[to.capture].alone;
            alone == all.get(local).copied() && !region.lends.contains(*local)
        });
        let mut others = Others(self.marks.library, Vec::new());
        statements.iter().for_each(|stmt| others.visit_stmt(stmt));
        for at in others.1 {
            self.errors.refuse(at, Refusal::ThreadWithoutSite);
        }
        reexecution::check(self.marks.library, self.locals, statements, self.errors);
        self.let_ends_go(statements);
        region
    }

    /// What may move into the thread for good.
    fn moves(&self, number: usize, region: &mut Region) {
        let member = &self.found.members[number];
        let captures = member.captures.iter().enumerate();
        let moved =
            captures.filter(|(_, one)| member.moves && one.how != How::InPlace && one.alone.is_some());
        region.moves.extend(moved.filter_map(|(capture, one)| {
            let to = MovesTo {
                member: number,
                capture,
            };
            Some((self.locals.id(&one.ident)?, to))
        }));
    }

    /// `drop(sender)`: a restart in the threads needs the sender once more, so that it stays, as one that sends no more.
    fn let_ends_go(&self, statements: &mut [Stmt]) {
        let mut own = LocalSet::default();
        for stmt in statements.iter() {
            if let Stmt::Local(local) = stmt {
                own.extend(locals_of(self.locals, &local.pat).iter());
            }
        }
        for stmt in statements {
            let Some(name) = dropped(self.marks.library, stmt) else {
                continue;
            };
            let is_end = |local: &LocalId| self.variables.is_channel_end(*local) && !own.contains(*local);
            if self.locals.id(&name).filter(is_end).is_some() {
                let rt = rt();
                *stmt = parse_quote_spanned!(stmt.span()=> #rt::let_go(&#name););
            }
        }
    }

    /// Takes out the bodies of the threads that the statement starts.
    fn members(&mut self, stmt: &mut Stmt, region: &mut Region) {
        let mut bodies = Vec::new();
        let (marks, first) = (self.marks, self.found.members.len());
        Spawns(marks.library, &mut |closure: &mut ExprClosure| {
            if !has_site(marks, closure) {
                return;
            }
            let number = first + bodies.len();
            bodies.push(closure.clone());
            Strip.visit_expr_mut(&mut closure.body);
            region_marks::note_member(closure, number);
        })
        .visit_stmt_mut(stmt);
        for closure in bodies {
            let member = self.member(&closure);
            if !member.moves {
                let places = member.captures.iter().filter(|one| one.how == How::InPlace);
                let places = places.filter_map(|one| self.locals.id(&one.ident));
                region.lends.extend(places);
            }
            self.found.members.push(member);
        }
    }

    /// The call in a statement by which a team runs a closure with sites.
    fn team_in<'a>(&self, stmt: &'a mut Stmt) -> Option<&'a mut ExprMethodCall> {
        let marks = self.marks;
        let runs = |expr: &Expr| body_of_team(marks.library, expr).is_some_and(|body| has_site(marks, body));
        match first_in(stmt, &runs)? {
            Expr::MethodCall(call) => Some(call),
            _ => None,
        }
    }

    /// A team that runs a closure with sites: it is given what waits for its members as well.
    fn team(&mut self, call: &mut ExprMethodCall, number: usize) -> Region {
        let mut lends = LocalSet::default();
        for data in data(call) {
            let changed = reexecution::changed_in(self.marks.library, self.locals, &parse_quote!(#data;));
            lends.extend(changed.iter());
        }
        let index = self.found.members.len();
        let mut method = format!("{}_and", call.method);
        if let Some(Expr::Closure(closure)) = call.args.last_mut() {
            if is_malleable(closure, self.marks, self.locals) {
                method = "run_spread_and".to_owned();
            }
            let given = given(closure, self.errors);
            let mut member = self.member_of(closure, |capture| Capture {
                how: How::Reexecuted,
                borrowed: false,
                behind: false,
                ..capture
            });
            let parameters = given.iter().map(Capture::parameter);
            member.function.sig.inputs.extend(parameters);
            member.captures.extend(given);
            member.of_team = true;
            self.found.members.push(member);
            Strip.visit_expr_mut(&mut closure.body);
            region_marks::note_member(closure, index);
        }
        let span = call.method.span();
        call.method = format_ident!("{method}", span = span);
        let wait = region_marks::wait(number, span);
        call.args.push(parse_quote!(|| { #wait }));
        Region {
            lends,
            ..Region::default()
        }
    }

    fn member(&mut self, closure: &ExprClosure) -> Member {
        if !is_given_nothing(closure) {
            self.errors.refuse(closure.span(), Refusal::ThreadTakesArgument);
        }
        self.member_of(closure, |capture| capture)
    }

    fn member_of(&mut self, closure: &ExprClosure, adjusted: impl Fn(Capture) -> Capture) -> Member {
        let mut body = body_of(closure);
        let mut others = Others(self.marks.library, Vec::new());
        others.visit_block(&body);
        for at in others.1 {
            self.errors.refuse(at, Refusal::ThreadsInThread);
        }
        let captures = captures(closure, self.variables, self.errors).into_iter();
        let captures: Vec<Capture> = captures.map(adjusted).collect();
        self.look_behind(&mut body, &captures);
        let number = self.found.members.len() + 1;
        let name = format_ident!("{}_thread_{}", self.outer, number, span = at(closure));
        let parameters = captures.iter().map(Capture::parameter);
        let function: ItemFn = parse_quote!(fn #name(#(#parameters),*) #body);
        Member {
            captures,
            moves: closure.capture.is_some(),
            of_team: false,
            function,
        }
    }
}

impl Lifter<'_> {
    fn look_behind(&mut self, body: &mut Block, captures: &[Capture]) {
        let local = |one: &Capture| self.locals.id(&one.ident);
        let behind = captures.iter().filter(|one| one.behind);
        let some = behind.clone().filter_map(local).collect();
        let hidden = look_behind(self.marks.library, self.locals, body, &some);
        for capture in behind.filter(|one| local(one).is_some_and(|one| hidden.contains(one))) {
            let name = &capture.ident;
            self.errors
                .refuse(name.span(), Refusal::ThreadHides { name: name.clone() });
        }
    }
}

fn at(closure: &ExprClosure) -> Span {
    closure.or1_token.span.resolved_at(Span::mixed_site())
}

/// The body of a closure as a block.
pub(super) fn body_of(closure: &ExprClosure) -> Block {
    match &*closure.body {
        Expr::Block(block) if block.label.is_none() => block.block.clone(),
        other => parse_quote!({ #other }),
    }
}
