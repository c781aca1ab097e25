//! The pages of the book that `cargo ckpt help` shows.

/// A page.
pub struct Topic {
    /// As it is asked for: the name of the page's file.
    pub name: &'static str,
    /// Markdown.
    pub page: &'static str,
}

impl Topic {
    /// The title of the page.
    pub fn about(&self) -> &str {
        let title = self.page.lines().find_map(|line| line.strip_prefix("# "));
        title.unwrap_or(self.name)
    }
}

macro_rules! topics {
    ($($name:literal)*) => {
        [$(Topic { name: $name, page: include_str!(concat!("../../../topics/", $name, ".md")) }),*]
    };
}

/// All pages, in the order of the book.
pub const TOPICS: [Topic; 34] = topics! {
    "introduction" "tutorial" "unmodified" "batch" "containers" "files" "runs" "serve" "limits" "troubleshooting" "mpi" "safe-points" "threads"
    "devices" "machines" "rollback" "soft-errors" "python" "by-hand" "libraries" "security" "how-it-works" "commands" "json"
    "configuration" "attributes" "values" "exit-codes" "messages" "format" "reach" "strangers" "performance" "comparison"
};
