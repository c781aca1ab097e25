//! The places of sources where something is decided by a text: what is compared with it, searched for it, or matched.

use crate::sources::SourceFile;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use syn::visit::{self, Visit};

/// A text that decides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decides {
    /// The file, from the folder of all crates.
    pub file: PathBuf,
    /// The line in it.
    pub line: usize,
    /// The text.
    pub text: String,
}

impl fmt::Display for Decides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {:?}", self.file.display(), self.line, self.text)
    }
}

/// Methods that look for a text in another one, or compare them.
const LOOKS: [&str; 29] = [
    "cmp",
    "contains",
    "contains_key",
    "ends_with",
    "eq",
    "eq_ignore_ascii_case",
    "find",
    "is_ident",
    "match_indices",
    "matches",
    "ne",
    "rfind",
    "rmatch_indices",
    "rmatches",
    "rsplit",
    "rsplit_once",
    "rsplit_terminator",
    "rsplitn",
    "split",
    "split_inclusive",
    "split_once",
    "split_terminator",
    "splitn",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
    "trim_end_matches",
    "trim_matches",
    "trim_start_matches",
];

/// The texts that decide something in a file: wherever they stand in a comparison, a pattern or the arguments of a method that
/// looks for them, on as many lines as that has, or in the `let`, `const` or `static` of the same function whose name stands there. A name that
/// comes from elsewhere (a parameter, a constant of the module, a closure) is not followed.
pub fn decides(file: &SourceFile) -> BTreeSet<Decides> {
    let mut finder = Finder {
        file,
        found: BTreeSet::new(),
        named: BTreeMap::new(),
    };
    finder.visit_file(&file.parsed);
    finder.found
}

struct Finder<'s> {
    file: &'s SourceFile,
    found: BTreeSet<Decides>,
    /// What is written in the `let`, `const` and `static` of each name that have gone by.
    named: BTreeMap<String, Vec<syn::Expr>>,
}

impl Finder<'_> {
    fn found(&mut self, text: String, line: usize) {
        self.found.insert(Decides {
            file: self.file.path.clone(),
            line,
            text,
        });
    }

    fn name(&mut self, name: &syn::Ident, written: &syn::Expr) {
        let all = self.named.entry(name.to_string()).or_default();
        all.push(written.clone());
    }

    fn constant(&mut self, item: &syn::Item) {
        match item {
            syn::Item::Const(one) => self.name(&one.ident, &one.expr),
            syn::Item::Static(one) => self.name(&one.ident, &one.expr),
            _ => {}
        }
    }

    fn literal(&mut self, literal: &syn::Lit) {
        let line = literal.span().start().line;
        match literal {
            syn::Lit::Str(text) => self.found(text.value(), line),
            syn::Lit::ByteStr(text) => {
                self.found(String::from_utf8_lossy(&text.value()).into_owned(), line);
            }
            syn::Lit::Char(letter) => self.found(letter.value().to_string(), line),
            _ => {}
        }
    }

    /// All texts in an operand: `"x"`, `&["x", "y"]`, `if a { "x" } else { "y" }`.
    fn operand(&mut self, expr: &syn::Expr) {
        match expr {
            syn::Expr::Lit(one) => self.literal(&one.lit),
            syn::Expr::Reference(one) => self.operand(&one.expr),
            syn::Expr::Paren(one) => self.operand(&one.expr),
            syn::Expr::Group(one) => self.operand(&one.expr),
            syn::Expr::Unary(one) => self.operand(&one.expr),
            syn::Expr::Array(one) => one.elems.iter().for_each(|one| self.operand(one)),
            syn::Expr::Tuple(one) => one.elems.iter().for_each(|one| self.operand(one)),
            // `Some("x")`
            syn::Expr::Call(one) => one.args.iter().for_each(|one| self.operand(one)),
            syn::Expr::Index(one) => self.operand(&one.expr),
            // `words.iter()`, `words.as_str()`
            syn::Expr::MethodCall(one) if one.args.is_empty() => self.operand(&one.receiver),
            // `a.replace("x", "") == a`
            syn::Expr::MethodCall(one) if one.method == "replace" || one.method == "replacen" => {
                one.args.iter().take(1).for_each(|one| self.operand(one));
            }
            syn::Expr::Path(one) => {
                // What is found is no longer among the names: one that is written in terms of itself ends.
                let written = one.path.get_ident().and_then(|name| {
                    let name = name.to_string();
                    self.named.remove(&name).map(|written| (name, written))
                });
                if let Some((name, written)) = written {
                    written.iter().for_each(|one| self.operand(one));
                    self.named.insert(name, written);
                }
            }
            _ => {}
        }
    }

    /// `matches!(a, "x" | "y")`, `assert_eq!`, and macros of ckpt's own: what stands beside `==`, `|` or `=>`.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is = |at: Option<usize>, signs: &str| {
            let token = at.and_then(|at| tokens.get(at));
            matches!(token, Some(TokenTree::Punct(one)) if signs.contains(one.as_char()))
        };
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => {
                    let looks = at.checked_sub(1).and_then(|at| tokens.get(at));
                    if let Some(TokenTree::Ident(name)) = looks
                        && LOOKS.contains(&&*name.to_string())
                    {
                        self.texts(group.stream());
                    }
                    self.tokens(group.stream());
                }
                TokenTree::Literal(_) => {
                    let before = |back: usize, signs: &str| is(at.checked_sub(back), signs);
                    let compared = before(1, "=") && before(2, "=!") || before(1, "|");
                    let then = |on: usize, signs: &str| is(Some(at + on), signs);
                    let compares = then(1, "|") || then(1, "=!") && then(2, "=>");
                    if compared || compares {
                        self.texts(token.clone().into());
                    }
                }
                _ => {}
            }
        }
    }

    fn texts(&mut self, tokens: TokenStream) {
        for token in tokens {
            if matches!(token, TokenTree::Literal(_))
                && let Ok(literal) = syn::parse2::<syn::Lit>(token.into())
            {
                self.literal(&literal);
            }
        }
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_expr_binary(&mut self, one: &'a syn::ExprBinary) {
        if matches!(one.op, syn::BinOp::Eq(_) | syn::BinOp::Ne(_)) {
            self.operand(&one.left);
            self.operand(&one.right);
        }
        visit::visit_expr_binary(self, one);
    }
    fn visit_expr_method_call(&mut self, one: &'a syn::ExprMethodCall) {
        if LOOKS.contains(&&*one.method.to_string()) {
            self.operand(&one.receiver);
            one.args.iter().for_each(|one| self.operand(one));
        }
        // A table that is looked into; keys that are written here are those of somebody's file.
        if one.method == "get" {
            self.operand(&one.receiver);
        }
        visit::visit_expr_method_call(self, one);
    }
    fn visit_local(&mut self, one: &'a syn::Local) {
        let name = match &one.pat {
            syn::Pat::Type(typed) => &*typed.pat,
            pat => pat,
        };
        if let (syn::Pat::Ident(name), Some(init)) = (name, &one.init) {
            self.name(&name.ident, &init.expr);
        }
        visit::visit_local(self, one);
    }
    // Items of a body may be used above where they stand.
    fn visit_block(&mut self, one: &'a syn::Block) {
        for stmt in &one.stmts {
            if let syn::Stmt::Item(item) = stmt {
                self.constant(item);
            }
        }
        visit::visit_block(self, one);
    }
    fn visit_item_fn(&mut self, one: &'a syn::ItemFn) {
        let around = self.named.clone();
        visit::visit_item_fn(self, one);
        self.named = around;
    }
    fn visit_impl_item_fn(&mut self, one: &'a syn::ImplItemFn) {
        let around = self.named.clone();
        visit::visit_impl_item_fn(self, one);
        self.named = around;
    }
    fn visit_pat(&mut self, pat: &'a syn::Pat) {
        if let syn::Pat::Lit(one) = pat {
            self.literal(&one.lit);
        }
        visit::visit_pat(self, pat);
    }
    fn visit_macro(&mut self, one: &'a syn::Macro) {
        // `matches!(a, "x")`: a pattern alone.
        if one.path.is_ident("matches") {
            self.texts(one.tokens.clone());
        }
        self.tokens(one.tokens.clone());
    }
    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}
}
