//! Which statements may run a second time: a `let` whose value no checkpoint holds is made again at a restart if that
//! changes nothing but the variable itself.

use super::changed_places::{ChangedPlaces, changed_places};
use super::completed::{
    Completed, CompletedAt, all_completed, completed, completed_at, makes_handles, told_at,
};
use super::devices::{Devices, first_change, stays_the_same};
use super::dropped_arrays::{dropped, is_dropped};
use super::foreign::Foreign;
use super::kept_arrays::Keepers;
use super::refill::replaced::{Watched, replaces};
use super::refill::replacing::Replacing;
use super::set_later;
use super::statements::{Without, maker};
use super::uploads::OwnArrays;
use crate::Analysis;
use crate::calls::CallId;
use crate::facts::state::{Looked, OuterState, types_with};
use crate::items::{FnId, Function, Items};
use crate::source::locate::bytes;
use crate::source::{Extent, FileId, Position, Program};
use ckpt_compiler::desugar::iterator_replay;
use ckpt_compiler::library::{
    DeviceHidden, DeviceMethods, Library, Methods, Surroundings, Types, last_name, segments,
};
use ckpt_compiler::syntax::gathered::{empty_list, gathered_together};
use ckpt_compiler::syntax::macros::arguments_of_macro;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::syntax::patterns::assigned_places;
use ckpt_compiler::syntax::purity::is_assignment;
use ckpt_compiler::visit::{self, Visit, VisitMut};
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use syn::spanned::Spanned;
use syn::{Expr, Local};

/// Where each call of a file stands, and what it may call.
type CallsByFile = HashMap<FileId, Vec<(Range<usize>, Vec<FnId>)>>;

/// What is in the way of making something again that statements behind its `let` tell more.
#[derive(Debug)]
pub(crate) enum ToldMore {
    /// Something else may change it.
    Changed(Extent),
    /// They tell it what this variable has, which changes.
    From(String),
    /// This would be done again with it.
    Leaves(Extent),
}

/// Knows the effects of the functions of a program.
#[derive(Debug)]
pub struct Effects<'a> {
    program: &'a Program,
    items: &'a Items,
    library: &'a Library,
    /// Calls by the file and the byte at which they begin.
    calls: CallsByFile,
    by_function: Vec<Vec<FnId>>,
    /// The types of the program that change behind a shared reference.
    changing: HashSet<String>,
    foreign: Foreign,
    devices: Devices<'a>,
    /// The types of the program that have arrays on devices of which nobody counts what is there.
    with_arrays: HashSet<String>,
    changed_places: Vec<ChangedPlaces>,
    completed: Vec<CompletedAt>,
    /// Whether the program changes its environment.
    environment_changes: OnceCell<bool>,
    outer_state: &'a OuterState,
    /// Whether it may write to files.
    file_written: OnceCell<Option<Extent>>,
    replacing: OnceCell<Replacing>,
    /// The functions that set up handles on devices which they are given.
    setters: HashSet<FnId>,
    around_devices: AroundDevices,
}

impl<'a> Effects<'a> {
    /// Looks at the calls of the program.
    pub fn of(program: &'a Program, analysis: &'a Analysis) -> Self {
        let (items, graph) = (&analysis.items, &analysis.graph);
        let mut calls: CallsByFile = HashMap::new();
        for call in &graph.calls {
            calls
                .entry(call.place.file)
                .or_default()
                .push((call.place.bytes.clone(), call.callees.clone()));
        }
        let callees = |ids: Vec<CallId>| -> Vec<FnId> {
            ids.into_iter()
                .flat_map(|id| graph.call(id).callees.clone())
                .collect()
        };
        let devices = Devices::of(&analysis.library, program);
        let by_function: Vec<Vec<FnId>> = graph.calls_by_function().into_iter().map(callees).collect();
        let mut around_devices = AroundDevices::default();
        let mut setters = HashSet::new();
        if devices.are_used() {
            setters = set_later::setters(&analysis.library, items, &by_function);
            around_devices = AroundDevices::of(&analysis.library, program, &devices);
            around_devices.find_called_unseen(&analysis.library, &devices, items, &by_function);
        }
        Self {
            program,
            items,
            library: &analysis.library,
            calls,
            by_function,
            changing: types_with(program, &|name| {
                analysis.library.changes_inside(name) || devices.change(name)
            }),
            foreign: Foreign::of(program),
            with_arrays: match devices.are_watched() {
                true => types_with(program, &|name| devices.are_arrays(name)),
                false => HashSet::new(),
            },
            changed_places: match devices.are_used() {
                true => changed_places(&analysis.library, program, items),
                false => Vec::new(),
            },
            environment_changes: OnceCell::new(),
            outer_state: &analysis.outer_state,
            file_written: OnceCell::new(),
            replacing: OnceCell::new(),
            setters,
            completed: match devices.are_used() {
                true => all_completed(&analysis.library, program, items),
                false => Vec::new(),
            },
            around_devices,
            devices,
        }
    }

    /// Whether a variable, by where its name stands where it is declared, is for what stands at `place` as it was declared, whatever
    /// has been done to it since: it has been completed, or has changed places, with what `is_made_again`, by where it is declared.
    pub(crate) fn is_as_declared(
        &self,
        at: Position,
        place: Position,
        is_made_again: &dyn Fn(Position) -> bool,
    ) -> bool {
        let changes_places = |one: &ChangedPlaces| one.is_as_declared(at, place, is_made_again);
        { self.changed_places.iter() }.any(changes_places) || { self.completed.iter() }
            .any(|one| one.is_as_declared(at, place))
    }

    /// Those with which a variable that is declared there changes places, and it itself.
    pub(crate) fn changing_places_with(&self, place: Position) -> BTreeSet<Position> {
        let all = self.changed_places.iter().map(ChangedPlaces::places);
        all.filter(|places| places.contains(&place)).flatten().collect()
    }

    /// Whether the `let` that begins there may be re-executed: it has an initialiser that leaves no trace and changes no
    /// variable, and what it declares is not changed later, so that a second run gives the same value. Of a `for`, whether
    /// what it goes over may be rebuilt.
    pub fn may_be_reexecuted(&self, place: Position) -> bool {
        match self.statement_at(place) {
            Some((Statement::Let(local), others)) => local.init.as_ref().is_some_and(|init| {
                let completed = self.completed_at(place);
                init.diverge.is_none()
                    && (is_constant_pattern(&local.pat) && !self.is_set_later(place, local)
                        || completed.is_some())
                    && completed.is_none_or(|one| self.is_completed_the_same(place.0, &one, &others))
                    && !self.may_change_inside(place.0, local)
                    && self.leaves_all_as_it_is(place.0, &init.expr, &others)
            }),
            // What the loop goes over, made a second time.
            Some((Statement::For(one), others)) => self.leaves_all_as_it_is(place.0, &one.expr, &others),
            None => false,
        }
    }

    /// Whether a handle on a device that is declared there gets something that one which is made again would not have.
    fn is_set_later(&self, place: Position, local: &Local) -> bool {
        let function = self
            .items
            .function_around(place)
            .filter(|_| self.devices.are_used());
        let is_setter = |call: &Expr| {
            let callees = self.called_in(place.0, &bytes(self.program, place.0, call.span()), &[]);
            callees.iter().any(|one| self.setters.contains(one))
        };
        function
            .is_some_and(|function| set_later::is_set_later(self.library, &function.item, local, &is_setter))
    }

    /// The handle on a device that the `let` there and the statement behind it make, if nothing else changes it.
    fn completed_at(&self, place: Position) -> Option<Completed<'a>> {
        let function = self
            .items
            .function_around(place)
            .filter(|_| self.devices.are_used())?;
        completed_at((self.library, self.program), &function.item, place)
    }

    /// Whether what completes a handle leaves no trace, and is made from nothing that may be another then.
    fn is_completed_the_same(&self, file: FileId, one: &Completed<'_>, others: &HashSet<String>) -> bool {
        one.completions().all(|completion| {
            self.told_from(one, completion).is_disjoint(others)
                && self.leaves_all_as_it_is(file, completion, others)
        })
    }

    /// What a statement that completes something names besides.
    fn told_from(&self, one: &Completed<'_>, completion: &Expr) -> HashSet<String> {
        let mut names = names_in(&completion.to_token_stream());
        for name in &one.names {
            names.remove(&name.to_string());
        }
        names
    }

    /// Whether the `let` that begins there may be executed again although what it is made from may have changed since: it
    /// leaves no trace.
    pub fn may_be_made_anew(&self, place: Position) -> bool {
        self.statement_at(place).is_some_and(|(statement, others)| {
            let Statement::Let(local) = statement else {
                return false;
            };
            local.init.as_ref().is_some_and(|init| {
                let others = self.without_looked_at(place.0, &init.expr, others);
                init.diverge.is_none() && self.leaves_all_as_it_is(place.0, &init.expr, &others)
            })
        })
    }

    /// The names but for those of which the expression calls nothing but functions of the program that only look.
    fn without_looked_at(&self, file: FileId, expr: &Expr, names: HashSet<String>) -> HashSet<String> {
        let callees = self.called_in(file, &bytes(self.program, file, expr.span()), &[]);
        let only_looks = |method: &str| {
            let functions = callees.iter().map(|id| self.items.function(*id));
            let mut of_name = functions.filter(|one| one.name == method).peekable();
            of_name.peek().is_some() && of_name.all(|one| !is_lent_exclusively(&one.item.sig))
        };
        let mut changes = MayChange {
            only_looks: &only_looks,
            names: HashSet::new(),
        };
        changes.visit_expr(expr);
        names
            .into_iter()
            .filter(|name| changes.names.contains(name))
            .collect()
    }

    /// Whether the value of the variable that is declared there may be made a second time, and then filled from a
    /// checkpoint: as [`Effects::may_be_reexecuted`], but the value itself may change later.
    pub fn may_be_rebuilt(&self, place: Position) -> bool {
        self.may_be_rebuilt_from(place, &[])
    }

    /// The same for a value that borrows variables exclusively, which are filled with it.
    pub fn may_be_rebuilt_from(&self, place: Position, lent: &[String]) -> bool {
        self.statement_at(place).is_some_and(|(statement, mut others)| {
            let Statement::Let(local) = statement else {
                return false;
            };
            others.retain(|name| !lent.contains(name));
            let mut pattern = &local.pat;
            if let syn::Pat::Type(typed) = pattern {
                pattern = &typed.pat;
            }
            let init = local.init.as_ref().filter(|init| init.diverge.is_none());
            names_of(pattern).is_some()
                && init.is_some_and(|init| self.leaves_all_as_it_is(place.0, &init.expr, &others))
                && !self.is_set_later(place, local)
                && { self.completed_at(place) }
                    .is_none_or(|one| self.is_completed_the_same(place.0, &one, &others))
        })
    }

    /// Whether a value of this type, as rustc writes it, has content on a device that it would lose.
    pub(crate) fn change_on_device(&self, type_name: &str) -> bool {
        self.devices.change_type(type_name)
    }

    /// The crates for devices that a type, as rustc writes it, may be of.
    pub(crate) fn crates_of_type(&self, type_name: &str) -> Vec<String> {
        self.devices.crates_of(type_name)
    }

    /// What leads to content on a device that no variable holds, if it hangs on values of this type, as rustc writes it.
    pub(crate) fn hidden_behind(&self, type_name: &str) -> Option<String> {
        self.devices.hidden_behind(type_name).map(ToOwned::to_owned)
    }

    /// Whether a type, as rustc writes it, is that of commands that have begun on a device.
    pub(crate) fn are_under_way_on_device(&self, type_name: &str) -> bool {
        self.devices.are_under_way(type_name)
    }

    /// Whether a checkpoint holds the content of a value of this type, as rustc writes it.
    pub(crate) fn are_saved_from_device(&self, type_name: &str) -> bool {
        self.devices.are_saved(type_name)
    }

    /// Whether a type, as rustc writes it, is that of a handle that may be one to memory on a device.
    pub(crate) fn are_untyped_on_device(&self, type_name: &str) -> bool {
        self.devices.are_untyped(type_name)
    }

    /// Whether what the `let` there declares is made by what makes memory on a device.
    pub(crate) fn is_made_on_device(&self, place: Position) -> bool {
        match self.statement_at(place) {
            Some((Statement::Let(local), _)) => self.may_change_inside(place.0, local),
            _ => false,
        }
    }

    /// Whether the variable that is declared there may hold an array on a device that is made again and then filled: it is
    /// the same array from its declaration on, or changes places with others of which that is so. Kernels that have it as an
    /// argument would have another one otherwise.
    pub(crate) fn may_be_filled_on_device(&self, place: Position) -> bool {
        let with = self.changing_places_with(place);
        self.is_filled_on_device(place) && with.iter().all(|one| self.is_filled_on_device(*one))
    }

    fn is_filled_on_device(&self, place: Position) -> bool {
        self.stays_on_device(place) || self.is_gathered_on_device(place)
    }

    pub(crate) fn is_gathered_on_device(&self, place: Position) -> bool {
        self.is_gathered(place, &|function, list| {
            stays_the_same(self.library, function, list, &[])
        })
    }

    /// Whether the list that is declared there, of structs, gets its elements so.
    pub(crate) fn gathers_the_same(&self, place: Position) -> bool {
        let replacing = self
            .replacing
            .get_or_init(|| Replacing::of(self.library, self.program));
        self.is_gathered(place, &|function, list| {
            !replaces(
                self.library,
                &function.block,
                Watched::Variable(&list.to_string(), replacing),
            )
        })
    }

    /// Whether the list that is declared there is empty, and what stands behind gives it its elements and leaves no other trace: these
    /// are the same from there on, as far as the rest of the function tells.
    fn is_gathered(&self, place: Position, stays: &dyn Fn(&syn::ItemFn, &syn::Ident) -> bool) -> bool {
        let Some(gathered) = self.gathered_at(place) else {
            return false;
        };
        let mut without = gathered.function.clone();
        Without(&gathered.statements).visit_block_mut(&mut without.block);
        self.trace_of_gathering(place.0, &gathered).is_none() && stays(&without, gathered.list)
    }

    /// Where the list that is declared there first gets another element, if it does so in a loop around one of these places.
    pub(crate) fn grows_at(&self, place: Position, within: &dyn Fn(&Extent) -> bool) -> Option<Extent> {
        let gathered = self.gathered_at(place)?;
        let extent = |stmt: &&syn::Stmt| (place.0, bytes(self.program, place.0, stmt.span()));
        gathered
            .statements
            .iter()
            .map(extent)
            .any(|one| within(&one))
            .then_some(())?;
        self.change_at(place)
    }

    /// The list that is declared there and those that get elements together with it.
    fn gathered_at(&self, place: Position) -> Option<GatheredAt<'a>> {
        let function = &self.items.function_around(place)?.item;
        let mut lists = ListAt {
            program: self.program,
            place,
            found: None,
        };
        lists.visit_block(&function.block);
        let (block, at) = lists.found?;
        let declared = |at: usize| match &block[at] {
            syn::Stmt::Local(local) => empty_list(self.library, local),
            _ => None,
        };
        let together = gathered_together(self.library, block, at)?;
        Some(GatheredAt {
            function,
            list: declared(at)?,
            all: { together.lists.keys() }
                .filter_map(|at| declared(*at))
                .map(ToString::to_string)
                .collect(),
            statements: together.statements.iter().map(|one| &block[*one]).collect(),
        })
    }

    /// The first trace that giving lists their elements leaves, but for these elements; or a variable that they are made from and that
    /// changes elsewhere: a restart has it as it is by then.
    fn trace_of_gathering(&self, file: FileId, gathered: &GatheredAt<'_>) -> Option<Extent> {
        let extent = |span| (file, bytes(self.program, file, span));
        let (function, statements) = (gathered.function, &gathered.statements);
        let mut own = Declared::default();
        statements.iter().for_each(|stmt| own.visit_stmt(stmt));
        let mut others = Changeable::default();
        others.visit_signature(&function.sig);
        others.visit_block(&function.block);
        others
            .0
            .retain(|name| !own.0.contains_key(name) && !gathered.all.contains(name));
        let mut changed = self.changed();
        statements.iter().for_each(|stmt| changed.visit_stmt(stmt));
        let of_others = { changed.found.into_iter() }.find(|(name, _)| others.0.contains(name));
        if let Some((_, span)) = of_others {
            return Some(extent(span));
        }
        let mut elsewhere = self.changed();
        let mut without = function.clone();
        Without(statements).visit_block_mut(&mut without.block);
        elsewhere.visit_block(&without.block);
        let first = statements.first()?;
        let begins = extent(first.span()).1.start;
        let is_once = function.block.stmts.iter().any(|stmt| std::ptr::eq(stmt, *first));
        let mut names = HashSet::new();
        statements
            .iter()
            .for_each(|stmt| names.extend(names_in(&stmt.to_token_stream())));
        let later = |(name, span): &(String, proc_macro2::Span)| {
            let is_later = !is_once || extent(*span).1.start > begins;
            is_later && names.contains(name) && others.0.contains(name)
        };
        if let Some((name, _)) = elsewhere.found.into_iter().find(later) {
            let mut declared = Declared::default();
            declared.visit_signature(&function.sig);
            declared.visit_block(&function.block);
            return Some(extent(
                declared.0.get(&name).copied().unwrap_or_else(|| first.span()),
            ));
        }
        statements.iter().find_map(|stmt| match stmt {
            syn::Stmt::Expr(expr, _) => self.trace_in(file, expr, &others.0),
            _ => None,
        })
    }

    fn changed(&self) -> Changed<'_> {
        Changed {
            library: self.library,
            found: Vec::new(),
        }
    }

    /// Where one of the variables that are declared there first may get something else than what its initialiser makes.
    pub(crate) fn change_at(&self, place: Position) -> Option<Extent> {
        let function = self.items.function_around(place)?;
        let (Statement::Let(local), _) = self.statement_at(place)? else {
            return None;
        };
        let mut names = names_of(&local.pat)?.into_iter();
        let change = names.find_map(|name| first_change(self.library, &function.item, name, &[]))?;
        Some((place.0, bytes(self.program, place.0, change)))
    }

    /// What keeps a restart from making again what is declared there and then told more by statements behind it.
    pub(crate) fn told_more_at(&self, place: Position) -> Option<ToldMore> {
        let function = self
            .items
            .function_around(place)
            .filter(|_| self.devices.are_used())?;
        let extent = |span| (place.0, bytes(self.program, place.0, span));
        let (one, changed) = told_at((self.library, self.program), &function.item, place)?;
        if let Some(changed) = changed {
            return Some(ToldMore::Changed(extent(changed)));
        }
        let (_, others) = self.statement_at(place)?;
        one.completions().find_map(|completion| {
            let mut names = self.told_from(&one, completion).into_iter();
            if let Some(name) = names.find(|name| others.contains(name)) {
                return Some(ToldMore::From(function.name_in_source(&name)));
            }
            let trace = self.trace_in(place.0, completion, &others)?;
            Some(ToldMore::Leaves(trace))
        })
    }

    /// The same of what its initialiser makes.
    fn stays_on_device(&self, place: Position) -> bool {
        let stays = |(statement, _)| match (statement, self.items.function_around(place)) {
            (Statement::Let(local), Some(function)) => {
                let stays = |variable: &&syn::Ident| {
                    { self.changed_places.iter() }.any(|one| one.is_of(place, variable))
                        || stays_the_same(self.library, &function.item, variable, &[])
                };
                is_constant_pattern(&local.pat)
                    || self.completed_at(place).is_some()
                    || names_of(&local.pat).is_some_and(|names| names.iter().all(stays))
            }
            _ => false,
        };
        self.may_be_rebuilt(place) && self.statement_at(place).is_some_and(stays)
    }

    /// Whether the parameter that is declared there, which is passed by value, may hold one: it is the same array in all of
    /// the function.
    pub(crate) fn may_be_passed_on_device(&self, place: Position) -> bool {
        let Some(function) = self.items.function_around(place).map(|one| &one.item) else {
            return false;
        };
        let is_here = |input: &&syn::FnArg| bytes(self.program, place.0, input.span()).start == place.1;
        match function.sig.inputs.iter().find(is_here) {
            Some(syn::FnArg::Receiver(_)) => true,
            Some(syn::FnArg::Typed(typed)) => {
                is_constant_pattern(&typed.pat)
                    || variable(&typed.pat)
                        .is_some_and(|variable| stays_the_same(self.library, function, variable, &[]))
            }
            None => false,
        }
    }

    /// Whether a value of this type, as rustc writes it, is a handle to something that a restart makes again as it was.
    pub(crate) fn are_handles_on_device(&self, type_name: &str) -> bool {
        self.devices.are_handles(type_name)
    }

    /// Whether a value of this type, as rustc writes it, is a kernel that keeps its arguments.
    pub(crate) fn keep_arguments_on_device(&self, type_name: &str) -> bool {
        self.devices.keep_arguments(type_name)
    }

    /// Whether the variable that is declared there holds an iterator that may be gone over a second time: its closures do
    /// nothing but compute.
    pub fn may_be_replayed(&self, place: Position) -> bool {
        self.may_be_rebuilt(place)
            && self
                .statement_at(place)
                .is_some_and(|(statement, _)| match statement {
                    Statement::Let(local) => local
                        .init
                        .as_ref()
                        .is_some_and(|init| iterator_replay::may_be_replayed(self.library, &init.expr)),
                    Statement::For(_) => false,
                })
    }

    /// The `let` or `for` that begins at the byte, and the variables of its function that may change.
    fn statement_at(&self, place: Position) -> Option<(Statement<'a>, HashSet<String>)> {
        let function = self.items.function_around(place)?;
        let mut finder = StatementAt {
            program: self.program,
            place,
            found: None,
        };
        finder.visit_block(&function.item.block);
        let found = finder.found?;
        let mut changeable = Changeable::default();
        changeable.visit_signature(&function.item.sig);
        changeable.visit_block(&function.item.block);
        let exclusive = Exclusive::of(self.library, &function.item);
        changeable.0.extend(exclusive.references);
        if let Statement::Let(local) = found
            && self.devices.are_used()
        {
            changeable.0 = without_own(&function.item, local, changeable.0);
            for one in completed(self.library, &function.item) {
                for name in one.names {
                    changeable.0.remove(&name.to_string());
                }
            }
        }
        Some((found, changeable.0))
    }

    /// Whether what the `let` declares may change although it is not `mut`: made again, it would have lost that.
    fn may_change_inside(&self, file: FileId, local: &Local) -> bool {
        let mut open: Vec<FnId> = match &local.init {
            Some(init) => self.called_in(file, &bytes(self.program, file, init.expr.span()), &[]),
            None => Vec::new(),
        };
        let mut seen = HashSet::new();
        let mut changes = self.mentions_changing(local.to_token_stream());
        while let Some(next) = open.pop().filter(|_| !changes) {
            if seen.insert(next) {
                changes |= self.function_mentions_changing(&self.items.function(next).item);
                open.extend(self.by_function.get(next.0).into_iter().flatten());
            }
        }
        changes
    }

    fn mentions_changing(&self, tokens: TokenStream) -> bool {
        let mut names = self.devices.names_in(tokens).into_iter();
        names.any(|name| self.is_changing(&name) || self.devices.change(&name))
    }

    /// The same of a function. What is on devices does not count where it is lent: a restart has made it again by then,
    /// with its content, and what is made from it, such as a kernel, has no more of it than where it is.
    fn function_mentions_changing(&self, function: &syn::ItemFn) -> bool {
        let mut names = names_in(&function.to_token_stream()).into_iter();
        let mut owned = Owned(self.devices.names_in(function.block.to_token_stream()));
        owned.visit_signature(&function.sig);
        names.any(|name| self.is_changing(&name)) || owned.0.iter().any(|name| self.devices.change(name))
    }

    fn is_changing(&self, name: &str) -> bool {
        self.library.changes_inside(name) || self.changing.contains(name)
    }

    /// Whether something in the program changes its environment, so that what it was made from may be another one later.
    fn changes_its_environment(&self) -> bool {
        let changes = |name: &String| self.library.says(name, Surroundings::Changes);
        *self.environment_changes.get_or_init(|| {
            { self.program.files.iter() }
                .any(|file| names_in(&file.ast.to_token_stream()).iter().any(changes))
        })
    }

    /// Where something in the program first may write to a file, so that what was made from one may be another one later.
    pub(crate) fn file_written(&self) -> Option<Extent> {
        struct Writes<'l>(&'l Library, Option<proc_macro2::Span>);
        impl<'ast> Visit<'ast> for Writes<'_> {
            fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
                if self.1.is_none() && self.0.writes_file(&segments(&path.path)) {
                    self.1 = Some(path.span());
                }
            }
        }
        let first = || {
            (0..self.program.files.len()).map(FileId).find_map(|file| {
                let mut writes = Writes(self.library, None);
                writes.visit_file(&self.program.file(file).ast);
                Some((file, bytes(self.program, file, writes.1?)))
            })
        };
        self.file_written.get_or_init(first).clone()
    }

    fn traces<'n>(&'n self, changeable: &'n HashSet<String>, return_leaves: bool) -> Traces<'n> {
        Traces {
            environment_changes: Box::new(|| self.changes_its_environment()),
            writes_files: Box::new(|| self.file_written().is_some()),
            library: self.library,
            foreign: &self.foreign,
            devices: &self.devices,
            around_devices: &self.around_devices,
            changing_statics: self.outer_state.statics(),
            changeable,
            changing_variables: HashSet::new(),
            return_leaves,
            is_given_to_device: false,
            is_kept_by_handle: false,
            own_arrays: OwnArrays::default(),
            found: None,
            ways_out: Vec::new(),
        }
    }

    /// Where making the value of the variable that is declared there leaves a trace, if it does.
    pub(crate) fn trace_at(&self, place: Position) -> Option<Extent> {
        let (Statement::Let(local), mut others) = self.statement_at(place)? else {
            return None;
        };
        // What they make leaves them as they are: if they are others later, that is why.
        let function = self.items.function_around(place)?;
        others.retain(|name| !makes_handles(self.library, &function.item, name));
        let init = local.init.as_ref()?;
        let gathering = || self.trace_of_gathering(place.0, &self.gathered_at(place)?);
        self.trace_in(place.0, &init.expr, &others).or_else(gathering)
    }

    /// The same of the first variable that is made by a function of a type, `Type::new(..)`.
    pub(crate) fn trace_of_type(&self, name: &str) -> Option<Extent> {
        self.items.functions.iter().find_map(|function| {
            let file = function.place.file;
            let mut made = MadeBy {
                name,
                found: Vec::new(),
            };
            made.visit_block(&function.item.block);
            let places = made.found.into_iter();
            let mut places = places.map(|span| (file, bytes(self.program, file, span).start));
            places.find_map(|place| self.trace_at(place))
        })
    }

    fn leaves_all_as_it_is(&self, file: FileId, expr: &Expr, others: &HashSet<String>) -> bool {
        self.trace_in(file, expr, others).is_none()
    }

    /// In programs with devices, the variables of the function there that change behind shared references.
    fn changing_variables(&self, place: Position) -> HashSet<String> {
        struct Changing<'n> {
            library: &'n Library,
            around_devices: &'n AroundDevices,
            found: HashSet<String>,
        }
        impl<'ast> Visit<'ast> for Changing<'_> {
            fn visit_local(&mut self, local: &'ast Local) {
                if self
                    .around_devices
                    .changes(self.library, &local.to_token_stream())
                {
                    let names = names_of(&local.pat).into_iter().flatten();
                    self.found.extend(names.map(ToString::to_string));
                }
                visit::visit_local(self, local);
            }

            fn visit_item(&mut self, _: &'ast syn::Item) {}
        }
        let mut changing = Changing {
            library: self.library,
            around_devices: &self.around_devices,
            found: HashSet::new(),
        };
        let function = self
            .items
            .function_around(place)
            .filter(|_| self.devices.are_used());
        if let Some(function) = function {
            changing.visit_block(&function.item.block);
        }
        changing.found
    }

    /// The functions that code may call without their names: those of types that it names, for traits that are not the program's. What
    /// it makes is its own.
    fn called_unseen(&self, names: &HashSet<String>, makes: &HashSet<String>) -> Vec<FnId> {
        let all = { names.difference(makes) }.filter_map(|name| self.around_devices.called_unseen.get(name));
        all.flatten().copied().collect()
    }

    /// The same of a function. It may make what it returns, but for what it is lent.
    fn called_unseen_in(&self, function: &Function) -> Vec<FnId> {
        let signature = &function.item.sig;
        let mut names = names_in(&signature.inputs.to_token_stream());
        let mut makes = names_in(&signature.output.to_token_stream());
        match function.has_receiver() {
            true => names.extend(function.self_type.clone()),
            false => makes.extend(function.self_type.clone()),
        }
        makes.retain(|name| !names.contains(name));
        names.extend(names_in(&function.item.block.to_token_stream()));
        self.called_unseen(&names, &makes)
    }

    /// What the `let` or `for` there looks at that is no variable which changes, and may be another by the time of a restart.
    pub(crate) fn looked_at(&self, place: Position) -> Option<Looked> {
        let (statement, _) = self.statement_at(place)?;
        let (expr, declares) = match statement {
            Statement::Let(local) => (&local.init.as_ref()?.expr, local.to_token_stream()),
            Statement::For(one) => (&one.expr, TokenStream::new()),
        };
        self.state_in(place, expr, &declares)
    }

    fn state_in(&self, place: Position, expr: &Expr, declares: &TokenStream) -> Option<Looked> {
        let function = self.items.function_around(place)?;
        let of = (self.program, self.library, self.items);
        self.outer_state.looked_at(of, function, expr, declares)
    }

    /// The first trace that an expression leaves, itself or by what it calls, or the first state that it looks at.
    fn trace_in(&self, file: FileId, expr: &Expr, others: &HashSet<String>) -> Option<Extent> {
        let place = (file, bytes(self.program, file, expr.span()).start);
        let looked = || {
            // The statement around it tells its type.
            let declares = Declares::of(self.items.function_around(place)?, expr);
            self.state_in(place, expr, &declares)
        };
        self.own_trace_in(file, expr, others)
            .or_else(|| self.lent_exclusively(place, expr, others))
            .or_else(|| Some(looked()?.at))
    }

    /// The first exclusive reference that a call in the expression is given, and that may change what it leads to. `others` are the
    /// variables that count.
    fn lent_exclusively(&self, place: Position, expr: &Expr, others: &HashSet<String>) -> Option<Extent> {
        struct Lent<'n, 'a> {
            effects: &'n Effects<'a>,
            file: FileId,
            references: HashSet<String>,
            found: Option<Span>,
        }
        impl<'ast> Visit<'ast> for Lent<'_, '_> {
            fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
                for (index, argument) in call.args.iter().enumerate() {
                    let is_reference = matches!(argument, Expr::Path(path)
                        if path.path.get_ident().is_some_and(|name| self.references.contains(&name.to_string())));
                    let effects = self.effects;
                    let range = bytes(effects.program, self.file, call.func.span());
                    let callees = effects.called_in(self.file, &range, &[]);
                    let only_looks = !callees.is_empty()
                        && callees.iter().all(|id| {
                            let input = effects.items.function(*id).item.sig.inputs.iter().nth(index);
                            matches!(input, Some(syn::FnArg::Typed(typed))
                                if matches!(&*typed.ty, syn::Type::Reference(one) if one.mutability.is_none()))
                        });
                    if is_reference && !only_looks {
                        self.found.get_or_insert(argument.span());
                    }
                }
                visit::visit_expr_call(self, call);
            }
            fn visit_item(&mut self, _: &'ast syn::Item) {}
        }
        let function = self.items.function_around(place)?;
        let mut references = Exclusive::of(self.library, &function.item).references;
        references.retain(|name| others.contains(name));
        let mut lent = Lent {
            effects: self,
            file: place.0,
            references,
            found: None,
        };
        lent.visit_expr(expr);
        Some((place.0, bytes(self.program, place.0, lent.found?)))
    }

    fn own_trace_in(&self, file: FileId, expr: &Expr, others: &HashSet<String>) -> Option<Extent> {
        let mut own = self.traces(others, true);
        own.changing_variables =
            self.changing_variables((file, bytes(self.program, file, expr.span()).start));
        own.visit_expr(expr);
        if let Some(found) = own.found {
            return Some((file, bytes(self.program, file, found)));
        }
        if self.devices.are_watched() {
            let made: syn::ItemFn = syn::parse_quote!(fn made() { #expr });
            let own = OwnArrays::of(self.library, &self.devices, self.items, &made, &BTreeSet::new());
            let found = self.dropped_array(file, &made, &own);
            if let Some(found) = found.or_else(|| self.lost_in(file, &made, true)) {
                return Some(found);
            }
        }
        let range = bytes(self.program, file, expr.span());
        let ways_out: Vec<_> = own
            .ways_out
            .iter()
            .map(|span| bytes(self.program, file, *span))
            .collect();
        let makes = maker(expr).map_or_else(HashSet::new, |path| names_in(&path.to_token_stream()));
        let unseen = self.called_unseen(&names_in(&expr.to_token_stream()), &makes);
        let callees = self.called_in(file, &range, &ways_out).into_iter();
        callees.chain(unseen).find_map(|callee| self.trace_of(callee))
    }

    /// The first array that a function makes and drops, where something else may have it then and nobody counts it, and that
    /// kernels may write to.
    fn dropped_array(&self, file: FileId, function: &syn::ItemFn, own: &OwnArrays) -> Option<Extent> {
        if !self.devices.are_watched() {
            return None;
        }
        own.names().find_map(|name| {
            let local = dropped(self.library, function, name)?;
            let range = bytes(self.program, file, local.span());
            let mut names = names_in(&local.to_token_stream());
            for callee in self.called_in(file, &range, &[]) {
                names.extend(names_in(
                    &self.items.function(callee).item.block.to_token_stream(),
                ));
            }
            self.may_be_written(&names).then_some((file, range))
        })
    }

    /// Whether kernels may write to what is made where these names stand.
    fn may_be_written(&self, names: &HashSet<String>) -> bool {
        let is = |key: DeviceHidden| names.iter().any(|name| self.library.says(name, key));
        is(DeviceHidden::Written) || !is(DeviceHidden::OnlyRead)
    }

    /// The same of what a function gets by value, or from another of the program, and neither gives on nor can: its result has no
    /// array in it.
    fn lost_array(&self, function: &Function) -> Option<Extent> {
        if !self.devices.are_watched() {
            return None;
        }
        let file = function.place.file;
        let keepers = self.keepers();
        let is_kept = keepers.may_be_given_by(function);
        let given = keepers
            .given_to(function)
            .into_iter()
            .find(|name| !is_kept || is_dropped(self.library, &function.item, name));
        if given.is_some() {
            return Some((file, bytes(self.program, file, function.item.sig.span())));
        }
        self.lost_in(file, &function.item, is_kept)
    }

    fn keepers(&self) -> Keepers<'_> {
        Keepers::of(&self.devices, &self.with_arrays)
    }

    /// The first call of a function of the program in this one that gives an array which is only lent then; any, where nothing that
    /// this one gives can keep it.
    fn lost_in(&self, file: FileId, function: &syn::ItemFn, is_kept: bool) -> Option<Extent> {
        let keepers = self.keepers();
        let mut made = MadeElsewhere::of(self.library);
        made.visit_block(&function.block);
        made.calls.into_iter().find_map(|(call, name, becomes)| {
            let at = bytes(self.program, file, name);
            let callees = self.called_in(file, &at, &[]);
            let mut callees = callees.into_iter().map(|callee| self.items.function(callee));
            let callee = callees.find(|callee| match becomes {
                _ if !is_kept => keepers.gives(callee),
                Becomes::Bound(pattern) => {
                    let names = keepers.bound(pattern, callee);
                    names.iter().any(|name| is_dropped(self.library, function, name))
                }
                Becomes::Lent => keepers.gives(callee),
                Becomes::Other => false,
            })?;
            let mut names = names_in(&call.to_token_stream());
            names.extend(names_in(&callee.item.block.to_token_stream()));
            self.may_be_written(&names)
                .then(|| (file, bytes(self.program, file, call.span())))
        })
    }

    /// What is called in a range of a file, but for some parts of it.
    fn called_in(&self, file: FileId, range: &Range<usize>, but: &[Range<usize>]) -> Vec<FnId> {
        let lies_in =
            |at: &Range<usize>, range: &Range<usize>| range.start <= at.start && at.end <= range.end;
        self.calls.get(&file).map_or_else(Vec::new, |calls| {
            calls
                .iter()
                .filter(|(at, _)| lies_in(at, range) && !but.iter().any(|part| lies_in(at, part)))
                .flat_map(|(_, callees)| callees.clone())
                .collect()
        })
    }

    /// The first trace that a function leaves, or what it calls. What it does to its own variables is its own, and so is what it
    /// gives the arrays on devices to begin with that it has made, also through functions that it lends them.
    fn trace_of(&self, function: FnId) -> Option<Extent> {
        let mut seen = HashSet::new();
        let mut pending = vec![(function, BTreeSet::new())];
        while let Some((next, lent)) = pending.pop() {
            if !seen.insert((next, lent.clone())) {
                continue;
            }
            let function = self.items.function(next);
            let path: Vec<String> = function.display.split("::").map(str::to_owned).collect();
            if self.library.added().may_be_reexecuted(&path) {
                continue;
            }
            let nothing = HashSet::new();
            let mut traces = self.traces(&nothing, false);
            traces.own_arrays = OwnArrays::of(self.library, &self.devices, self.items, &function.item, &lent);
            traces.visit_signature(&function.item.sig);
            traces.visit_block(&function.item.block);
            if let Some(found) = traces.found {
                let file = function.place.file;
                return Some((file, bytes(self.program, file, found)));
            }
            let gives_something = matches!(function.item.sig.output, syn::ReturnType::Type(..));
            if gives_something
                && let Some(found) =
                    self.dropped_array(function.place.file, &function.item, &traces.own_arrays)
            {
                return Some(found);
            }
            if gives_something && let Some(found) = self.lost_array(function) {
                return Some(found);
            }
            let calls = match traces.own_arrays.are_none() {
                true => Vec::new(),
                false => self.called_in(function.place.file, &function.place.bytes, &[]),
            };
            for callee in self.by_function.get(next.0).into_iter().flatten() {
                let count = calls.iter().filter(|one| *one == callee).count();
                let callee_item = self.items.function(*callee);
                let lent = traces.own_arrays.lent_to(&function.item, callee_item, count);
                pending.push((*callee, lent));
            }
            let unseen = self.called_unseen_in(function);
            pending.extend(unseen.into_iter().map(|one| (one, BTreeSet::new())));
        }
        None
    }
}

/// What becomes of what a call gives.
#[derive(Clone, Copy)]
enum Becomes<'f> {
    /// A pattern stands for it.
    Bound(&'f syn::Pat),
    /// It is lent, and goes with the statement.
    Lent,
    /// Something else.
    Other,
}

/// Calls in a function: the whole, where its name stands, and what becomes of its value.
struct MadeElsewhere<'f> {
    library: &'f Library,
    calls: Vec<(&'f Expr, Span, Becomes<'f>)>,
}

impl<'f> MadeElsewhere<'f> {
    fn of(library: &'f Library) -> Self {
        Self {
            library,
            calls: Vec::new(),
        }
    }

    fn note(&mut self, expr: &'f Expr, becomes: Becomes<'f>) {
        match expr {
            Expr::Call(call) => self.calls.push((expr, call.func.span(), becomes)),
            Expr::MethodCall(call) => self.calls.push((expr, call.method.span(), becomes)),
            Expr::Try(inner) => self.note(&inner.expr, becomes),
            Expr::Await(inner) => self.note(&inner.base, becomes),
            Expr::Paren(inner) => self.note(&inner.expr, becomes),
            _ => {}
        }
    }
}

impl<'f> Visit<'f> for MadeElsewhere<'f> {
    fn visit_local(&mut self, local: &'f syn::Local) {
        if let Some(init) = &local.init {
            self.note(&init.expr, Becomes::Bound(&local.pat));
            // `let seeds = &made();` is there as long as the name.
            match &*init.expr {
                Expr::Reference(one) => self.visit_expr(&one.expr),
                other => self.visit_expr(other),
            }
        }
    }

    fn visit_expr(&mut self, expr: &'f Expr) {
        match expr {
            Expr::Call(_) => self.note(expr, Becomes::Other),
            Expr::MethodCall(call) => {
                self.note(expr, Becomes::Other);
                if self.library.says(&call.method.to_string(), DeviceMethods::Same) {
                    self.note(&call.receiver, Becomes::Lent);
                }
            }
            Expr::Reference(one) => self.note(&one.expr, Becomes::Lent),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_item(&mut self, _: &'f syn::Item) {}
}

/// The names in a signature, but for those of what is behind shared references.
struct Owned(BTreeSet<String>);

impl<'ast> Visit<'ast> for Owned {
    fn visit_ident(&mut self, name: &'ast syn::Ident) {
        self.0.insert(name.to_string());
    }

    fn visit_type_reference(&mut self, reference: &'ast syn::TypeReference) {
        if reference.mutability.is_some() {
            visit::visit_type_reference(self, reference);
        }
    }
}

/// What may run again.
enum Statement<'p> {
    Let(&'p Local),
    For(&'p syn::ExprForLoop),
}

/// Finds the `let` or `for` that begins at a byte.
struct StatementAt<'a> {
    program: &'a Program,
    place: Position,
    found: Option<Statement<'a>>,
}

impl StatementAt<'_> {
    fn is_here(&self, span: proc_macro2::Span) -> bool {
        bytes(self.program, self.place.0, span).start == self.place.1
    }
}

impl<'a> Visit<'a> for StatementAt<'a> {
    fn visit_local(&mut self, local: &'a Local) {
        if self.is_here(local.span()) {
            self.found = Some(Statement::Let(local));
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_for_loop(&mut self, one: &'a syn::ExprForLoop) {
        if self.is_here(one.span()) {
            self.found = Some(Statement::For(one));
        }
        visit::visit_expr_for_loop(self, one);
    }

    fn visit_item(&mut self, _: &'a syn::Item) {}
}

/// Finds the `let`s of what functions of a type make.
struct MadeBy<'n> {
    name: &'n str,
    found: Vec<proc_macro2::Span>,
}

impl MadeBy<'_> {
    fn makes(&self, expr: &Expr) -> bool {
        let of = maker(expr).and_then(|path| path.segments.iter().rev().nth(1));
        of.is_some_and(|of| of.ident == self.name)
    }
}

impl<'ast> Visit<'ast> for MadeBy<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        if local.init.as_ref().is_some_and(|init| self.makes(&init.expr)) {
            self.found.push(local.span());
        }
        visit::visit_local(self, local);
    }
}

/// A list that gets its elements from statements behind its `let`.
struct GatheredAt<'a> {
    function: &'a syn::ItemFn,
    list: &'a syn::Ident,
    /// The names of all lists that these statements give elements.
    all: HashSet<String>,
    statements: Vec<&'a syn::Stmt>,
}

/// Finds the `let` that begins at a byte: the statements of its block, and its number.
struct ListAt<'a> {
    program: &'a Program,
    place: Position,
    found: Option<(&'a [syn::Stmt], usize)>,
}

impl<'a> Visit<'a> for ListAt<'a> {
    fn visit_block(&mut self, block: &'a syn::Block) {
        let is_here = |stmt: &syn::Stmt| {
            matches!(stmt, syn::Stmt::Local(_))
                && bytes(self.program, self.place.0, stmt.span()).start == self.place.1
        };
        if let Some(at) = block.stmts.iter().position(is_here) {
            self.found = Some((&block.stmts, at));
        }
        visit::visit_block(self, block);
    }

    fn visit_item(&mut self, _: &'a syn::Item) {}
}

/// Finds what a `let` declares, by its initialiser.
struct Declares<'e> {
    init: &'e Expr,
    found: TokenStream,
}

impl Declares<'_> {
    fn of(function: &Function, init: &Expr) -> TokenStream {
        let mut finder = Declares {
            init,
            found: TokenStream::new(),
        };
        finder.visit_block(&function.item.block);
        finder.found
    }
}

impl<'ast> Visit<'ast> for Declares<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        let is_it = |init: &syn::LocalInit| init.expr.span().byte_range() == self.init.span().byte_range();
        if local.init.as_ref().is_some_and(is_it) {
            self.found = local.pat.to_token_stream();
        }
        visit::visit_local(self, local);
    }
}

/// The variables that patterns declare, each with where.
#[derive(Default)]
struct Declared(HashMap<String, proc_macro2::Span>);

impl<'ast> Visit<'ast> for Declared {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        let name = pattern.ident.to_string();
        self.0.entry(name).or_insert_with(|| pattern.ident.span());
        visit::visit_pat_ident(self, pattern);
    }
}

/// The variables that code may change, each with where.
struct Changed<'n> {
    library: &'n Library,
    found: Vec<(String, proc_macro2::Span)>,
}

impl Changed<'_> {
    fn assigned(&mut self, place: &Expr, span: proc_macro2::Span) {
        let names = assigned_places(place).into_iter().filter_map(root_name);
        self.found.extend(names.map(|name| (name, span)));
    }
}

impl<'ast> Visit<'ast> for Changed<'_> {
    fn visit_expr_assign(&mut self, one: &'ast syn::ExprAssign) {
        self.assigned(&one.left, one.span());
        visit::visit_expr_assign(self, one);
    }

    fn visit_expr_binary(&mut self, one: &'ast syn::ExprBinary) {
        if is_assignment(&one.op) {
            self.assigned(&one.left, one.span());
        }
        visit::visit_expr_binary(self, one);
    }

    fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
        if one.mutability.is_some() {
            self.assigned(&one.expr, one.span());
        }
        visit::visit_expr_reference(self, one);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        let looks = self.library.is_pure(&method)
            || is_iteration(self.library, &method)
            || self.library.says(&method, Methods::ByReference);
        if !looks || self.library.borrows_mutably(&method) {
            self.assigned(&call.receiver, call.span());
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        match arguments_of_macro(self.library, mac) {
            Some(arguments) => arguments.iter().for_each(|one| self.visit_expr(one)),
            None => self
                .found
                .extend(names_in(&mac.tokens).into_iter().map(|name| (name, mac.span()))),
        }
    }
}

/// These names but for those of variables that the initialiser of the `let` declares for itself: `{ let mut parts = ..; parts }`.
fn without_own(function: &syn::ItemFn, local: &Local, names: HashSet<String>) -> HashSet<String> {
    struct But<'l>(&'l Local, Changeable);
    impl<'ast> Visit<'ast> for But<'_> {
        fn visit_local(&mut self, local: &'ast Local) {
            if !std::ptr::eq(local, self.0) {
                visit::visit_local(self, local);
            }
        }

        fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
            self.1.visit_pat(pattern);
        }

        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let Some(init) = &local.init else { return names };
    let mut own = Changeable::default();
    own.visit_expr(&init.expr);
    let mut others = But(local, Changeable::default());
    others.1.visit_signature(&function.sig);
    others.visit_block(&function.block);
    let is_own = |name: &String| own.0.contains(name) && !others.1.0.contains(name);
    names.into_iter().filter(|name| !is_own(name)).collect()
}

/// The variables declared `mut`, and the parameters that are exclusive references.
#[derive(Default)]
struct Changeable(HashSet<String>);

impl<'ast> Visit<'ast> for Changeable {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        if pattern.mutability.is_some() {
            self.0.insert(pattern.ident.to_string());
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_receiver(&mut self, receiver: &'ast syn::Receiver) {
        if receiver.mutability.is_some() {
            self.0.insert("self".into());
        }
    }

    fn visit_pat_type(&mut self, typed: &'ast syn::PatType) {
        if let (syn::Pat::Ident(name), syn::Type::Reference(reference)) = (&*typed.pat, &*typed.ty)
            && reference.mutability.is_some()
        {
            self.0.insert(name.ident.to_string());
        }
        visit::visit_pat_type(self, typed);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The variables that may be exclusive references, or hold one.
struct Exclusive<'l> {
    library: &'l Library,
    references: HashSet<String>,
}

impl<'l> Exclusive<'l> {
    fn of(library: &'l Library, function: &syn::ItemFn) -> Self {
        let mut found = Self {
            library,
            references: HashSet::new(),
        };
        found.visit_signature(&function.sig);
        found.visit_block(&function.block);
        found
    }

    /// What a pattern binds is exclusive if what it is matched against is: `let Model { rng, .. } = self`, `if let Some(g) = list.get_mut(1)`.
    fn binds(&mut self, pattern: &syn::Pat, scrutinee: &Expr) {
        let is_whole = matches!(pattern, syn::Pat::Ident(_) | syn::Pat::Type(_));
        if self.leads_exclusively(scrutinee, is_whole) {
            struct Names<'n>(&'n mut HashSet<String>);
            impl<'ast> Visit<'ast> for Names<'_> {
                fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
                    self.0.insert(pattern.ident.to_string());
                }
            }
            Names(&mut self.references).visit_pat(pattern);
        }
    }

    /// Whether the value may be an exclusive reference, or hold one. `is_whole`: the value itself counts, and not what is behind it.
    fn leads_exclusively(&self, value: &Expr, is_whole: bool) -> bool {
        match value {
            Expr::Reference(one) => one.mutability.is_some(),
            Expr::Path(path) => path
                .path
                .get_ident()
                .is_some_and(|name| self.references.contains(&name.to_string())),
            Expr::Field(one) => !is_whole && self.leads_exclusively(&one.base, false),
            Expr::Index(one) => !is_whole && self.leads_exclusively(&one.expr, false),
            Expr::Unary(one) => !is_whole && self.leads_exclusively(&one.expr, false),
            Expr::Paren(one) => self.leads_exclusively(&one.expr, is_whole),
            Expr::Try(one) => self.leads_exclusively(&one.expr, is_whole),
            Expr::Tuple(one) => one
                .elems
                .iter()
                .any(|part| self.leads_exclusively(part, is_whole)),
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                self.library.borrows_mutably(&method)
                    || self.library.goes_over_exclusively(&method)
                    || self.leads_exclusively(&call.receiver, true)
                        && (self.library.says(&method, Methods::Unwraps) || self.library.adapts(&method))
            }
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Exclusive<'_> {
    fn visit_receiver(&mut self, receiver: &'ast syn::Receiver) {
        if receiver.mutability.is_some() && receiver.reference.is_some() {
            self.references.insert("self".into());
        }
    }

    fn visit_pat_type(&mut self, typed: &'ast syn::PatType) {
        if let (syn::Pat::Ident(name), syn::Type::Reference(reference)) = (&*typed.pat, &*typed.ty)
            && reference.mutability.is_some()
        {
            self.references.insert(name.ident.to_string());
        }
        visit::visit_pat_type(self, typed);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        if let Some(init) = &local.init {
            self.binds(&local.pat, &init.expr);
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_let(&mut self, one: &'ast syn::ExprLet) {
        self.binds(&one.pat, &one.expr);
        visit::visit_expr_let(self, one);
    }

    fn visit_expr_for_loop(&mut self, one: &'ast syn::ExprForLoop) {
        self.binds(&one.pat, &one.expr);
        visit::visit_expr_for_loop(self, one);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        if let Expr::Match(one) = expr {
            one.arms.iter().for_each(|arm| self.binds(&arm.pat, &one.expr));
        }
        visit::visit_expr(self, expr);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The one variable that a pattern declares.
fn variable(pattern: &syn::Pat) -> Option<&syn::Ident> {
    match pattern {
        syn::Pat::Ident(one) => Some(&one.ident),
        syn::Pat::Type(typed) => variable(&typed.pat),
        _ => None,
    }
}

/// The variables that a pattern declares, if it is one or a tuple of them.
pub(crate) fn names_of(pattern: &syn::Pat) -> Option<Vec<&syn::Ident>> {
    match pattern {
        syn::Pat::Ident(one) if one.by_ref.is_none() && one.subpat.is_none() => Some(vec![&one.ident]),
        syn::Pat::Type(typed) => names_of(&typed.pat),
        syn::Pat::Tuple(tuple) => {
            let names = tuple.elems.iter().map(|one| match one {
                syn::Pat::Ident(_) => names_of(one),
                _ => None,
            });
            let names: Option<Vec<_>> = names.collect();
            names.map(|names| names.concat())
        }
        _ => None,
    }
}

/// Whether nothing that the pattern binds may change later.
pub(crate) fn is_constant_pattern(pattern: &syn::Pat) -> bool {
    let mut names = Changeable::default();
    names.visit_pat(pattern);
    names.0.is_empty()
}

/// Whether a function may change what its caller has.
fn is_lent_exclusively(signature: &syn::Signature) -> bool {
    signature.inputs.iter().any(|input| match input {
        syn::FnArg::Receiver(receiver) => receiver.reference.is_some() && receiver.mutability.is_some(),
        syn::FnArg::Typed(typed) => {
            matches!(&*typed.ty, syn::Type::Reference(one) if one.mutability.is_some())
        }
    })
}

/// The variables that an expression may change: by a method, or through a reference.
struct MayChange<'n> {
    only_looks: &'n dyn Fn(&str) -> bool,
    names: HashSet<String>,
}

impl<'ast> Visit<'ast> for MayChange<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let is_direct = matches!(&*call.receiver, Expr::Path(_));
        if !(is_direct && (self.only_looks)(&call.method.to_string())) {
            self.names.extend(root_name(&call.receiver));
        }
        visit::visit_expr_method_call(self, call);
    }
    fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
        if one.mutability.is_some() {
            self.names.extend(root_name(&one.expr));
        }
        visit::visit_expr_reference(self, one);
    }
}

/// What of a program with devices makes a difference to what is made again there: a kernel keeps what it was made from.
#[derive(Debug, Default)]
struct AroundDevices {
    /// Types that have something which changes behind shared references.
    changing_types: HashSet<String>,
    /// Macros of the program that may leave a trace.
    tracing_macros: HashSet<String>,
    /// By their types, the functions for traits that are not the program's and start commands: operators, conversions, destructors
    /// and the like are called without their names.
    called_unseen: HashMap<String, Vec<FnId>>,
}

impl AroundDevices {
    fn of(library: &Library, program: &Program, devices: &Devices<'_>) -> Self {
        struct Items<'n> {
            library: &'n Library,
            devices: &'n Devices<'n>,
            found: AroundDevices,
        }
        impl<'ast> Visit<'ast> for Items<'_> {
            fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
                if let Some(name) = &item.ident
                    && mention_traces(self.library, self.devices, &item.mac.tokens)
                {
                    self.found.tracing_macros.insert(name.to_string());
                }
            }
        }
        let mut items = Items {
            library,
            devices,
            found: AroundDevices {
                changing_types: types_with(program, &|name| library.changes_behind_references(name, false)),
                ..AroundDevices::default()
            },
        };
        { program.files.iter() }.for_each(|file| items.visit_file(&file.ast));
        items.found
    }

    /// Finds the functions that are called without their names, given what each function calls.
    fn find_called_unseen(
        &mut self,
        library: &Library,
        devices: &Devices<'_>,
        items: &Items,
        calls: &[Vec<FnId>],
    ) {
        let own: HashSet<&str> = items.traits.iter().map(|one| one.name.as_str()).collect();
        let starts = |function: &FnId| {
            let mut seen = HashSet::new();
            let mut open = vec![*function];
            while let Some(next) = open.pop() {
                if !seen.insert(next) {
                    continue;
                }
                let mut commands = Commands {
                    library,
                    devices,
                    found: false,
                };
                commands.visit_block(&items.function(next).item.block);
                if commands.found {
                    return true;
                }
                open.extend(calls.get(next.0).into_iter().flatten());
            }
            false
        };
        for one in &items.impls {
            let Some(of_trait) = &one.of_trait else { continue };
            if own.contains(last_name(of_trait).as_str()) {
                continue;
            }
            // What is converted has a name as well as what it becomes.
            let mut types = of_trait.to_token_stream();
            one.self_type.to_tokens(&mut types);
            let mentioned = names_in(&types);
            let of_program = { items.types.iter() }.filter(|of| mentioned.contains(&of.name));
            let of_program: Vec<&str> = of_program.map(|of| of.name.as_str()).collect();
            for function in one.functions.iter().filter(|function| starts(function)) {
                for of in &of_program {
                    self.called_unseen
                        .entry((*of).to_owned())
                        .or_default()
                        .push(*function);
                }
            }
        }
    }

    /// Whether tokens name a type that changes behind shared references.
    fn changes(&self, library: &Library, tokens: &TokenStream) -> bool {
        let names = names_in(tokens);
        let mut names = names.iter();
        names.any(|name| library.changes_behind_references(name, false) || self.changing_types.contains(name))
    }
}

/// Whether tokens have the name of something that leaves a trace.
fn mention_traces(library: &Library, devices: &Devices<'_>, tokens: &TokenStream) -> bool {
    let names = names_in(tokens);
    let mut names = names.iter();
    names.any(|name| library.leaves_a_trace(name) || devices.leave_a_trace(name))
}

/// Whether code does something by a method or function, such as to give a device something to do. What it prints does not count.
struct Commands<'n> {
    library: &'n Library,
    devices: &'n Devices<'n>,
    found: bool,
}

impl<'ast> Visit<'ast> for Commands<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        self.found |= self.library.leaves_a_trace(&method) || self.devices.leave_a_trace(&method);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let name = last_name(&path.path);
        self.found |= self.library.leaves_a_trace(&name) || self.devices.leave_a_trace(&name);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        match arguments_of_macro(self.library, mac) {
            Some(arguments) => arguments.iter().for_each(|one| self.visit_expr(one)),
            None => self.found |= mention_traces(self.library, self.devices, &mac.tokens),
        }
    }
}

/// Looks for traces in code.
struct Traces<'n> {
    environment_changes: Box<dyn Fn() -> bool + 'n>,
    writes_files: Box<dyn Fn() -> bool + 'n>,
    around_devices: &'n AroundDevices,
    changing_statics: &'n HashSet<String>,
    library: &'n Library,
    foreign: &'n Foreign,
    devices: &'n Devices<'n>,
    /// Names whose methods may change them.
    changeable: &'n HashSet<String>,
    /// With devices, names of what changes behind shared references.
    changing_variables: HashSet<String>,
    /// Whether a `return` leaves what may run again.
    return_leaves: bool,
    /// In what a device's memory is made from: where that is in the program's memory is asked for to read it.
    is_given_to_device: bool,
    /// In what a handle on a device is set up with: closures there are run later, if ever.
    is_kept_by_handle: bool,
    /// Arrays on devices that the function itself makes: what it begins them with does not count.
    own_arrays: OwnArrays,
    found: Option<proc_macro2::Span>,
    /// Branches that end the program or leave the function. The first run did not take them, so a second run, from the same
    /// inputs, does not either: what they do does not count.
    ways_out: Vec<proc_macro2::Span>,
}

impl Traces<'_> {
    /// The first that leaves one is that of which people are told.
    fn leaves(&mut self, a_trace: bool, at: &impl syn::spanned::Spanned) {
        if a_trace && self.found.is_none() {
            self.found = Some(at.span());
        }
    }

    /// Whether what a function asks for may be something else when it is asked again.
    fn may_find_another(&self, function: &syn::Path) -> bool {
        let path = segments(function);
        self.library.asks_for_file(&path)
            || self.library.reads_environment(&path) && (self.environment_changes)()
    }

    /// Whether the expression never has a value; then it is noted.
    fn is_way_out(&mut self, expr: &Expr) -> bool {
        let is = never_returns(self.library, expr, self.return_leaves);
        if is {
            self.ways_out.push(expr.span());
        }
        is
    }
}

/// Whether the expression ends with a call that ends the program, a panic, or, where that counts, `return`.
fn never_returns(library: &Library, expr: &Expr, return_leaves: bool) -> bool {
    match expr {
        Expr::Paren(inner) => never_returns(library, &inner.expr, return_leaves),
        Expr::Block(block) if block.label.is_none() => {
            block_never_returns(library, &block.block, return_leaves)
        }
        Expr::Return(_) => return_leaves,
        Expr::Macro(one) => panics(library, &one.mac),
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path) if library.ends(&last_name(&path.path))),
        _ => false,
    }
}

fn block_never_returns(library: &Library, block: &syn::Block, return_leaves: bool) -> bool {
    match block.stmts.last() {
        Some(syn::Stmt::Expr(last, _)) => never_returns(library, last, return_leaves),
        Some(syn::Stmt::Macro(last)) => panics(library, &last.mac),
        _ => false,
    }
}

fn panics(library: &Library, mac: &syn::Macro) -> bool {
    library.ends(&last_name(&mac.path))
}

impl<'ast> Visit<'ast> for Traces<'_> {
    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = &arm.guard {
            self.visit_expr(guard);
        }
        if !self.is_way_out(&arm.body) {
            self.visit_expr(&arm.body);
        }
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.visit_expr(&branch.cond);
        if block_never_returns(self.library, &branch.then_branch, self.return_leaves) {
            self.ways_out.push(branch.then_branch.span());
        } else {
            self.visit_block(&branch.then_branch);
        }
        if let Some((_, otherwise)) = &branch.else_branch
            && !self.is_way_out(otherwise)
        {
            self.visit_expr(otherwise);
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let name = last_name(&mac.path);
        self.leaves(
            self.library.leaves_a_trace(&name) || self.around_devices.tracing_macros.contains(&name),
            mac,
        );
        if self.devices.are_used() {
            match arguments_of_macro(self.library, mac) {
                Some(arguments) => arguments.iter().for_each(|one| self.visit_expr(one)),
                None => {
                    let may_leave = mention_traces(self.library, self.devices, &mac.tokens);
                    self.leaves(may_leave, mac);
                }
            }
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let before = self.is_given_to_device;
        if let Expr::Path(path) = &*call.func {
            let makes = self.devices.make(&path.path);
            let leaves = self.library.leaves_a_trace(&last_name(&path.path)) && !makes
                || self.foreign.may_leave_a_trace(self.library, &path.path);
            let of = path.path.segments.iter().rev().nth(1);
            let asks_a_clock = self.devices.are_used()
                && of.is_some_and(|of| self.library.says(&of.ident.to_string(), Types::Clocks));
            self.leaves(leaves || asks_a_clock || self.may_find_another(&path.path), call);
            self.is_given_to_device |= makes;
        }
        visit::visit_expr_call(self, call);
        self.is_given_to_device = before;
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        let leaves_a_trace = self.library.leaves_a_trace(&method) || self.devices.leave_a_trace(&method);
        self.leaves(
            leaves_a_trace && !self.own_arrays.are_begun_by(self.library, call),
            call,
        );
        let root = root_name(&call.receiver);
        let may_change = root.is_some_and(|root| self.changeable.contains(&root));
        let is_read = self.is_given_to_device && self.library.says(&method, Types::Pointers);
        let leads_on = self.devices.are_used()
            && self.library.says(&method, Methods::ByReference)
            && !self.library.says(&method, DeviceMethods::Arguments);
        let looks =
            self.library.is_pure(&method) || is_iteration(self.library, &method) || is_read || leads_on;
        let asks_files = call.args.is_empty() && self.library.says(&method, Surroundings::AsksFiles);
        let is_from_file = self.library.says(&method, DeviceMethods::FromFiles) && (self.writes_files)();
        self.leaves(may_change && !looks || asks_files || is_from_file, call);
        let before = self.is_kept_by_handle;
        self.is_kept_by_handle |= self.devices.are_used() && self.library.says(&method, DeviceMethods::Sets);
        visit::visit_expr_method_call(self, call);
        self.is_kept_by_handle = before;
        // With devices all closures are looked into.
        for argument in call.args.iter().filter(|_| !self.devices.are_used()) {
            // It may be run by the method, as those of adaptors are by what collects.
            if let Expr::Closure(closure) = argument
                && !never_returns(self.library, &closure.body, false)
            {
                self.visit_expr(&closure.body);
            }
        }
    }

    fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
        let is_outside = root_name(&one.expr).is_some_and(|root| self.changeable.contains(&root));
        self.leaves(one.mutability.is_some() && is_outside, one);
        visit::visit_expr_reference(self, one);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let name = last_name(&path.path);
        let changes = self.changing_statics.contains(&name) || self.changing_variables.contains(&name);
        self.leaves(changes, path);
    }

    /// What a function is lent may be something else than it was.
    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if !self.devices.are_used() {
            return;
        }
        for input in &signature.inputs {
            let changes = self
                .around_devices
                .changes(self.library, &input.to_token_stream());
            self.leaves(changes, input);
        }
    }

    /// With devices, whoever is given it may call it.
    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        let may_run = self.devices.are_used() && !self.is_kept_by_handle;
        if may_run && !never_returns(self.library, &closure.body, false) {
            self.visit_expr(&closure.body);
        }
    }
}

fn is_iteration(library: &Library, method: &str) -> bool {
    library.borrows(method) && !library.borrows_mutably(method)
        || library.adapts(method)
        || library.collects(method)
}

fn root_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        Expr::Field(field) => root_name(&field.base),
        Expr::Index(index) => root_name(&index.expr),
        Expr::MethodCall(call) => root_name(&call.receiver),
        Expr::Paren(inner) => root_name(&inner.expr),
        Expr::Reference(one) => root_name(&one.expr),
        Expr::Unary(one) => root_name(&one.expr),
        _ => None,
    }
}
