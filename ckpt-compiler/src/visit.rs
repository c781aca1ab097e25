//! Walks over syn's trees, as `syn::visit` and `syn::visit_mut`, but compiled once and not for each visitor.
//!
//! A type that implements one of syn's traits brings some 180 functions with it. There are about 170 visitors in this crate
//! and in `ckpt-analysis`, and this crate is built with every program that uses ckpt.
//!
//! A visitor implements [`Visit`] or [`VisitMut`] for the nodes that it is there for; to go on below a node it calls the function
//! here that has the name of the method. What is not in the two lists below is walked through: a visitor that is to be there
//! for one more node adds its line.
//!
//! ```
//! use ckpt_compiler::visit::{self, Visit};
//!
//! struct Calls(usize);
//!
//! impl<'ast> Visit<'ast> for Calls {
//!     fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
//!         self.0 += 1;
//!         visit::visit_expr_call(self, call);
//!     }
//! }
//!
//! let mut calls = Calls(0);
//! calls.visit_expr(&syn::parse_str("f(g(1), 2)")?);
//! assert_eq!(calls.0, 2);
//! # Ok::<(), syn::Error>(())
//! ```

/// A visitor as one of no particular type: every type that implements [`Visit`].
pub trait AsVisit<'ast> {
    /// The visitor itself.
    fn as_visit(&mut self) -> &mut (dyn Visit<'ast> + '_);
}

impl<'ast, V: Visit<'ast>> AsVisit<'ast> for V {
    fn as_visit(&mut self) -> &mut (dyn Visit<'ast> + '_) {
        self
    }
}

/// A visitor as one of no particular type: every type that implements [`VisitMut`].
pub trait AsVisitMut {
    /// The visitor itself.
    fn as_visit_mut(&mut self) -> &mut (dyn VisitMut + '_);
}

impl<V: VisitMut> AsVisitMut for V {
    fn as_visit_mut(&mut self) -> &mut (dyn VisitMut + '_) {
        self
    }
}

/// What syn's walk is given, so that there is one for all visitors.
struct Walk<'v, V: ?Sized>(&'v mut V);

macro_rules! visit {
    ($($visit:ident: $Node:ident,)*) => {
        /// Looks at the nodes of a tree, as [`syn::visit::Visit`].
        pub trait Visit<'ast>: AsVisit<'ast> {
            $(
                /// Comes to such a node; goes on below it if no visitor says otherwise.
                fn $visit(&mut self, node: &'ast syn::$Node) {
                    $visit(self.as_visit(), node);
                }
            )*
        }

        impl<'ast> syn::visit::Visit<'ast> for Walk<'_, dyn Visit<'ast> + '_> {
            $(fn $visit(&mut self, node: &'ast syn::$Node) {
                self.0.$visit(node);
            })*
        }

        $(
            /// What stands below the node.
            pub fn $visit<'ast>(visitor: &mut (dyn Visit<'ast> + '_), node: &'ast syn::$Node) {
                syn::visit::$visit(&mut Walk(visitor), node);
            }
        )*
    };
}

macro_rules! visit_mut {
    ($($visit:ident: $Node:ident,)*) => {
        /// Changes the nodes of a tree, as [`syn::visit_mut::VisitMut`].
        pub trait VisitMut: AsVisitMut {
            $(
                /// Comes to such a node; goes on below it if no visitor says otherwise.
                fn $visit(&mut self, node: &mut syn::$Node) {
                    $visit(self.as_visit_mut(), node);
                }
            )*

            /// Comes to all attributes of a node.
            fn visit_attributes_mut(&mut self, attributes: &mut Vec<syn::Attribute>) {
                for attribute in attributes {
                    self.visit_attribute_mut(attribute);
                }
            }
        }

        impl syn::visit_mut::VisitMut for Walk<'_, dyn VisitMut + '_> {
            $(fn $visit(&mut self, node: &mut syn::$Node) {
                self.0.$visit(node);
            })*

            fn visit_attributes_mut(&mut self, attributes: &mut Vec<syn::Attribute>) {
                self.0.visit_attributes_mut(attributes);
            }
        }

        $(
            /// What stands below the node.
            pub fn $visit(visitor: &mut (dyn VisitMut + '_), node: &mut syn::$Node) {
                syn::visit_mut::$visit(&mut Walk(visitor), node);
            }
        )*
    };
}

visit! {
    visit_arm: Arm,
    visit_block: Block,
    visit_expr: Expr,
    visit_expr_assign: ExprAssign,
    visit_expr_async: ExprAsync,
    visit_expr_await: ExprAwait,
    visit_expr_binary: ExprBinary,
    visit_expr_call: ExprCall,
    visit_expr_closure: ExprClosure,
    visit_expr_const: ExprConst,
    visit_expr_for_loop: ExprForLoop,
    visit_expr_if: ExprIf,
    visit_expr_index: ExprIndex,
    visit_expr_let: ExprLet,
    visit_expr_lit: ExprLit,
    visit_expr_macro: ExprMacro,
    visit_expr_match: ExprMatch,
    visit_expr_method_call: ExprMethodCall,
    visit_expr_path: ExprPath,
    visit_expr_raw_addr: ExprRawAddr,
    visit_expr_reference: ExprReference,
    visit_expr_repeat: ExprRepeat,
    visit_expr_return: ExprReturn,
    visit_expr_struct: ExprStruct,
    visit_expr_unsafe: ExprUnsafe,
    visit_expr_while: ExprWhile,
    visit_file: File,
    visit_fn_arg: FnArg,
    visit_generic_argument: GenericArgument,
    visit_ident: Ident,
    visit_impl_item_fn: ImplItemFn,
    visit_item: Item,
    visit_item_enum: ItemEnum,
    visit_item_fn: ItemFn,
    visit_item_impl: ItemImpl,
    visit_item_macro: ItemMacro,
    visit_item_mod: ItemMod,
    visit_item_static: ItemStatic,
    visit_item_struct: ItemStruct,
    visit_item_trait: ItemTrait,
    visit_item_type: ItemType,
    visit_item_union: ItemUnion,
    visit_item_use: ItemUse,
    visit_lifetime: Lifetime,
    visit_local: Local,
    visit_macro: Macro,
    visit_pat: Pat,
    visit_pat_ident: PatIdent,
    visit_pat_or: PatOr,
    visit_pat_reference: PatReference,
    visit_pat_struct: PatStruct,
    visit_pat_tuple_struct: PatTupleStruct,
    visit_pat_type: PatType,
    visit_path: Path,
    visit_path_segment: PathSegment,
    visit_receiver: Receiver,
    visit_signature: Signature,
    visit_stmt: Stmt,
    visit_trait_item_fn: TraitItemFn,
    visit_trait_item_type: TraitItemType,
    visit_type: Type,
    visit_type_array: TypeArray,
    visit_type_bare_fn: TypeBareFn,
    visit_type_param: TypeParam,
    visit_type_path: TypePath,
    visit_type_ptr: TypePtr,
    visit_type_reference: TypeReference,
    visit_type_trait_object: TypeTraitObject,
    visit_use_path: UsePath,
    visit_use_rename: UseRename,
}

visit_mut! {
    visit_arm_mut: Arm,
    visit_attribute_mut: Attribute,
    visit_block_mut: Block,
    visit_expr_async_mut: ExprAsync,
    visit_expr_binary_mut: ExprBinary,
    visit_expr_call_mut: ExprCall,
    visit_expr_closure_mut: ExprClosure,
    visit_expr_for_loop_mut: ExprForLoop,
    visit_expr_if_mut: ExprIf,
    visit_expr_let_mut: ExprLet,
    visit_expr_method_call_mut: ExprMethodCall,
    visit_expr_mut: Expr,
    visit_expr_paren_mut: ExprParen,
    visit_expr_path_mut: ExprPath,
    visit_expr_while_mut: ExprWhile,
    visit_field_pat_mut: FieldPat,
    visit_field_value_mut: FieldValue,
    visit_file_mut: File,
    visit_fn_arg_mut: FnArg,
    visit_generic_argument_mut: GenericArgument,
    visit_impl_item_fn_mut: ImplItemFn,
    visit_item_const_mut: ItemConst,
    visit_item_fn_mut: ItemFn,
    visit_item_mut: Item,
    visit_item_struct_mut: ItemStruct,
    visit_local_mut: Local,
    visit_macro_mut: Macro,
    visit_pat_ident_mut: PatIdent,
    visit_pat_mut: Pat,
    visit_pat_reference_mut: PatReference,
    visit_stmt_mut: Stmt,
    visit_trait_item_fn_mut: TraitItemFn,
    visit_type_mut: Type,
}
