//! The functions of which `ckpt-compiler/tests/snapshots` keeps the expansions, as their users would compile them: no
//! warning and no `unsafe` may come out of the attributes.

#![deny(warnings)]
#![forbid(unsafe_code)]

#[path = "../../../ckpt-compiler/tests/snapshots/argument_by_value.rs"]
pub mod argument_by_value;
#[path = "../../../ckpt-compiler/tests/snapshots/branches.rs"]
pub mod branches;
#[path = "../../../ckpt-compiler/tests/snapshots/chosen_loop.rs"]
pub mod chosen_loop;
#[path = "../../../ckpt-compiler/tests/snapshots/exclusive_borrow.rs"]
pub mod exclusive_borrow;
#[path = "../../../ckpt-compiler/tests/snapshots/for_range.rs"]
pub mod for_range;
#[path = "../../../ckpt-compiler/tests/snapshots/for_slice.rs"]
pub mod for_slice;
#[path = "../../../ckpt-compiler/tests/snapshots/lent_field.rs"]
pub mod lent_field;
#[path = "../../../ckpt-compiler/tests/snapshots/loop_with_a_value.rs"]
pub mod loop_with_a_value;
#[path = "../../../ckpt-compiler/tests/snapshots/main_with_while.rs"]
pub mod main_with_while;
#[path = "../../../ckpt-compiler/tests/snapshots/marked_calls.rs"]
pub mod marked_calls;
#[path = "../../../ckpt-compiler/tests/snapshots/match_of_a_reference.rs"]
pub mod match_of_a_reference;
#[path = "../../../ckpt-compiler/tests/snapshots/match_of_a_value.rs"]
pub mod match_of_a_value;
#[path = "../../../ckpt-compiler/tests/snapshots/methods.rs"]
pub mod methods;
#[path = "../../../ckpt-compiler/tests/snapshots/nested_calls.rs"]
pub mod nested_calls;
#[path = "../../../ckpt-compiler/tests/snapshots/parallel_blocks.rs"]
pub mod parallel_blocks;
#[path = "../../../ckpt-compiler/tests/snapshots/shadowed.rs"]
pub mod shadowed;
#[path = "../../../ckpt-compiler/tests/snapshots/short_loops.rs"]
pub mod short_loops;
#[path = "../../../ckpt-compiler/tests/snapshots/travelling.rs"]
pub mod travelling;

#[cfg(test)]
mod tests {
    /// Whether every input of a snapshot is compiled here.
    #[test]
    fn every_snapshot_is_compiled() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ckpt-compiler/tests/snapshots");
        let entries = std::fs::read_dir(folder).expect("the folder of snapshots can be read");
        let names = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        let inputs = names.filter(|name| name.ends_with(".rs") && !name.ends_with(".expanded.rs"));
        let missing: Vec<String> = inputs
            .filter(|name| !include_str!("lib.rs").contains(&format!("/{name}\"")))
            .collect();
        assert_eq!(missing, [""; 0]);
    }
}
