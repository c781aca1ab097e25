//! Whether anybody asks how many pointers to one value there are.

use crate::library::{Functions, Library, Types};
use crate::names::spelling;
use proc_macro2::{TokenStream, TokenTree};

/// What tokens say of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Owners {
    asked: bool,
    may_be_asked: bool,
    pointers: bool,
}

impl Owners {
    /// Of some tokens.
    pub fn of(library: &Library, tokens: &TokenStream) -> Self {
        let mut found = Self::default();
        found.look(library, tokens);
        found
    }

    /// Adds what other tokens say.
    pub fn add(&mut self, other: Self) {
        self.asked |= other.asked;
        self.may_be_asked |= other.may_be_asked;
        self.pointers |= other.pointers;
    }

    /// Whether anybody asks, where the tokens are all that there is.
    pub fn are_counted(self) -> bool {
        self.asked || self.may_be_asked && self.pointers
    }

    /// The same where the pointers may be named somewhere else.
    pub fn may_be_counted(self) -> bool {
        self.asked || self.may_be_asked
    }

    fn look(&mut self, library: &Library, tokens: &TokenStream) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.look(library, &group.stream()),
                TokenTree::Ident(ident) => {
                    let name = spelling(ident);
                    let by_path =
                        is_qualified(&tokens[..at]) && library.says(&name, Functions::CountOwnersByPath);
                    self.asked |= library.says(&name, Functions::CountsOwners);
                    self.may_be_asked |= by_path || library.says(&name, Functions::MayCountOwners);
                    self.pointers |= library.says(&name, Types::Counted);
                }
                _ => {}
            }
        }
    }
}

/// Whether the tokens end with `::`.
fn is_qualified(before: &[TokenTree]) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(one) if one.as_char() == ':');
    matches!(before, [.., one, other] if is_colon(one) && is_colon(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Owners {
        Owners::of(Library::builtin(), &text.parse().unwrap())
    }

    #[test]
    fn who_asks_is_found_in_every_form() {
        for text in [
            "Rc::strong_count(&a)",
            "a.weak_count()",
            "println!(\"{}\", Arc::strong_count(&a))",
            "Shared::<u8>::make_mut(&mut a)",
            "let a: Rc<u8>; <Rc<u8>>::get_mut(&mut a)",
            "list.into_iter().map(Arc::into_inner)",
            "weak.upgrade(); use std::rc::Weak;",
        ] {
            assert!(of(text).are_counted(), "{text}");
        }
        for text in [
            "let a = Rc::clone(&a); map.get_mut(&1); Rc::ptr_eq(&a, &b)",
            "cell.into_inner(); Arc::new(1)",
            "Mutex::into_inner(lock); engine.upgrade()",
        ] {
            assert!(!of(text).are_counted(), "{text}");
        }
        assert!(of("self.parent.upgrade()").may_be_counted());
    }
}
