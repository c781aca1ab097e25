//! What the macros know about a function at compile time: its sites and the variables saved at each.
//! Generated code holds one static [`FunctionPlan`] per instrumented function; nothing here is computed at run time.

/// The plan of one instrumented function.
#[derive(Debug)]
pub struct FunctionPlan {
    /// The function's name, `"advance"`.
    pub function: &'static str,
    /// `module_path!()` of the function.
    pub module: &'static str,
    /// Source file, as `file!()` names it.
    pub file: &'static str,
    /// Line of the function.
    pub line: u32,
    /// Hash of the sites, their kinds and the variables saved at each.
    pub layout: u64,
    /// Hash of the function's tokens.
    pub source: u64,
    /// The attribute that instruments the function (`"ckpt::main"`, `"ckpt::instrument"`), for messages that tell what to write.
    pub attribute: &'static str,
    /// The sites in program order: `sites[i]` has the id `i + 1`.
    pub sites: &'static [SitePlan],
}

impl FunctionPlan {
    /// No function of the program, for what stands in none.
    pub(crate) const NOWHERE: FunctionPlan = FunctionPlan {
        function: "",
        module: "",
        file: "",
        line: 0,
        layout: 0,
        source: 0,
        attribute: "",
        sites: &[],
    };

    /// A function without sites, for tests.
    #[cfg(test)]
    pub(crate) const SAMPLE: FunctionPlan = FunctionPlan {
        function: "f",
        module: "m",
        file: "f.rs",
        line: 1,
        attribute: "ckpt::instrument",
        ..FunctionPlan::NOWHERE
    };
}

/// What stands at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteKind {
    /// A `checkpoint!()`, placed by hand or by the tool.
    Checkpoint,
    /// A checkpoint in the loop that the attribute has chosen by itself. It sees one function: whether messages between
    /// processes cross that place, it cannot know.
    Chosen,
    /// A checkpoint in a loop that exchanges no messages: each rank takes its own, however often it goes round.
    Phase,
    /// Behind such a loop, where the ranks wait for each other.
    PhaseEnd,
    /// A call to a function that holds a site or leads to one.
    Call {
        /// The called function as the source writes it.
        callee: &'static str,
    },
    /// A call of a function that a variable holds.
    CallOfHeld {
        /// The variable.
        callee: &'static str,
        /// The functions that it may hold.
        functions: &'static [&'static str],
    },
}

impl SiteKind {
    pub(crate) fn callee(self) -> Option<&'static str> {
        match self {
            SiteKind::Call { callee } | SiteKind::CallOfHeld { callee, .. } => Some(callee),
            SiteKind::Checkpoint | SiteKind::Chosen | SiteKind::Phase | SiteKind::PhaseEnd => None,
        }
    }
}

/// One site of a function.
#[derive(Debug)]
pub struct SitePlan {
    /// Source line.
    pub line: u32,
    /// Source column.
    pub column: u32,
    /// A checkpoint, or a call that leads to one.
    pub kind: SiteKind,
    /// The variables saved at this site.
    pub variables: &'static [VariablePlan],
}

/// One variable saved at a site.
#[derive(Debug)]
pub struct VariablePlan {
    /// The variable's name; `x#2` for a second live `x` of the same function.
    pub key: &'static str,
    /// Line of its declaration.
    pub line: u32,
    /// Whether it is a parameter that is saved only if the caller restores it.
    pub on_demand: bool,
}
