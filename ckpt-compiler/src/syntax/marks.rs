//! Finds what makes a function interesting: `checkpoint!()` and the calls that lead to one.

use crate::library::segments;
use crate::library::{Library, last_name};
use crate::syntax::macros::arguments_of_macro;
use crate::syntax::region_marks::is_member;
use crate::visit::{self, Visit};
use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Block, Expr, ExprClosure, ExprConst, ExprRepeat, GenericArgument, Item, Macro, Path, Stmt, TypeArray,
};

/// What a site is to the ranks of a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SiteSort {
    /// All come to it equally often: `checkpoint!()`.
    #[default]
    Common,
    /// The same, in a loop of quick iterations: `checkpoint!(short)`.
    Short,
    /// In a loop without messages, which they go round unequally often: `checkpoint!(phase)`.
    Phase,
    /// Behind such a loop: `checkpoint!(phase_end)`.
    PhaseEnd,
}

impl SiteSort {
    /// The site as it is written.
    pub fn text(self) -> &'static str {
        match self {
            Self::Common => "ckpt::checkpoint!();",
            Self::Short => "ckpt::checkpoint!(short);",
            Self::Phase => "ckpt::checkpoint!(phase);",
            Self::PhaseEnd => "ckpt::checkpoint!(phase_end);",
        }
    }
}

/// Knows the sites of a function by sight.
#[derive(Debug, Clone, Copy)]
pub struct Marks<'a> {
    /// The calls that the user has marked.
    pub calls: &'a [Path],
    /// What calls mean.
    pub library: &'a Library,
}

impl Marks<'_> {
    /// Whether this is `checkpoint!()` or `ckpt::checkpoint!()`.
    pub fn is_checkpoint(mac: &Macro) -> bool {
        let names = segments(&mac.path);
        matches!(
            names.iter().map(String::as_str).collect::<Vec<_>>()[..],
            ["checkpoint"] | ["ckpt", "checkpoint"]
        )
    }

    /// Whether the user vouches that no message crosses the site: `checkpoint!(safe)`.
    pub fn is_vouched(mac: &Macro) -> bool {
        Self::is_checkpoint(mac) && mac.tokens.to_string() == "safe"
    }

    /// What a site is to the ranks of a program, by what stands in its parentheses; nothing where that is something else.
    pub fn sort(mac: &Macro) -> Option<SiteSort> {
        match mac.tokens.to_string().as_str() {
            "" | "safe" => Some(SiteSort::Common),
            "short" => Some(SiteSort::Short),
            "phase" => Some(SiteSort::Phase),
            "phase_end" => Some(SiteSort::PhaseEnd),
            _ => None,
        }
    }

    /// The name of the called function, when the call is marked.
    pub fn callee(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::MethodCall(call) => {
                let marked = |path: &&Path| call.method == last_name(path);
                self.calls.iter().find(marked).map(|_| call.method.to_string())
            }
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => self
                    .calls
                    .iter()
                    .find(|marked| is_suffix(marked, &path.path))
                    .and_then(|_| path.path.segments.last())
                    .map(|last| last.ident.to_string()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the expression holds a site that a lowering must take apart.
    pub fn in_expr(&self, expr: &Expr) -> bool {
        let mut finder = SiteFinder {
            marks: self,
            found: false,
            trapped: None,
            closures: 0,
        };
        finder.visit_expr(expr);
        finder.found
    }

    /// Whether the statement holds a site.
    pub fn in_stmt(&self, stmt: &Stmt) -> bool {
        let mut finder = SiteFinder {
            marks: self,
            found: false,
            trapped: None,
            closures: 0,
        };
        finder.visit_stmt(stmt);
        finder.found
    }

    /// Whether the block holds a site.
    pub fn in_block(&self, block: &Block) -> bool {
        block.stmts.iter().any(|stmt| self.in_stmt(stmt))
    }

    /// The first site that stands where none can: in a closure, an `async` block, or a macro of unknown meaning.
    pub fn trapped(&self, block: &Block) -> Option<Trapped> {
        let mut finder = SiteFinder {
            marks: self,
            found: false,
            trapped: None,
            closures: 0,
        };
        finder.visit_block(block);
        finder.trapped
    }

    /// Whether the tokens of a macro mention a checkpoint or a marked call.
    pub fn in_tokens(&self, tokens: &TokenStream) -> bool {
        let mut previous: Option<String> = None;
        for token in tokens.clone() {
            match token {
                TokenTree::Group(group) => {
                    let is_call = group.delimiter() == proc_macro2::Delimiter::Parenthesis;
                    let marked = |name: &String| self.calls.iter().any(|path| last_name(path) == *name);
                    if is_call && previous.as_ref().is_some_and(marked) || self.in_tokens(&group.stream()) {
                        return true;
                    }
                    previous = None;
                }
                TokenTree::Ident(ident) => previous = Some(ident.to_string()),
                TokenTree::Punct(punct) if punct.as_char() == '!' => {
                    if previous.as_deref() == Some("checkpoint") {
                        return true;
                    }
                    previous = None;
                }
                _ => previous = None,
            }
        }
        false
    }
}

fn is_suffix(marked: &Path, called: &Path) -> bool {
    let mut called = called.segments.iter().rev();
    marked
        .segments
        .iter()
        .rev()
        .all(|segment| called.next().is_some_and(|other| other.ident == segment.ident))
}

/// A site that cannot be reached by a walk.
#[derive(Debug)]
pub struct Trapped {
    /// The place.
    pub span: proc_macro2::Span,
    /// What holds it.
    pub holder: &'static str,
    /// What to write instead.
    pub instead: &'static str,
}

const OWN_FUNCTION: &str =
    "write the loop in the function's own body, or make what is inside a function and instrument that";

struct SiteFinder<'a> {
    marks: &'a Marks<'a>,
    found: bool,
    trapped: Option<Trapped>,
    closures: u32,
}

impl SiteFinder<'_> {
    fn found_at(&mut self, span: proc_macro2::Span) {
        if self.closures == 0 {
            self.found = true;
        } else {
            self.trapped.get_or_insert(Trapped {
                span,
                holder: "a closure",
                instead: OWN_FUNCTION,
            });
        }
    }

    /// What the compiler computes: no site can stand in it.
    fn constant(&mut self, expr: &Expr) {
        if self.marks.in_expr(expr) {
            self.in_constant(syn::spanned::Spanned::span(expr));
        }
    }

    fn in_constant(&mut self, span: proc_macro2::Span) {
        self.trapped.get_or_insert(Trapped {
            span,
            holder: "a constant",
            instead: OWN_FUNCTION,
        });
    }
}

impl<'ast> Visit<'ast> for SiteFinder<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if self.marks.callee(expr).is_some() {
            self.found_at(syn::spanned::Spanned::span(expr));
        }
        if let Expr::Async(block) = expr {
            if self.marks.in_block(&block.block) {
                let span = block.async_token.span;
                self.trapped.get_or_insert(Trapped {
                    span,
                    holder: "an `async` block",
                    instead: OWN_FUNCTION,
                });
            }
            return;
        }
        visit::visit_expr(self, expr);
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        if is_member(closure) {
            return;
        }
        self.closures += 1;
        visit::visit_expr_closure(self, closure);
        self.closures -= 1;
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        let span = mac
            .path
            .segments
            .last()
            .map_or_else(proc_macro2::Span::call_site, |last| last.ident.span());
        if Marks::is_checkpoint(mac) {
            self.found_at(span);
        } else if self.marks.in_tokens(&mac.tokens) {
            let Some(arguments) = arguments_of_macro(self.marks.library, mac) else {
                self.trapped.get_or_insert(Trapped {
                    span,
                    holder: "a macro that ckpt does not know",
                    instead: if (Marks {
                        calls: &[],
                        library: self.marks.library,
                    })
                    .in_tokens(&mac.tokens)
                    {
                        OWN_FUNCTION
                    } else {
                        "bind the call's result with `let` and use the variable in the macro"
                    },
                });
                return;
            };
            for argument in &arguments {
                match argument {
                    Expr::Assign(named) => self.visit_expr(&named.right),
                    argument => self.visit_expr(argument),
                }
            }
        }
    }

    fn visit_generic_argument(&mut self, argument: &'ast GenericArgument) {
        match argument {
            GenericArgument::Const(constant) => self.constant(constant),
            argument => visit::visit_generic_argument(self, argument),
        }
    }

    fn visit_type_array(&mut self, array: &'ast TypeArray) {
        self.visit_type(&array.elem);
        self.constant(&array.len);
    }

    fn visit_expr_repeat(&mut self, array: &'ast ExprRepeat) {
        self.visit_expr(&array.expr);
        self.constant(&array.len);
    }

    fn visit_expr_const(&mut self, block: &'ast ExprConst) {
        if self.marks.in_block(&block.block) {
            self.in_constant(block.const_token.span);
        }
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}
