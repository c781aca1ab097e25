//! The functions between `main` and the sites: all of them are instrumented, and every call on the way is marked.

use super::expressible::behind_name;
use super::{Chooser, MarkedName, PlacedFunction, PlacedSite, Reason};
use crate::Analysis;
use crate::calls::{Call, CallForm, CallId};
use crate::diagnostics::Cause;
use crate::items::{Annotation, FnId};
use ckpt_compiler::diagnostics::Refusal;
use ckpt_compiler::parse::options::Options;
use std::collections::BTreeMap;

/// The calls that lead to each function.
pub(super) fn callers(analysis: &Analysis) -> Vec<Vec<CallId>> {
    let mut callers = vec![Vec::new(); analysis.items.functions.len()];
    for call in &analysis.graph.calls {
        for callee in &call.callees {
            callers[callee.0].push(call.id);
        }
    }
    callers
}

/// Which functions a run that begins in `main` may enter.
pub(super) fn reachable(analysis: &Analysis, main: FnId) -> Vec<bool> {
    let calls = analysis.graph.calls_by_function();
    let mut seen = vec![false; analysis.items.functions.len()];
    let mut open = vec![main];
    seen[main.0] = true;
    while let Some(function) = open.pop() {
        for id in &calls[function.0] {
            for callee in &analysis.graph.call(*id).callees {
                if !std::mem::replace(&mut seen[callee.0], true) {
                    open.push(*callee);
                }
            }
        }
    }
    seen
}

impl Chooser<'_, '_> {
    /// The functions to instrument for these sites, `main` first.
    pub(super) fn route(&self, sites: &[PlacedSite]) -> Result<Vec<PlacedFunction>, Vec<Reason>> {
        if sites.is_empty() {
            return Ok(Vec::new());
        }
        let on_the_way = self.between(sites);
        let mut reasons = Vec::new();
        let mut functions = Vec::new();
        for function in self.in_order(&on_the_way) {
            if let Err(reason) = self.can_be_instrumented(function) {
                reasons.push(reason);
                continue;
            }
            match self.marked(function, &on_the_way) {
                Ok(calls) => {
                    let of_it =
                        |(index, site): (usize, &PlacedSite)| (site.function == function).then_some(index);
                    let one = self.analysis.items.function(function);
                    functions.push(PlacedFunction {
                        function,
                        opens_session: function == self.main,
                        by_user: one.annotation != Annotation::None,
                        calls,
                        sites: sites.iter().enumerate().filter_map(of_it).collect(),
                    });
                }
                Err(more) => reasons.extend(more),
            }
        }
        if reasons.is_empty() {
            Ok(functions)
        } else {
            Err(reasons)
        }
    }

    /// For each function whether it lies between `main` and a site.
    fn between(&self, sites: &[PlacedSite]) -> Vec<bool> {
        let mut between = vec![false; self.analysis.items.functions.len()];
        let mut open: Vec<FnId> = sites.iter().map(|site| site.function).collect();
        open.push(self.main);
        for function in &open {
            between[function.0] = true;
        }
        while let Some(function) = open.pop() {
            for id in &self.callers[function.0] {
                let caller = self.analysis.graph.call(*id).caller;
                if self.reachable[caller.0] && !std::mem::replace(&mut between[caller.0], true) {
                    open.push(caller);
                }
            }
        }
        between
    }

    /// `main` first, then in the order in which calls lead to them.
    fn in_order(&self, between: &[bool]) -> Vec<FnId> {
        let mut seen = vec![false; between.len()];
        let mut order = vec![self.main];
        seen[self.main.0] = true;
        let mut next = 0;
        while let Some(function) = order.get(next).copied() {
            next += 1;
            for id in &self.calls[function.0] {
                for callee in &self.analysis.graph.call(*id).callees {
                    if between[callee.0] && !std::mem::replace(&mut seen[callee.0], true) {
                        order.push(*callee);
                    }
                }
            }
        }
        order
    }

    fn can_be_instrumented(&self, function: FnId) -> Result<(), Reason> {
        let one = self.analysis.items.function(function);
        let refusal = if one.item.sig.constness.is_some() {
            Refusal::ConstFunction
        } else if one.item.sig.asyncness.is_some() {
            Refusal::AsyncFunction
        } else {
            return Ok(());
        };
        Err(Reason {
            function,
            line: Some(one.place.line),
            cause: Cause::Refused(refusal),
        })
    }

    /// The names for the calls that lead on.
    fn marked(&self, function: FnId, between: &[bool]) -> Result<Vec<MarkedName>, Vec<Reason>> {
        let graph = &self.analysis.graph;
        let leads = |call: &Call| call.callees.iter().any(|callee| between[callee.0]);
        let mut names: BTreeMap<String, MarkedName> = BTreeMap::new();
        let mut order = Vec::new();
        let mut reasons = Vec::new();
        for id in &self.calls[function.0] {
            let call = graph.call(*id);
            if !leads(call) {
                continue;
            }
            match self.name_of(call) {
                Ok(Some(name)) => {
                    if !names.contains_key(&name) {
                        order.push(name.clone());
                    }
                    let entry = names.entry(name.clone()).or_insert_with(|| MarkedName {
                        name,
                        calls: Vec::new(),
                        also: Vec::new(),
                    });
                    entry.calls.push(*id);
                }
                Ok(None) => {}
                Err(reason) => reasons.push(reason),
            }
        }
        if let Some(reason) = self.missed_by_user(function, &names) {
            reasons.push(reason);
        }
        if !reasons.is_empty() {
            return Err(reasons);
        }
        for id in &self.calls[function.0] {
            let call = graph.call(*id);
            let Some(last) = call.form.last().filter(|_| !leads(call)) else {
                continue;
            };
            for entry in names.values_mut() {
                if entry.name.rsplit("::").next() == Some(last) {
                    entry.also.push(*id);
                }
            }
        }
        Ok(order.into_iter().filter_map(|name| names.remove(&name)).collect())
    }

    /// How `calls(..)` names a call; nothing where the call is doubtful and a certain one leads there too.
    fn name_of(&self, call: &Call) -> Result<Option<String>, Reason> {
        if let Some(trap) = &call.trap {
            if !call.certain && self.has_certain_caller(call) {
                return Ok(None);
            }
            let callee = call.callees.first().map(|id| self.analysis.items.function(*id));
            let callee = callee.map_or("", |one| one.display.as_str());
            return Err(Reason {
                function: call.caller,
                line: Some(call.place.line),
                cause: Cause::CalledInside {
                    callee: callee.into(),
                    trap: trap.to_string(),
                    way_out: trap.instead(),
                },
            });
        }
        if let Some(other) = self.called_as(call)
            && (call.certain || !self.has_certain_caller(call))
        {
            let callee = &self.analysis.items.function(call.callees[0]).display;
            return Err(Reason {
                function: call.caller,
                line: Some(call.place.line),
                cause: Cause::CalledAs {
                    callee: callee.clone(),
                    other: other.into(),
                },
            });
        }
        Ok(match &call.form {
            CallForm::Method(name) | CallForm::Variable(name, _) => Some(name.clone()),
            CallForm::Path(names) => {
                let from = names.len().saturating_sub(2);
                let names: Vec<_> = names[from..]
                    .iter()
                    .filter(|name| *name != "crate" && *name != "self" && *name != "super" && *name != "::")
                    .map(String::as_str)
                    .collect();
                Some(names.join("::"))
            }
            CallForm::Unnamed => None,
        })
    }

    /// The name in the call, if none of the functions that it may mean has it, and it cannot be told which is behind it.
    fn called_as<'c>(&self, call: &'c Call) -> Option<&'c str> {
        // A variable has the same function again at a restart: it is saved by its name.
        if matches!(call.form, CallForm::Variable(..)) {
            return None;
        }
        let last = call.form.last()?;
        let is_own = |callee: &FnId| self.analysis.items.function(*callee).item.sig.ident == last;
        let is_other = !call.callees.is_empty() && !call.callees.iter().any(is_own);
        (is_other && behind_name(self.analysis, call.caller, last).is_none()).then_some(last)
    }

    pub(super) fn has_certain_caller(&self, call: &Call) -> bool {
        call.callees.iter().all(|callee| {
            self.callers[callee.0].iter().any(|id| {
                let other = self.analysis.graph.call(*id);
                other.certain && other.trap.is_none() && self.reachable[other.caller.0]
            })
        })
    }

    /// A function that the user has annotated must mark all calls that lead on.
    fn missed_by_user(&self, function: FnId, names: &BTreeMap<String, MarkedName>) -> Option<Reason> {
        let one = self.analysis.items.function(function);
        let (Annotation::Main(arguments) | Annotation::Instrument(arguments)) = &one.annotation else {
            return None;
        };
        let parsed = arguments
            .parse()
            .ok()
            .and_then(|tokens| Options::parse(tokens, false).ok())?;
        let marked = |name: &str| {
            let last = name.rsplit("::").next();
            parsed.calls.iter().any(|path| {
                path.segments
                    .last()
                    .is_some_and(|segment| Some(segment.ident.to_string().as_str()) == last)
            })
        };
        let missing = names.keys().find(|name| !marked(name))?;
        Some(Reason {
            function,
            line: Some(one.place.line),
            cause: Cause::NotMarked {
                function: one.display.clone(),
                missing: missing.clone(),
            },
        })
    }
}
