//! The variables in scope where the next statement is written: their types, and what may be done with them there.

use std::collections::BTreeSet;

/// Type of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// `u64`
    Number,
    /// `bool`
    Flag,
    /// `String`
    Text,
    /// `Vec<u64>`
    List,
    /// `Option<u64>`
    Maybe,
    /// `[u64; 4]`
    Array,
    /// `BTreeMap<u64, u64>`
    Map,
    /// `(u64, String)`
    Pair,
    /// the enum `Kind`
    Kind,
    /// the struct `State`
    State,
    /// the guard `Loud`, whose destructor prints
    Guard,
    /// a closure from `u64` to `u64`
    Closure,
    /// `Option<File>`
    File,
    /// `Option<BufWriter<File>>`
    Buffer,
    /// `Option<BufReader<File>>`
    Reader,
}

impl Type {
    /// Types that hold a file open.
    pub const OPEN_FILES: [Type; 3] = [Type::File, Type::Buffer, Type::Reader];

    /// Whether a value is the same text whenever it is printed.
    pub fn can_be_printed(self) -> bool {
        self != Type::Closure && !Type::OPEN_FILES.contains(&self)
    }

    /// Types of ordinary values.
    pub const VALUES: [Type; 11] = [
        Type::Number,
        Type::Flag,
        Type::Text,
        Type::List,
        Type::Maybe,
        Type::Array,
        Type::Map,
        Type::Pair,
        Type::Kind,
        Type::State,
        Type::Guard,
    ];
}

/// How a variable holds its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// It owns it.
    Own,
    /// Through `&`.
    Shared,
    /// Through `&mut`.
    Exclusive,
}

/// A variable.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The type of its value.
    pub kind: Type,
    /// How it holds the value.
    pub hold: Hold,
    /// Declared with `mut`.
    pub mutable: bool,
    /// Loops around its declaration.
    loops: usize,
    /// Shared borrows of it that are still in scope.
    frozen: usize,
    /// A mutable borrow of it is still in scope.
    locked: bool,
    /// Its value is, or may be, gone.
    moved: bool,
    /// What it borrows: freed when it leaves its scope.
    borrows: Vec<(usize, bool)>,
}

/// All variables of a function, innermost last.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    variables: Vec<Variable>,
    /// Loops around the place where the next statement is written.
    pub loops: usize,
    /// Variables that the statement being written must not touch.
    pub avoided: BTreeSet<usize>,
}

impl Scope {
    /// A place to go back to with [`Scope::leave`].
    pub fn enter(&self) -> usize {
        self.variables.len()
    }

    /// Ends the scopes of all variables since `mark`.
    pub fn leave(&mut self, mark: usize) {
        for gone in self.variables.split_off(mark) {
            for (at, exclusive) in gone.borrows {
                if let Some(lender) = self.variables.get_mut(at) {
                    if exclusive {
                        lender.locked = false
                    } else {
                        lender.frozen -= 1
                    }
                }
            }
        }
    }

    /// Adds a variable.
    pub fn declare(&mut self, name: &str, kind: Type, hold: Hold, mutable: bool) -> usize {
        self.variables.push(Variable {
            name: name.to_string(),
            kind,
            hold,
            mutable,
            loops: self.loops,
            frozen: 0,
            locked: false,
            moved: false,
            borrows: Vec::new(),
        });
        self.variables.len() - 1
    }

    /// Says that `borrower` holds a borrow of `lender`, until its scope ends.
    pub fn borrow(&mut self, borrower: usize, lender: usize, exclusive: bool) {
        if exclusive {
            self.variables[lender].locked = true
        } else {
            self.variables[lender].frozen += 1
        }
        self.variables[borrower].borrows.push((lender, exclusive));
    }

    /// The variable of that index.
    pub fn get(&self, at: usize) -> &Variable {
        &self.variables[at]
    }

    /// Whether nothing holds a borrow of the variable of that name: it can be given another value.
    pub fn is_free(&self, name: &str) -> bool {
        let named = self.variables.iter().rev().find(|variable| variable.name == name);
        named.is_some_and(|variable| variable.frozen == 0 && !variable.locked)
    }

    /// Its value is gone.
    pub fn take(&mut self, at: usize) {
        self.variables[at].moved = true;
    }

    /// It has a value again.
    pub fn refill(&mut self, at: usize) {
        self.variables[at].moved = false;
    }

    /// Which variables are moved, to be put back before another branch is written.
    pub fn moves(&self) -> Vec<bool> {
        self.variables.iter().map(|variable| variable.moved).collect()
    }

    /// Puts back what [`Scope::moves`] gave.
    pub fn set_moves(&mut self, moves: &[bool]) {
        self.variables
            .iter_mut()
            .zip(moves)
            .for_each(|(variable, moved)| variable.moved = *moved);
    }

    /// After branches: moved in one is moved.
    pub fn join_moves(&mut self, moves: &[bool]) {
        self.variables
            .iter_mut()
            .zip(moves)
            .for_each(|(variable, moved)| variable.moved |= *moved);
    }

    fn visible(&self) -> impl Iterator<Item = (usize, &Variable)> {
        let hidden = |at: usize, name: &str| self.variables[at + 1..].iter().any(|later| later.name == name);
        self.variables
            .iter()
            .enumerate()
            .filter(move |(at, variable)| !hidden(*at, &variable.name) && !self.avoided.contains(at))
    }

    /// Variables whose value can be read.
    pub fn readable(&self, kind: Type) -> Vec<usize> {
        self.all_readable()
            .into_iter()
            .filter(|at| self.variables[*at].kind == kind)
            .collect()
    }

    /// Variables of all types whose value can be read.
    pub fn all_readable(&self) -> Vec<usize> {
        self.visible()
            .filter(|(_, v)| !v.moved && !v.locked)
            .map(|(at, _)| at)
            .collect()
    }

    /// Variables whose value can be changed.
    pub fn writable(&self, kind: Type) -> Vec<usize> {
        self.visible()
            .filter(|(_, v)| v.kind == kind && !v.moved && !v.locked && v.frozen == 0)
            .filter(|(_, v)| v.hold == Hold::Exclusive || (v.hold == Hold::Own && v.mutable))
            .map(|(at, _)| at)
            .collect()
    }

    /// Variables whose value can be moved out, here.
    pub fn movable(&self, kind: Type) -> Vec<usize> {
        self.visible()
            .filter(|(_, v)| v.kind == kind && v.hold == Hold::Own && !v.moved && !v.locked && v.frozen == 0)
            .filter(|(_, v)| v.loops == self.loops)
            .map(|(at, _)| at)
            .collect()
    }

    /// Variables whose value was moved out and can be given again.
    pub fn refillable(&self) -> Vec<usize> {
        self.visible()
            .filter(|(_, v)| v.moved && v.hold == Hold::Own && v.mutable && !v.locked && v.frozen == 0)
            .map(|(at, _)| at)
            .collect()
    }

    /// The variable as a place of its value's type.
    pub fn place(&self, at: usize) -> String {
        let variable = &self.variables[at];
        match variable.hold {
            Hold::Own => variable.name.clone(),
            Hold::Shared | Hold::Exclusive => format!("(*{})", variable.name),
        }
    }
}
