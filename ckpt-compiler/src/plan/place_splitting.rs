//! Calls that borrow a part of a variable exclusively: which parts, and what the call sees of the rest.

use super::loans::operands;
use crate::cfg::{BindingId, Flow};
use crate::library::Library;
use crate::syntax::mentions::locals_in;
use crate::syntax::places::{Place, Projection};
use crate::syntax::purity::is_pure;
use quote::ToTokens;
use syn::{Expr, Member};

/// A part of a variable that an operand of a call uses.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// The operand's index; the receiver is 0.
    pub operand: usize,
    /// The way from the variable.
    pub path: Vec<Projection>,
    /// How many boxes are looked into at its end: `&mut *self.solver`. On the way it makes no difference.
    pub derefs: usize,
    /// Whether the call only looks at it.
    pub shared: bool,
    /// Whether it is the receiver of a method.
    pub is_receiver: bool,
}

/// How one variable is split up for a call.
#[derive(Debug, Clone)]
pub enum Splitting {
    /// Fields and elements of the variable itself.
    Parts {
        /// The variable.
        binding: BindingId,
        /// The parts used.
        leaves: Vec<Leaf>,
        /// Operands that look at the variable and are evaluated before.
        hoisted: Vec<usize>,
    },
    /// The halves of `split_at_mut`.
    Halves {
        /// The list.
        binding: BindingId,
        /// The references to its halves, in order, each with the parameter it is passed to.
        halves: Vec<(BindingId, Option<u32>)>,
    },
}

impl Splitting {
    /// The variable.
    pub fn binding(&self) -> BindingId {
        match self {
            Self::Parts { binding, .. } | Self::Halves { binding, .. } => *binding,
        }
    }
}

/// Splits a variable for a call; nothing where its parts cannot be distinguished.
pub fn split(
    library: &Library,
    flow: &Flow,
    call: &Expr,
    binding: BindingId,
    lent: Vec<Leaf>,
) -> Option<Splitting> {
    let mut leaves = lent;
    let mut hoisted = Vec::new();
    for (index, (operand, is_receiver)) in operands(call).into_iter().enumerate() {
        if leaves.iter().any(|leaf| leaf.operand == index) {
            continue;
        }
        let names = locals_in(&flow.locals, operand.to_token_stream());
        if !names.contains(flow.bindings[binding].local) {
            continue;
        }
        match operand {
            Expr::Reference(one) if one.mutability.is_none() => {
                let place = Place::of(&one.expr).filter(|place| place.is_pure(library))?;
                leaves.push(Leaf {
                    operand: index,
                    path: place.path,
                    derefs: place.derefs,
                    shared: true,
                    is_receiver,
                });
            }
            other if is_pure(library, other) && !is_receiver => hoisted.push(index),
            _ => return None,
        }
    }
    let paths: Vec<(&[Projection], bool)> = leaves.iter().map(|leaf| (&leaf.path[..], leaf.shared)).collect();
    can_be_told_apart(&paths, false).then_some(Splitting::Parts {
        binding,
        leaves,
        hoisted,
    })
}

/// Whether the places are disjoint as far as syntax tells: different fields, or one element of a list.
fn can_be_told_apart(paths: &[(&[Projection], bool)], below_index: bool) -> bool {
    if paths.iter().all(|(_, shared)| *shared) {
        return true;
    }
    match paths {
        [([], _)] => true,
        [([Projection::Index(_), rest @ ..], false)] => {
            !below_index && can_be_told_apart(&[(rest, false)], true)
        }
        _ => {
            let mut members: Vec<&Member> = Vec::new();
            for (path, _) in paths {
                let Some(Projection::Field(member)) = path.first() else {
                    return false;
                };
                if !members.contains(&member) {
                    members.push(member);
                }
            }
            members.into_iter().all(|member| {
                let below: Vec<_> = paths
                    .iter()
                    .filter(|(path, _)| matches!(&path[0], Projection::Field(other) if other == member))
                    .map(|(path, shared)| (&path[1..], *shared))
                    .collect();
                can_be_told_apart(&below, below_index)
            })
        }
    }
}
