//! Iterators over text, as lexers keep them: stored as the text that is left, which is a text of its own after a restart.

use std::iter::{Enumerate, Peekable};
use std::str::{Bytes, CharIndices, Chars, Lines, SplitAsciiWhitespace, SplitWhitespace};

use super::text::lasting;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

/// An iterator and what `peekable` makes of it. `$left` makes a text of what the iterator still gives, from which `$make`
/// makes one that gives the same.
macro_rules! text_iterators {
    ($($type:ty, $left:path, |$text:ident| $make:expr;)*) => {$(
        text_iterators!(# $type, $left, |$text| $make);
        text_iterators!(# Peekable<$type>, $left, |$text| $make.peekable());
    )*};
    (# $type:ty, $left:path, |$text:ident| $make:expr) => {
        impl Checkpoint for $type {
            fn save(&self, to: &mut Encoder<'_>) {
                let left: String = $left(self.clone());
                left.save(to);
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                let $text = lasting(from.text()?);
                Ok($make)
            }
        }
    };
}

text_iterators! {
    Chars<'_>, Iterator::collect, |text| text.chars();
    Lines<'_>, lines, |text| text.lines();
    SplitWhitespace<'_>, words, |text| text.split_whitespace();
    SplitAsciiWhitespace<'_>, words, |text| text.split_ascii_whitespace();
}

/// Whatever a line ends with, this is what `lines` takes away.
fn lines<'a>(left: impl Iterator<Item = &'a str>) -> String {
    left.flat_map(|line| [line, "\r\n"]).collect()
}

fn words<'a>(left: impl Iterator<Item = &'a str>) -> String {
    left.flat_map(|word| [word, " "]).collect()
}

/// Iterators that give a number with each character: as many blanks are put before the text that is left.
macro_rules! numbered {
    ($($type:ty, |$text:ident| $make:expr;)*) => {$(
        numbered!(# $type, |$text| $make);
        numbered!(# Peekable<$type>, |$text| $make.peekable());
    )*};
    (# $type:ty, |$text:ident| $make:expr) => {
        impl Checkpoint for $type {
            fn save(&self, to: &mut Encoder<'_>) {
                // Behind the last character nobody asks for a number any more.
                let first = self.clone().next().map_or(0, |(number, _)| number);
                let left = self.clone().map(|(_, char)| char);
                let text: String = std::iter::repeat_n(' ', first).chain(left).collect();
                (first, text).save(to);
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                let (first, text) = <(usize, String)>::load(from)?;
                if first > text.len() {
                    return Err(LoadError::invalid(format_args!(
                        "a text of {} bytes is said to go on after {first}",
                        text.len()
                    )));
                }
                let $text = lasting(text);
                let mut iter = $make;
                if let Some(last) = first.checked_sub(1) {
                    iter.nth(last);
                }
                Ok(iter)
            }
        }
    };
}

numbered! {
    CharIndices<'_>, |text| text.char_indices();
    Enumerate<Chars<'_>>, |text| text.chars().enumerate();
}

macro_rules! bytes {
    ($($type:ty, |$text:ident| $make:expr;)*) => {$(
        impl Checkpoint for $type {
            fn save(&self, to: &mut Encoder<'_>) {
                match String::from_utf8(self.clone().collect()) {
                    Ok(text) => text.save(to),
                    Err(_) => to.fail(
                        "it goes over the bytes of a text, and has taken a part of a character; go over a `Vec` of bytes",
                    ),
                }
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                let $text = lasting(from.text()?);
                Ok($make)
            }
        }
    )*};
}

bytes! {
    Bytes<'_>, |text| text.bytes();
    Peekable<Bytes<'_>>, |text| text.bytes().peekable();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::{changed, encode, round_trip};

    const TEXT: &str = "let x\u{e4} = 1.5;\r\n\n  (y \r\r\n\u{1f600} z\n";

    /// Half used up in every way, with and without a look at what comes next.
    fn goes_on<I>(iter: I)
    where
        I: Checkpoint + Iterator + Clone,
        Peekable<I>: Checkpoint,
        I::Item: PartialEq + std::fmt::Debug,
    {
        let count = iter.clone().count();
        for taken in 0..=count + 1 {
            let mut left = iter.clone();
            left.by_ref().take(taken).for_each(drop);
            let again: Vec<_> = round_trip(&left).collect();
            assert_eq!(again, left.clone().collect::<Vec<_>>(), "after {taken}");
            let mut peeked = left.clone().peekable();
            assert!(round_trip(&peeked).eq(left.clone()));
            peeked.peek();
            assert!(round_trip(&peeked).eq(left.clone()));
            assert!(round_trip(&vec![left.clone(), iter.clone()])[0].clone().eq(left));
        }
    }

    #[test]
    fn what_is_left_of_a_text_is_saved() {
        goes_on(TEXT.chars());
        goes_on(TEXT.char_indices());
        goes_on(TEXT.chars().enumerate());
        goes_on(TEXT.lines());
        goes_on("a\r\nb\r".lines());
        goes_on("".lines());
        goes_on(TEXT.split_whitespace());
        goes_on(TEXT.split_ascii_whitespace());
        goes_on("plain text".bytes());
        let mut rest = TEXT.chars();
        rest.nth(4);
        assert_eq!(round_trip(&rest).as_str(), rest.as_str());
        let mut at = TEXT.char_indices();
        at.nth(9);
        assert_eq!(round_trip(&at).offset(), at.offset());
    }

    #[test]
    fn a_part_of_a_character_is_refused() {
        let mut bytes = "\u{e4}b".bytes();
        bytes.next();
        assert!(encode(&bytes).unwrap_err().why.contains("part of a character"));
        bytes.next();
        assert!(round_trip(&bytes).eq(*b"b"));
    }

    #[test]
    fn a_number_behind_the_text_is_an_error() {
        assert!(changed(&"ab".char_indices(), "0", &9_u64.to_le_bytes()).is_err());
    }
}
