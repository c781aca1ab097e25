//! The number that stands for the text of a function, or for its sites and what is saved there. A checkpoint holds both,
//! and a program that another compiler has built on another machine must come to the same ones.

use crate::syntax::words::words;
use proc_macro2::TokenStream;

/// FNV-1a, 64 bit: the same on every machine and with every compiler, as the hashers of the standard library are not.
pub(super) struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    pub(super) fn value(&self) -> u64 {
        self.0
    }

    pub(super) fn write(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Tokens as [`words`] has them.
    pub(super) fn write_tokens(&mut self, tokens: &TokenStream) {
        words(tokens, &mut |word| self.write(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::{Delimiter, Group, TokenTree};

    fn of(source: &str) -> u64 {
        let mut fingerprint = Fingerprint::default();
        fingerprint.write_tokens(&source.parse().unwrap());
        fingerprint.value()
    }

    /// A number that was written down: another compiler, architecture or build of this crate comes to the same.
    #[test]
    fn the_fingerprint_of_a_text_is_the_same_everywhere() {
        assert_eq!(of("let x = a[0] + 1.5e3_f64; loop { step(&mut x)?; }"), GOLDEN);
        assert_ne!(of("let x = a[0] + 1.5e3_f64; loop { step(&mut x); }"), GOLDEN);
    }

    const GOLDEN: u64 = 0xd070_20bd_e679_17c6;

    #[test]
    fn how_a_compiler_prints_tokens_does_not_matter() {
        let plain = of("{ let x: Vec<f64> = a(b::c, [1; 2]); Some(x) }");
        assert_eq!(
            of("{let x:Vec < f64 >=a (b :: c,[1 ;2]) ;\n// why\nSome (x)}"),
            plain
        );
        assert_eq!(
            of("{ /// why\n let x: Vec<f64> = a(b::c, [1; 2]); Some(x) }"),
            plain
        );
        assert_eq!(
            of("{ #[doc = r\" why\"] let x: Vec<f64> = a(b::c, [1; 2]); Some(x) }"),
            plain
        );
        assert_ne!(
            of("{ #[cfg(a)] let x: Vec<f64> = a(b::c, [1; 2]); Some(x) }"),
            plain
        );
    }

    #[test]
    fn what_a_macro_was_given_counts_as_if_it_stood_there() {
        let inner: TokenStream = "a + 1".parse().unwrap();
        let mut fingerprint = Fingerprint::default();
        fingerprint.write_tokens(&TokenTree::from(Group::new(Delimiter::None, inner)).into());
        assert_eq!(fingerprint.value(), of("a + 1"));
    }
}
