//! `#[ckpt(..)]` inside of statements that stay as they are: no site is in them, so it says nothing, but rustc knows no such
//! attribute.

use crate::diagnostics::Diagnostics;
use crate::parse::options::take_treatment;
use crate::visit::VisitMut;
use syn::{Attribute, Item, Stmt};

/// Takes them off; what is no attribute of ckpt's is told.
pub(super) fn take_inner_attributes(stmt: &mut Stmt, errors: &mut Diagnostics) {
    Inner { errors }.visit_stmt_mut(stmt);
}

struct Inner<'a> {
    errors: &'a mut Diagnostics,
}

impl VisitMut for Inner<'_> {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        if let Err(unread) = take_treatment(attributes) {
            self.errors.unread(unread);
        }
    }

    /// The fields of a type have attributes of their own.
    fn visit_item_mut(&mut self, _: &mut Item) {}
}
