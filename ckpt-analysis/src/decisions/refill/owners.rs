//! Which struct of the program a field belongs to, where the source says it: that of `self` in an `impl`, or of a variable whose
//! type is written out. Two structs may have fields of the same name, and what is done to those of one changes nothing in the other.

use crate::source::Program;
use ckpt_compiler::library::{Library, last_name};
use ckpt_compiler::syntax::macros::{arguments_of_macro, name_of_macro};
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::collections::{BTreeSet, HashMap};
use syn::{Expr, Member};

/// The names of the structs that fields belong to, by the expressions.
#[derive(Debug, Default)]
pub(crate) struct Owners(HashMap<*const syn::ExprField, String>);

impl Owners {
    pub(crate) fn of(library: &Library, program: &Program) -> Self {
        let mut structs = Structs::default();
        program
            .files
            .iter()
            .for_each(|file| structs.visit_file(&file.ast));
        let mut found = Found {
            library,
            structs: &structs,
            own: None,
            variables: Vec::new(),
            owners: HashMap::new(),
        };
        program.files.iter().for_each(|file| found.visit_file(&file.ast));
        Self(found.owners)
    }

    /// Whether a field is known to be one of another struct than that of this name.
    pub(crate) fn is_of_another(&self, field: &syn::ExprField, owner: &str) -> bool {
        self.0
            .get(&std::ptr::from_ref(field))
            .is_some_and(|known| known != owner)
    }
}

/// The structs of a program, and the names that may stand for something else.
#[derive(Default)]
struct Structs {
    /// The fields of each.
    fields: HashMap<String, Vec<BTreeSet<String>>>,
    /// Other names of types, parameters, and what leads to the fields of another type.
    others: BTreeSet<String>,
    /// What functions in `impl`s of a type give, by the names of both.
    given: HashMap<(String, String), Vec<Gives>>,
}

/// What a function in an `impl` of a type gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    Own,
    /// In a `Result` or an `Option`.
    OwnIfAny,
    Other,
}

impl Structs {
    /// The name of the struct of this type, lent or not, if it is the only one of that name.
    fn named(&self, ty: &syn::Type) -> Option<String> {
        match ty {
            syn::Type::Reference(one) => self.named(&one.elem),
            syn::Type::Paren(one) => self.named(&one.elem),
            syn::Type::Path(path) if path.qself.is_none() => self.at(&path.path),
            _ => None,
        }
    }

    fn at(&self, path: &syn::Path) -> Option<String> {
        let name = last_name(path);
        self.is_known(&name).then_some(name)
    }

    fn is_known(&self, name: &str) -> bool {
        let is_one = self.fields.get(name).is_some_and(|all| all.len() == 1);
        is_one && !self.others.contains(name)
    }

    /// The struct that `Type::new(..)` makes, also with `?` behind it.
    fn made_by(&self, expr: &Expr) -> Option<String> {
        let (call, gives) = match expr {
            Expr::Struct(literal) => return self.at(&literal.path),
            Expr::Try(one) => (&*one.expr, Gives::OwnIfAny),
            expr => (expr, Gives::Own),
        };
        let Expr::Call(call) = call else {
            return None;
        };
        let Expr::Path(callee) = &*call.func else {
            return None;
        };
        let mut names = callee.path.segments.iter().rev().map(|one| one.ident.to_string());
        let (function, owner) = (names.next()?, names.next()?);
        let is_one = self.is_known(&owner) && callee.qself.is_none();
        let all = self.given.get(&(owner.clone(), function))?;
        (is_one && all.iter().all(|one| *one == gives)).then_some(owner)
    }

    fn gives(owner: &syn::Type, output: &syn::ReturnType) -> Gives {
        let syn::ReturnType::Type(_, ty) = output else {
            return Gives::Other;
        };
        let owner = match owner {
            syn::Type::Path(path) => last_name(&path.path),
            _ => return Gives::Other,
        };
        let is_own = |ty: &syn::Type| {
            matches!(ty, syn::Type::Path(path) if path.path.get_ident().is_some_and(|name| name == "Self")
                || last_name(&path.path) == owner)
        };
        let first_argument = |path: &syn::TypePath| match &path.path.segments.last()?.arguments {
            syn::PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
                syn::GenericArgument::Type(ty) => Some(is_own(ty)),
                _ => None,
            },
            _ => None,
        };
        match &**ty {
            ty if is_own(ty) => Gives::Own,
            syn::Type::Path(path) if first_argument(path) == Some(true) => Gives::OwnIfAny,
            _ => Gives::Other,
        }
    }

    fn has(&self, owner: &str, member: &Member) -> bool {
        let name = member.to_token_stream().to_string();
        self.fields
            .get(owner)
            .is_some_and(|all| all.iter().all(|fields| fields.contains(&name)))
    }
}

impl<'ast> Visit<'ast> for Structs {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let fields = super::named_fields(item).map(|(name, _)| name).collect();
        self.fields
            .entry(item.ident.to_string())
            .or_default()
            .push(fields);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        // Where a field of its own is hidden, one of what it leads to is meant.
        let leads_on = |name: &syn::Ident| name == "Target";
        let types = item.items.iter().filter_map(|one| match one {
            syn::ImplItem::Type(ty) => Some(&ty.ident),
            _ => None,
        });
        for ty in types {
            if leads_on(ty) {
                self.others.extend(names_in(&item.self_ty.to_token_stream()));
            }
            self.others.insert(ty.to_string());
        }
        if let syn::Type::Path(own) = &*item.self_ty {
            for one in &item.items {
                if let syn::ImplItem::Fn(function) = one {
                    let gives = Self::gives(&item.self_ty, &function.sig.output);
                    let name = (last_name(&own.path), function.sig.ident.to_string());
                    self.given.entry(name).or_default().push(gives);
                }
            }
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.others.insert(item.ident.to_string());
        visit::visit_item_type(self, item);
    }

    fn visit_use_rename(&mut self, one: &'ast syn::UseRename) {
        self.others.insert(one.rename.to_string());
        self.others.insert(one.ident.to_string());
    }

    fn visit_type_param(&mut self, one: &'ast syn::TypeParam) {
        self.others.insert(one.ident.to_string());
    }

    fn visit_trait_item_type(&mut self, one: &'ast syn::TraitItemType) {
        self.others.insert(one.ident.to_string());
    }

    // What a macro declares nobody sees.
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let names = names_in(&mac.tokens);
        if ["type", "use", "struct"].iter().any(|word| names.contains(*word)) {
            self.others.extend(names);
        }
    }
}

struct Found<'n> {
    library: &'n Library,
    structs: &'n Structs,
    /// The struct whose `impl` this is.
    own: Option<String>,
    /// The variables of the function with a type that is written out, each declared once.
    variables: Vec<(String, String)>,
    owners: HashMap<*const syn::ExprField, String>,
}

impl Found<'_> {
    fn owner_of(&self, base: &Expr) -> Option<&String> {
        match base {
            Expr::Paren(one) => self.owner_of(&one.expr),
            Expr::Path(path) if path.path.is_ident("self") => self.own.as_ref(),
            Expr::Path(path) => {
                let name = path.path.get_ident()?;
                let mut variables = self.variables.iter();
                variables.find(|(one, _)| name == one).map(|(_, owner)| owner)
            }
            _ => None,
        }
    }

    fn variables_of(&self, signature: &syn::Signature, block: &syn::Block) -> Vec<(String, String)> {
        let mut declared = Declared {
            library: self.library,
            structs: self.structs,
            names: Vec::new(),
            typed: Vec::new(),
        };
        declared.visit_signature(signature);
        declared.visit_block(block);
        let is_once = |name: &String| declared.names.iter().filter(|one| *one == name).count() == 1;
        let typed = declared.typed.iter().filter(|(name, _)| is_once(name));
        typed.cloned().collect()
    }
}

impl<'ast> Visit<'ast> for Found<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let own = self.structs.named(&item.self_ty);
        let before = std::mem::replace(&mut self.own, own);
        visit::visit_item_impl(self, item);
        self.own = before;
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let before = self.own.take();
        visit::visit_item_trait(self, item);
        self.own = before;
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let variables = self.variables_of(&function.sig, &function.block);
        let before = std::mem::replace(&mut self.variables, variables);
        visit::visit_item_fn(self, function);
        self.variables = before;
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        let variables = self.variables_of(&function.sig, &function.block);
        let before = std::mem::replace(&mut self.variables, variables);
        visit::visit_impl_item_fn(self, function);
        self.variables = before;
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        let before = std::mem::take(&mut self.variables);
        visit::visit_trait_item_fn(self, function);
        self.variables = before;
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        if let Expr::Field(field) = expr
            && let Some(owner) = self.owner_of(&field.base)
            && self.structs.has(owner, &field.member)
        {
            self.owners.insert(std::ptr::from_ref(field), owner.clone());
        }
        visit::visit_expr(self, expr);
    }
}

/// What a function declares, and of what struct it is where that is written out.
struct Declared<'n> {
    library: &'n Library,
    structs: &'n Structs,
    names: Vec<String>,
    typed: Vec<(String, String)>,
}

impl<'ast> Visit<'ast> for Declared<'_> {
    fn visit_pat_type(&mut self, one: &'ast syn::PatType) {
        if let syn::Pat::Ident(name) = &*one.pat
            && let Some(owner) = self.structs.named(&one.ty)
        {
            self.typed.push((name.ident.to_string(), owner));
        }
        visit::visit_pat_type(self, one);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let (syn::Pat::Ident(name), Some(init)) = (&local.pat, &local.init)
            && let Some(owner) = self.structs.made_by(&init.expr)
        {
            self.typed.push((name.ident.to_string(), owner));
        }
        visit::visit_local(self, local);
    }

    fn visit_pat_ident(&mut self, one: &'ast syn::PatIdent) {
        self.names.push(one.ident.to_string());
        visit::visit_pat_ident(self, one);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let is_own = self.library.own().has(&name_of_macro(mac));
        match arguments_of_macro(self.library, mac).filter(|_| !is_own) {
            Some(arguments) => arguments.iter().for_each(|one| Visit::visit_expr(self, one)),
            // It may declare a variable of that name.
            None => self.names.extend(names_in(&mac.tokens)),
        }
    }
}
