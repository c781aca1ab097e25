//! The items as text, for `--stage items`.

use super::{FnKind, Items};
use std::fmt;

impl fmt::Display for FnKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Free => "function",
            Self::Nested => "inner function",
            Self::Inherent => "method",
            Self::TraitImpl => "trait method",
            Self::TraitDefault => "default method",
        })
    }
}

impl fmt::Display for Items {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for one in &self.functions {
            let (FileIndex(file), line) = (FileIndex(one.place.file.0), one.place.line);
            writeln!(f, "{} {} (file {file}, line {line})", one.kind, one.display)?;
        }
        for one in &self.types {
            let fields: Vec<_> = one.fields.iter().map(|field| field.name.as_str()).collect();
            writeln!(f, "{:?} {} {{ {} }}", one.kind, one.display, fields.join(", "))?;
        }
        for one in &self.globals {
            writeln!(f, "{:?} {} (line {})", one.kind, one.name, one.place.line)?;
        }
        Ok(())
    }
}

struct FileIndex(usize);
