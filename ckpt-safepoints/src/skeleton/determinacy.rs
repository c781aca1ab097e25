//! Whether the result of a call follows from its arguments: not so addresses, clocks, and what files hold at a moment.

use std::rc::Rc;

/// Whether what comes of a region depends on nothing but what it looks at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Determinacy {
    /// It is a matter of time, of the process, or not known.
    #[default]
    Never,
    /// Of files besides, which are the same for all ranks as long as none goes ahead of the others.
    BeforeMessages,
    Always,
}

/// How far what comes of a method of another crate hangs on more than its receiver and arguments.
pub(crate) fn method_determinacy(method: &str) -> Determinacy {
    const OF_PROCESS: [&str; 7] = [
        "as_ptr",
        "as_mut_ptr",
        "as_ptr_range",
        "as_mut_ptr_range",
        "addr",
        "expose_provenance",
        "elapsed",
    ];
    const FILES: [&str; 10] = [
        "exists",
        "try_exists",
        "is_file",
        "is_dir",
        "metadata",
        "symlink_metadata",
        "modified",
        "read_dir",
        "read_link",
        "canonicalize",
    ];
    if OF_PROCESS.contains(&method) || in_any_order(method) {
        Determinacy::Never
    } else if FILES.contains(&method) {
        Determinacy::BeforeMessages
    } else {
        Determinacy::Always
    }
}

/// Threads go through the elements in an order of their own: sums differ in their last digits.
fn in_any_order(method: &str) -> bool {
    method.starts_with("par_") || method.contains("_par_")
}

/// Whether what a function returns depends on nothing but its arguments, or is the same on all ranks: the command line
/// and the files under the same name are taken to be.
pub(crate) fn function_determinacy(path: &[Rc<str>]) -> Determinacy {
    if looks_at_files(path) {
        Determinacy::BeforeMessages
    } else if is_determined_function(path) {
        Determinacy::Always
    } else {
        Determinacy::Never
    }
}

/// Whether it asks for a file, which may be written by then or not.
fn looks_at_files(path: &[Rc<str>]) -> bool {
    let mut names = path.iter().rev().map(|name| &**name);
    match (names.next(), names.next()) {
        (Some("open"), owner) => owner == Some("File"),
        (Some("read_to_string" | "read" | "exists" | "metadata"), owner) => owner == Some("fs"),
        _ => false,
    }
}

fn is_determined_function(path: &[Rc<str>]) -> bool {
    let names: Vec<&str> = path.iter().map(|name| &**name).collect();
    let last = names.last().copied().unwrap_or("");
    let owner = names.iter().rev().nth(1).copied().unwrap_or("");
    match last {
        "args" => owner == "env" || owner == "std" || names.len() == 1,
        "parse" => names.len() == 2,
        "from" | "from_str" | "from_str_radix" | "from_utf8" | "from_secs" | "from_millis"
        | "from_secs_f64" | "seed_from_u64" | "from_seed" => !matches!(owner, "Cell" | "RefCell" | "Mutex"),
        "from_iter" => matches!(owner, "HashMap" | "HashSet"),
        // What may change behind a shared reference is not among them.
        "new" | "with_capacity" => matches!(
            owner,
            "Vec"
                | "String"
                | "Box"
                | "Rc"
                | "Arc"
                | "BTreeMap"
                | "BTreeSet"
                | "VecDeque"
                | "BinaryHeap"
                | "HashMap"
                | "HashSet"
                | "BufReader"
                | "Path"
                | "PathBuf"
        ),
        "max" | "min" | "sqrt" | "abs" | "powi" | "powf" | "exp" | "ln" | "sin" | "cos" | "floor"
        | "ceil" | "round" | "try_from" | "size_of" => true,
        _ => false,
    }
}
