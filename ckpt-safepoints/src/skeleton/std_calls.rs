//! What calls of the standard library are on the values that the machine distinguishes: kinds by sorts of values. The names
//! stand in `tables/std_values.toml`.

use super::family::Family;
use serde::Deserialize;
use std::sync::LazyLock;

static CALLS: LazyLock<StdCalls> = LazyLock::new(|| {
    toml::from_str(include_str!("../../tables/std_values.toml"))
        .unwrap_or_else(|error| panic!("std_values.toml: {error}"))
});

macro_rules! families {
    ($($(#[$of_family:meta])* $family:ident: $call:ident { $($kind:ident,)* })*) => {
        $(
            $(#[$of_family])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
            #[serde(rename_all = "snake_case")]
            pub(crate) enum $call {
                $($kind,)*
            }
        )*

        /// What a method is on each sort of value, if the standard library has one of its name there.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct StdMethod {
            $(pub(crate) $family: Option<$call>,)*
        }

        impl StdMethod {
            /// What the methods of this name are.
            pub fn named(name: &str) -> Self {
                Self {
                    $($family: CALLS.$family.get(name),)*
                }
            }
        }

        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct StdCalls {
            $($family: Family<$call>,)*
            functions: Family<FunctionCall>,
            plain_functions: Family<FunctionCall>,
            node_folders: Vec<String>,
        }
    };
}

families! {
    /// Methods of whole numbers.
    numbers: NumberCall {
        Least, Greatest, RemEuclid, DivEuclid, DivCeil, Power, Distance, IsMultiple, SaturatingSub, WrappingSub, CheckedSub, Add,
        CheckedAdd, Clamp, Absolute, Sign, IsPowerOfTwo, TrailingZeros, Ones, Logarithm, Root, NextPowerOfTwo, IsPositive,
        IsNegative, Itself, Convert,
    }
    /// Methods of floating-point numbers.
    floats: FloatCall {
        Root, Floor, Ceiling, Round, Absolute, Power, Least, Greatest, Itself,
    }
    /// Methods of `bool`.
    truths: TruthCall {
        ThenSome, Then,
    }
    /// Methods of `Option` and `Result`.
    options: OptionCall {
        Unwrap, UnwrapOrOther, UnwrapOr, UnwrapOrElse, IsGood, IsBad, Itself, Iterate, IterateExclusive, Exclusive, Option, Result,
        Alternative, Take, Map, AndThen, Filter, MapOr, MapOrElse, IsSomeAnd, IsNoneOr,
    }
    /// Methods of lists and iterators whose elements are distinguished.
    lists: ListCall {
        Iterate, IterateExclusive, Itself, Length, IsEmpty, Next, Append, TakeLast, Clear, Drain, Reverse, Skip, Take, StepBy,
        Enumerate, Flatten, Zip, Chain, Contains, Extend, Sum, Product, Least, Greatest,
    }
    /// Of those: what gives a part of the list, or all of it in parts.
    parts: PartCall {
        First, Last, Get, SplitFirst, SplitLast, SplitAt, Chunks, ChunksExact, Windows,
    }
    /// Of those: what sends every element through a closure.
    traversals: TraversalCall {
        Map, Filter, FlatMap, Any, All, Find,
    }
    /// Methods of ranges of numbers.
    ranges: RangeCall {
        Itself, Reverse, StepBy, Contains, Length, Map,
    }
    /// Methods of lists whose elements are not distinguished.
    summaries: SummaryCall {
        Iterate, IterateExclusive, Itself, Length, IsEmpty, Enumerate, Reverse, Shorten, Windows, Zip, Map, Fill, Copy, Permute,
        Change,
    }
    /// Methods of what is in another order on each rank.
    unordered: UnorderedCall {
        Measure, Contains, LookUp, Itself, Iterate, Traverse, Sort, Change,
    }
    /// Methods of any value for which the others do not tell.
    others: OtherCall {
        Itself, Place, Equal, Unequal, Length,
    }
}

/// Functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FunctionCall {
    NewList,
    Greatest,
    Least,
    Integer,
    Float,
    Convert,
    Swap,
    Replace,
    Drop,
    ParallelRegion,
    Thread,
}

/// What a function is, if it is one of the standard library's that are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StdFunction(pub(crate) Option<FunctionCall>);

impl StdFunction {
    /// What the function with this path is.
    pub fn of_path(path: &[String]) -> Self {
        let plain = match path {
            [only] => CALLS.plain_functions.get(only),
            _ => None,
        };
        Self(plain.or_else(|| CALLS.functions.at_end(path)))
    }
}

/// Whether what stands at this path is another on every process, or on every node.
pub(crate) fn is_of_node(path: &str) -> bool {
    CALLS.node_folders.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_kind_on_every_sort_of_value_that_has_it() {
        let take = StdMethod::named("take");
        assert_eq!(take.options, Some(OptionCall::Take));
        assert_eq!(take.lists, Some(ListCall::Take));
        assert_eq!(take.summaries, Some(SummaryCall::Shorten));
        assert_eq!(take.numbers, None);
        assert_eq!(StdMethod::named("frobnicate"), StdMethod::default());
    }

    #[test]
    fn a_function_is_known_by_the_end_of_its_path() {
        let of = |path: &str| {
            let path: Vec<_> = path.split("::").map(str::to_owned).collect();
            StdFunction::of_path(&path).0
        };
        assert_eq!(of("std::mem::swap"), Some(FunctionCall::Swap));
        assert_eq!(of("swap"), Some(FunctionCall::Swap));
        assert_eq!(of("Cell::swap"), None);
        assert_eq!(of("cmp::max"), Some(FunctionCall::Greatest));
        assert_eq!(of("Matrix::new"), None);
    }

    #[test]
    fn no_name_stands_twice_for_one_sort_of_value() {
        let table: toml::Table = include_str!("../../tables/std_values.toml").parse().unwrap();
        for (family, kinds) in table
            .iter()
            .filter_map(|(name, one)| Some((name, one.as_table()?)))
        {
            let mut names: Vec<_> = kinds
                .values()
                .flat_map(|names| names.as_array().unwrap())
                .map(|name| name.as_str().unwrap())
                .collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{family}");
        }
    }
}
