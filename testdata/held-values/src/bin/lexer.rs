//! A calculator: a lexer that keeps a `Peekable<Chars>`, and a parser that keeps its tokens.

use std::iter::Peekable;
use std::str::{Chars, Lines, SplitWhitespace};
use std::vec::IntoIter;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Op(char),
    Open,
    Close,
}

struct Lexer<'a> {
    chars: Peekable<Chars<'a>>,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        Lexer { chars: text.chars().peekable(), line: 1 }
    }

    fn word(&mut self, wanted: fn(&char) -> bool) -> String {
        let mut word = String::new();
        while let Some(c) = self.chars.next_if(wanted) {
            word.push(c);
        }
        word
    }

    fn next_token(&mut self) -> Option<Token> {
        while let Some(c) = self.chars.next_if(|c| c.is_whitespace()) {
            self.line += usize::from(c == '\n');
        }
        let c = *self.chars.peek()?;
        if c.is_ascii_digit() {
            return self.word(|c| c.is_ascii_digit() || *c == '.').parse().ok().map(Token::Number);
        }
        if c.is_alphabetic() {
            return Some(Token::Name(self.word(|c| c.is_alphanumeric())));
        }
        self.chars.next();
        Some(match c {
            '(' => Token::Open,
            ')' => Token::Close,
            c => Token::Op(c),
        })
    }
}

struct Parser {
    tokens: Peekable<IntoIter<Token>>,
    atoms: usize,
}

impl Parser {
    fn atom(&mut self) -> f64 {
        self.atoms += 1;
        match self.tokens.next() {
            Some(Token::Number(n)) => n,
            Some(Token::Name(name)) => (0..200).fold(name.len() as f64, |x, _| (x + 1.0).sin()),
            Some(Token::Open) => {
                let value = self.sum();
                self.tokens.next();
                value
            }
            other => panic!("{other:?}"),
        }
    }

    fn product(&mut self) -> f64 {
        let mut value = self.atom();
        while self.tokens.peek() == Some(&Token::Op('*')) {
            self.tokens.next();
            value *= self.atom();
        }
        value
    }

    fn sum(&mut self) -> f64 {
        let mut value = self.product();
        while let Some(Token::Op('+')) = self.tokens.peek() {
            self.tokens.next();
            value += self.product();
        }
        value
    }
}

struct Words<'a> {
    lines: Lines<'a>,
    words: SplitWhitespace<'a>,
    count: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        loop {
            if let Some(word) = self.words.next() {
                self.count += 1;
                return Some(word);
            }
            self.words = self.lines.next()?.split_whitespace();
        }
    }
}

fn main() {
    let mut text = String::from("(x");
    for k in 0..400 {
        text.push_str(&format!(") +\n ({k}.5 * (näme{} + {k})", k % 7));
    }
    text.push(')');
    let mut lexer = Lexer::new(&text);
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next_token() {
        if lexer.line % 100 == 0 && token == Token::Close {
            println!("line {}: {} tokens", lexer.line, tokens.len());
        }
        tokens.push(token);
    }
    let mut parser = Parser { tokens: tokens.into_iter().peekable(), atoms: 0 };
    let mut value = 0.0;
    while parser.tokens.peek().is_some() {
        value += parser.product();
        if let Some(Token::Op('+')) = parser.tokens.peek() {
            parser.tokens.next();
        }
    }
    println!("{value:.9} of {} atoms", parser.atoms);
    let mut words = Words { lines: text.lines(), words: "".split_whitespace(), count: 0 };
    let mut hash = 7u64;
    while let Some(word) = words.next() {
        for byte in word.bytes().cycle().take(200) {
            hash = hash.wrapping_mul(31).wrapping_add(u64::from(byte));
        }
    }
    println!("{hash} of {} words", words.count);
}
