//! A small function taken through the stages, with questions that are asked by the names of its variables.

use ckpt_compiler::cfg::{self, BindingId, Flow, Use};
use ckpt_compiler::desugar::form::Form;
use ckpt_compiler::diagnostics::Diagnostics;
use ckpt_compiler::library::Library;
use ckpt_compiler::liveness::Liveness;
use ckpt_compiler::names::{Locals, Names};
use ckpt_compiler::plan::{self, Entry, Mode, Plan};
use ckpt_compiler::resolve::references::references;
use ckpt_compiler::resolve::{Hiding, resolved};
use ckpt_compiler::spine::{self, Lowered, SiteId};
use ckpt_compiler::strategies::{Strategy, choose};
use ckpt_compiler::syntax::marks::Marks;
use ckpt_compiler::syntax::origins::Known;
use syn::ItemFn;

/// What the stages make of a function. Variables are called by their names; of several with one name the second is
/// `x#2`, in the order of their declaration.
pub struct Function {
    pub lowered: Lowered,
    pub flow: Flow,
    pub liveness: Liveness,
    pub plan: Plan,
}

impl Function {
    /// Of a function whose sites are `checkpoint!()` alone.
    pub fn of(source: &str) -> Self {
        Self::calling("", source)
    }

    /// Of a function in which calls of `callee` lead to sites.
    pub fn calling(callee: &str, source: &str) -> Self {
        let mut errors = Diagnostics::default();
        let function = Self::try_calling(callee, source, &mut errors);
        let messages: Vec<String> = errors.iter().map(|one| one.message()).collect();
        assert!(messages.is_empty(), "{}", messages.join("\n"));
        function
    }

    fn try_calling(callee: &str, source: &str, errors: &mut Diagnostics) -> Self {
        let function: ItemFn = syn::parse_str(source).expect("the source is a function");
        let calls: Vec<syn::Path> = syn::parse_str(callee).into_iter().collect();
        let library = Library::builtin();
        let (function, locals) = resolved(library, &calls, &function, &Locals::default(), Hiding::AsWritten);
        let references = references(library, &locals, &function);
        let known = Known::with(library, &locals, &references);
        let names = Names::of(locals.clone());
        let lowered = spine::lower(
            &function,
            Form::default(),
            Marks {
                calls: &calls,
                library,
            },
            known,
            &names,
            errors,
        );
        let flow = cfg::build(
            library,
            &function.sig,
            &lowered,
            &vec![None; function.sig.inputs.len()],
            names.locals(),
            false,
        );
        let liveness = Liveness::of(&flow);
        let strategies = choose(known, &flow, &liveness, false, errors);
        let plan = plan::plan(library, &lowered, &flow, &liveness, strategies, errors);
        Self {
            lowered,
            flow,
            liveness,
            plan,
        }
    }

    /// The variable of that name.
    pub fn binding(&self, name: &str) -> BindingId {
        let found = (0..self.flow.bindings.len()).find(|id| self.name(*id) == name);
        found.unwrap_or_else(|| panic!("there is no variable `{name}`"))
    }

    /// What the variable is called here.
    pub fn name(&self, binding: BindingId) -> String {
        let ident = self.flow.written(binding);
        let same = (0..binding).filter(|other| self.flow.same_name(*other, binding));
        match same.count() {
            0 => ident.to_string(),
            before => format!("{ident}#{}", before + 1),
        }
    }

    /// What happens to the variable, in the order of the basic blocks.
    pub fn uses(&self, name: &str) -> Vec<Use> {
        let binding = self.binding(name);
        let events = self.flow.events().filter(|event| event.binding == binding);
        events.map(|event| event.kind).collect()
    }

    /// The variables in scope at a site, the outermost first.
    pub fn scope(&self, site: SiteId) -> Vec<String> {
        self.flow.sites[site as usize - 1]
            .scope
            .iter()
            .map(|id| self.name(*id))
            .collect()
    }

    /// The variables in scope at the site whose values may be used after it.
    pub fn live(&self, site: SiteId) -> Vec<String> {
        let scope = self.flow.sites[site as usize - 1].scope.iter();
        let live = scope.filter(|id| self.liveness.is_live(&self.flow, site, **id));
        live.map(|id| self.name(*id)).collect()
    }

    /// Whether the variable may have been moved out of at the site.
    pub fn moved(&self, site: SiteId, name: &str) -> bool {
        self.liveness.may_be_moved(&self.flow, site, self.binding(name))
    }

    /// How the variable comes back at a restart.
    pub fn class(&self, name: &str) -> Strategy {
        self.plan.strategies[self.binding(name)]
    }

    /// How the variable gets out of the run that declares it.
    pub fn mode(&self, name: &str) -> Option<Mode> {
        self.plan
            .schedule
            .crossings
            .modes
            .get(&self.binding(name))
            .copied()
    }

    /// The key under which the variable is saved.
    pub fn key(&self, name: &str) -> &str {
        &self.plan.keys[&self.binding(name)]
    }

    /// What a site registers, one line per entry.
    pub fn entries(&self, site: SiteId) -> Vec<String> {
        self.plan.sites[site as usize - 1]
            .entries
            .iter()
            .map(|entry| self.entry(entry))
            .collect()
    }

    fn entry(&self, entry: &Entry) -> String {
        let name = self.name(entry.binding());
        let own =
            |parameter: &Option<u32>| parameter.map_or(String::new(), |index| format!(", parameter {index}"));
        let needed = |required: &bool| if *required { ", required" } else { "" };
        match entry {
            Entry::Save(_) => format!("{name}: saved"),
            Entry::Link(_, callee) => format!("{name}: in argument {callee}"),
            Entry::Moved {
                callee, parameter, ..
            } => format!("{name}: moved into argument {callee}{}", own(parameter)),
            Entry::Split {
                parameter, required, ..
            } => format!("{name}: split{}{}", own(parameter), needed(required)),
            Entry::Parameter { index, required, .. } => {
                format!("{name}: parameter {index}{}", needed(required))
            }
            Entry::ParameterLink {
                index,
                callee,
                required,
                ..
            } => {
                format!(
                    "{name}: parameter {index}, in argument {callee}{}",
                    needed(required)
                )
            }
            Entry::Again {
                index, whereabouts, ..
            } => format!("{name}: parameter {index}, passed again ({whereabouts:?})"),
        }
    }
}
