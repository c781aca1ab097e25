//! What the package is made of: functions with their bodies, types, traits, constants, global state.

pub mod amount;
mod collect;
pub mod comm_library;
pub mod fold;
pub mod hints;
pub mod methods;
pub mod resolve;
mod show;
mod syntax;
mod thread_locals;
mod types;

pub use collect::collect;
pub(super) use syntax::bound_path;
pub use syntax::{OwnAttribute, derives, own_attribute};
pub use thread_locals::may_change;

use crate::source::{FileId, Position};
use ckpt_compiler::names::Locals;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

macro_rules! index {
    ($(#[$doc:meta] $name:ident),*) => {$(
        #[$doc]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub usize);
    )*};
}

index!(
    /// Index of a function in `Items::functions`.
    FnId,
    /// Index of a type in [`Items::types`].
    TypeId,
    /// Index of a trait in [`Items::traits`].
    TraitId,
    /// Index of a constant in [`Items::consts`].
    ConstId,
    /// Index of a type alias in [`Items::aliases`].
    AliasId,
    /// Index of a piece of global state in [`Items::globals`].
    GlobalId,
    /// Index of a scope in [`Items::scopes`].
    ScopeId
);

/// All that the files declare.
#[derive(Debug, Default)]
pub struct Items {
    /// Functions with a body.
    pub functions: Vec<Function>,
    /// The `main` that the first crate imports: `use my_lib::main;`.
    pub imported_main: Option<FnId>,
    /// Structs, enums, unions.
    pub types: Vec<TypeItem>,
    /// Traits.
    pub traits: Vec<TraitItem>,
    /// `impl` blocks.
    pub impls: Vec<ImplItem>,
    /// Constants, associated ones too.
    pub consts: Vec<ConstItem>,
    /// Type aliases.
    pub aliases: Vec<AliasItem>,
    /// Statics and thread-locals.
    pub globals: Vec<GlobalItem>,
    /// What the program's own macros expand to, by their names.
    pub macros: HashMap<String, proc_macro2::TokenStream>,
    /// Modules and the blocks that declare items.
    pub scopes: Vec<Scope>,
    /// The root module of each crate, by its index in the program.
    pub roots: Vec<ScopeId>,
    /// For each crate, the names under which it knows other crates of the program.
    pub externs: Vec<HashMap<String, usize>>,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRange {
    /// The file.
    pub file: FileId,
    /// Bytes of its text.
    pub bytes: Range<usize>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 0.
    pub column: usize,
}

/// How a function is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FnKind {
    /// In a module.
    Free,
    /// In the body of another function.
    Nested,
    /// In an `impl Type`.
    Inherent,
    /// In an `impl Trait for Type`.
    TraitImpl,
    /// With its body in the trait.
    TraitDefault,
}

/// What the user has already said about a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Annotation {
    /// Nothing.
    None,
    /// `#[ckpt::main(..)]`, and its arguments.
    Main(String),
    /// `#[ckpt::instrument(..)]`, and its arguments.
    Instrument(String),
}

/// A function with a body.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its number.
    pub id: FnId,
    /// Its name.
    pub name: String,
    /// Its name with module and type, for people: `grid::Grid::step`.
    pub display: String,
    /// How it is declared.
    pub kind: FnKind,
    /// The crate.
    pub krate: usize,
    /// The scope that it is declared in.
    pub scope: ScopeId,
    /// The scope of its body.
    pub body_scope: ScopeId,
    /// The `impl` that holds it.
    pub of_impl: Option<usize>,
    /// The trait that it is declared in, for a default method.
    pub of_trait: Option<TraitId>,
    /// The last segment of the `impl`'s type.
    pub self_type: Option<String>,
    /// The last segment of the trait, for an implementation or a default method.
    pub trait_name: Option<String>,
    /// The function as a free one: attributes, signature, body. Each of its variables has a name of its own here, so that
    /// a name stands for one variable.
    pub item: syn::ItemFn,
    /// The same as it is written: what leads to text, or to the stages of one function.
    pub written: syn::ItemFn,
    /// Its variables, with the names that they have in the source.
    pub locals: Locals,
    /// From `fn` and what is before it to the closing brace, without attributes.
    pub place: SourceRange,
    /// Where an attribute's line can be inserted: behind doc comments and attributes, before `pub` and `fn`.
    pub insert_at: usize,
    /// Just behind the opening brace of the body.
    pub body_at: usize,
    /// What the user has said.
    pub annotation: Annotation,
}

impl Function {
    /// Whether it takes `self`.
    pub fn has_receiver(&self) -> bool {
        self.item.sig.receiver().is_some()
    }

    /// Whether it runs where a value is dropped.
    pub fn is_destructor(&self) -> bool {
        self.of_impl.is_some() && self.trait_name.as_deref() == Some("Drop")
    }

    /// What the source calls a variable, for people and for what is written into it.
    pub fn name_in_source(&self, variable: &str) -> String {
        self.locals.restore_text(variable).into_owned()
    }
}

/// What kind of type it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeKind {
    /// `struct`.
    Struct,
    /// `enum`.
    Enum,
    /// `union`.
    Union,
}

/// A field of a struct, a union or an enum's variant.
#[derive(Debug, Clone)]
pub struct Field {
    /// The variant that it belongs to.
    pub variant: Option<String>,
    /// Its name, or its number.
    pub name: String,
    /// Its type.
    pub ty: syn::Type,
    /// Its attributes.
    pub attributes: Vec<syn::Attribute>,
    /// Where an attribute can be inserted: behind its attributes.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test looks at it"))]
    pub insert_at: usize,
}

/// A type.
#[derive(Debug, Clone)]
pub struct TypeItem {
    /// Its number.
    pub id: TypeId,
    /// Its name.
    pub name: String,
    /// Its name with module, for people.
    pub display: String,
    /// What it is.
    pub kind: TypeKind,
    /// The scope that it is declared in.
    pub scope: ScopeId,
    /// Its parameters.
    pub generics: syn::Generics,
    /// What it derives, as written.
    pub derives: Vec<String>,
    /// Its fields.
    pub fields: Vec<Field>,
    /// The names of an enum's variants.
    pub variants: Vec<String>,
    /// Where it stands, without attributes.
    pub place: SourceRange,
    /// Where `#[derive(..)]` can be inserted.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test looks at it"))]
    pub insert_at: usize,
    /// Who can name it.
    pub vis: syn::Visibility,
}

/// A trait.
#[derive(Debug, Clone)]
pub struct TraitItem {
    /// Its number.
    pub id: TraitId,
    /// Its name.
    pub name: String,
    /// The scope that it is declared in.
    pub scope: ScopeId,
    /// The traits that it requires.
    pub supertraits: Vec<syn::Path>,
    /// All its methods, with a body or without.
    pub methods: HashMap<String, syn::Signature>,
    /// Those with a body.
    pub defaults: Vec<FnId>,
    /// Its declaration without the functions' bodies.
    pub declaration: syn::ItemTrait,
    /// Where it stands, without attributes.
    pub place: SourceRange,
}

/// An `impl`.
#[derive(Debug, Clone)]
pub struct ImplItem {
    /// The scope that it is declared in.
    pub scope: ScopeId,
    /// Its file.
    pub file: FileId,
    /// The trait.
    pub of_trait: Option<syn::Path>,
    /// The type.
    pub self_type: syn::Type,
    /// Its parameters.
    pub generics: syn::Generics,
    /// Its functions.
    pub functions: Vec<FnId>,
    /// Its associated types.
    pub types: HashMap<String, syn::Type>,
}

/// A constant.
#[derive(Debug, Clone)]
pub struct ConstItem {
    /// Its number.
    pub id: ConstId,
    /// Its name.
    pub name: String,
    /// The last segment of the type or trait that it is associated with.
    pub owner: Option<String>,
    /// The scope that it is declared in.
    pub scope: ScopeId,
    /// Its file.
    pub file: FileId,
    /// Its type.
    pub ty: syn::Type,
    /// Its value.
    pub value: Option<syn::Expr>,
}

/// `type A = B;`
#[derive(Debug, Clone)]
pub struct AliasItem {
    /// The scope that it is declared in.
    pub scope: ScopeId,
    /// Its parameters.
    pub generics: syn::Generics,
    /// What it stands for.
    pub ty: syn::Type,
}

/// What kind of global state it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlobalKind {
    /// `static`.
    Static,
    /// `static mut`.
    StaticMut,
    /// `thread_local!`.
    ThreadLocal,
    /// `lazy_static!`.
    LazyStatic,
}

/// Global state.
#[derive(Debug, Clone)]
pub struct GlobalItem {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: GlobalKind,
    /// The scope that it is declared in.
    pub scope: ScopeId,
    /// Its type.
    pub ty: syn::Type,
    /// Its initial value.
    pub value: Option<syn::Expr>,
    /// Where it stands.
    pub place: SourceRange,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Def {
    /// A module, or the root of a crate.
    Module(ScopeId),
    /// A type.
    Type(TypeId),
    /// A type alias.
    Alias(AliasId),
    /// A trait.
    Trait(TraitId),
    /// A function.
    Function(FnId),
    /// A constant.
    Const(ConstId),
    /// A static or thread-local.
    Global(GlobalId),
    /// A variant of an enum.
    Variant(TypeId),
}

/// A module, or a block that declares items.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The crate.
    pub krate: usize,
    /// The module or block around it.
    pub parent: Option<ScopeId>,
    /// Whether it is a block, which sees all that its parent sees.
    pub is_block: bool,
    /// The path of the module, from the crate's root.
    pub path: Vec<String>,
    /// What it declares.
    pub names: HashMap<String, Vec<Def>>,
    /// What it imports, by the name it has here.
    pub uses: HashMap<String, Vec<Vec<String>>>,
    /// What it imports wholesale.
    pub globs: Vec<Vec<String>>,
    /// Of a module, who can name it, and where it is declared.
    pub declared: Option<(syn::Visibility, SourceRange)>,
}

/// The name of the function that a program begins with.
pub const MAIN: &str = "main";

impl Items {
    /// The function.
    pub fn function(&self, id: FnId) -> &Function {
        &self.functions[id.0]
    }

    /// The innermost function around a place.
    pub fn function_around(&self, place: Position) -> Option<&Function> {
        let around = self.functions.iter();
        let around = around.filter(|one| one.place.file == place.0 && one.place.bytes.contains(&place.1));
        around.min_by_key(|one| one.place.bytes.len())
    }

    /// The scope of a number handed out by this collection.
    pub fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0]
    }

    /// The innermost module around a scope.
    pub fn module_of(&self, mut scope: ScopeId) -> ScopeId {
        while self.scope(scope).is_block
            && let Some(parent) = self.scope(scope).parent
        {
            scope = parent;
        }
        scope
    }

    /// All functions; those of a file that several crates include are there once.
    pub(crate) fn once_each(&self) -> impl Iterator<Item = &Function> {
        let mut seen = HashSet::new();
        let place = |one: &Function| (one.place.file, one.place.bytes.start);
        self.functions.iter().filter(move |one| seen.insert(place(one)))
    }

    /// The `main` in the root module of a crate; of the first, one that it imports will do.
    pub fn main_of(&self, krate: usize) -> Option<FnId> {
        let root = self.scope(*self.roots.get(krate)?);
        let declared = root.names.get(MAIN).into_iter().flatten();
        let mut declared = declared.filter_map(|def| match def {
            Def::Function(id) => Some(*id),
            _ => None,
        });
        declared
            .next()
            .or_else(|| self.imported_main.filter(|_| krate == 0))
    }
}
