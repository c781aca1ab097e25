//! `let mut input = BufReader::new(&file);`: what such a reader has read ahead cannot be given back to a file that is somebody
//! else's. Where the reader is all that the file is for, it may as well own it: `BufReader::new(file)`.

use crate::decisions::refill::initialiser;
use crate::items::Items;
use crate::source::locate::bytes;
use crate::source::{Position, Program};
use ckpt_compiler::library::{Library, Streams};
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, Pat, Stmt};

/// The `&` to be left out in the initialiser of the `let` at this place.
pub(super) fn borrow_of(
    library: &Library,
    program: &Program,
    items: &Items,
    place: Position,
) -> Option<Position> {
    let Expr::Call(call) = initialiser(program, place)? else {
        return None;
    };
    let Expr::Path(function) = &*call.func else {
        return None;
    };
    let makes_reader = library.key_of_path(&function.path) == Some(Streams::Reader);
    let (Some(Expr::Reference(lent)), true) = (call.args.last(), makes_reader) else {
        return None;
    };
    let (Expr::Path(name), None) = (&*lent.expr, lent.mutability) else {
        return None;
    };
    let name = name.path.get_ident()?;
    let function = items.function_around(place)?;
    let mut beside = Beside {
        program,
        name,
        place,
        found: false,
    };
    beside.visit_block(&function.written.block);
    // Where it is declared, and here.
    let is_all = mentions(function.written.to_token_stream(), &name.to_string()) == 2;
    (beside.found && is_all).then(|| (place.0, bytes(program, place.0, lent.and_token.span).start))
}

/// How often a name stands in tokens, also captured by a text.
pub(super) fn mentions(tokens: TokenStream, name: &str) -> usize {
    let of = |token| match token {
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Ident(ident) => usize::from(ident == name),
        TokenTree::Literal(text) => usize::from(text.to_string().contains(&format!("{{{name}"))),
        TokenTree::Punct(_) => 0,
    };
    tokens.into_iter().map(of).sum()
}

/// Looks for the block that declares the file by a `let`, and the reader behind it.
struct Beside<'a> {
    program: &'a Program,
    name: &'a syn::Ident,
    place: Position,
    found: bool,
}

impl<'ast> Visit<'ast> for Beside<'_> {
    fn visit_block(&mut self, block: &'ast syn::Block) {
        let is_file = |stmt: &&Stmt| {
            matches!(stmt, Stmt::Local(local)
                if matches!(&local.pat, Pat::Ident(of) if of.ident == *self.name && of.by_ref.is_none()))
        };
        let is_reader = |stmt: &Stmt| bytes(self.program, self.place.0, stmt.span()).start == self.place.1;
        self.found |= block.stmts.iter().any(|stmt| is_file(&stmt)) && block.stmts.iter().any(is_reader);
        visit::visit_block(self, block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    #[test]
    fn a_reader_may_own_what_nobody_else_uses() {
        let found = |body: &str| {
            let text = format!("fn main() {{ {body} }}");
            let program = Program::of_main(&text);
            let analysis = crate::analyse(&program);
            let place = (FileId(0), text.find("let mut r").unwrap());
            let at = borrow_of(&analysis.library, &program, &analysis.items, place)?;
            Some(text[at.1..].chars().take(2).collect::<String>())
        };
        let open = "let f = File::open(\"a\").unwrap();";
        assert_eq!(
            found(&format!("{open} let mut r = BufReader::new(&f); r.x();")).as_deref(),
            Some("&f")
        );
        assert_eq!(
            found(&format!("{open} let mut r = BufReader::new(&f); f.x();")),
            None
        );
        assert_eq!(
            found(&format!("{open} loop {{ let mut r = BufReader::new(&f); }}")),
            None
        );
        assert_eq!(found(&format!("{open} let mut r = Solver::new(&f);")), None);
        assert_eq!(
            found(&format!(
                "{open} let mut r = BufReader::new(&f); print!(\"{{f:?}}\");"
            )),
            None
        );
    }
}
