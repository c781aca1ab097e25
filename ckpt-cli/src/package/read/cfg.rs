//! What `#[cfg(..)]` means in one package: the flags that rustc sets for the target and profile, those of `RUSTFLAGS`,
//! and the package's features. Never `test`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, Lit, LitBool, LitStr, Token};

use crate::failure::{Failure, OrFail, Outcome, says};
use crate::package::read::settings::{Profile, Settings};

/// The flags that hold, by name and value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    flags: BTreeSet<(String, Option<String>)>,
}

/// What the compiler says about itself and the program's target.
#[derive(Debug, Clone)]
pub struct Compiler {
    /// The target, such as `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// Where rustc is and what it was asked with.
    rustc: PathBuf,
    arguments: Vec<String>,
    /// What holds before anything is said about profile and flags.
    bare: Configuration,
}

impl Compiler {
    /// Asks rustc about the target that cargo would build for.
    pub fn ask(settings: &Settings) -> Outcome<Self> {
        let given = settings.build_target();
        let mut arguments: Vec<String> = vec!["--print".into(), "cfg".into()];
        if let Some(target) = &given {
            arguments.extend(["--target".into(), target.clone()]);
        } else {
            arguments.splice(0..0, ["--print".into(), "host-tuple".into()]);
        }
        let rustc = settings.rustc();
        let printed = query(&rustc, &arguments)?;
        let (target, flags) = match given {
            Some(target) => (target_name(&target), printed.as_str()),
            None => {
                let (host, flags) = printed.split_once('\n').unwrap_or((&printed, ""));
                arguments.drain(..2);
                (host.trim().to_owned(), flags)
            }
        };
        Ok(Compiler {
            target,
            rustc,
            arguments,
            bare: Configuration::printed(flags),
        })
    }

    /// What holds in every package under a profile.
    pub fn configuration(&self, settings: &Settings, profile: &Profile) -> Outcome<Configuration> {
        let rustflags = settings.rustflags(&self.target, &self.bare);
        if rustflags.is_empty() {
            let mut found = self.bare.clone();
            found.set_debug_assertions(profile.debug_assertions);
            if let Some(panic) = &profile.panic {
                found.flags.retain(|(name, _)| name != "panic");
                found.flags.insert(("panic".into(), Some(panic.clone())));
            }
            return Ok(found);
        }
        // Flags can turn what the profile says, so both are given, in cargo's order.
        let mut arguments = self.arguments.clone();
        let switch = if profile.debug_assertions { "on" } else { "off" };
        arguments.extend(["-C".into(), format!("debug-assertions={switch}")]);
        arguments.extend(
            profile
                .panic
                .iter()
                .flat_map(|panic| ["-C".into(), format!("panic={panic}")]),
        );
        arguments.extend(rustflags);
        Ok(Configuration::printed(&query(&self.rustc, &arguments)?))
    }
}

/// The name of a target that may be given as a specification file.
fn target_name(target: &str) -> String {
    match target.strip_suffix(".json") {
        Some(path) => Path::new(path)
            .file_name()
            .map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned()),
        None => target.to_owned(),
    }
}

fn query(rustc: &Path, arguments: &[String]) -> Outcome<String> {
    let output = Command::new(rustc).args(arguments).output().or_fail(|| {
        Failure::start(says!("E3020: cannot start `{}`", rustc.display()))
            .help("`cargo ckpt doctor` says what is missing")
    })?;
    if !output.status.success() {
        return Err(Failure::build(says!(
            "E3060: rustc does not take the target or the flags of this package"
        ))
        .because(String::from_utf8_lossy(&output.stderr).trim_end())
        .help("correct `--target`, or the target or the flags in `.cargo/config.toml` and the environment; `rustc --print target-list` has the targets"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

impl Configuration {
    /// As `rustc --print cfg` writes it: `unix`, `target_os="linux"`, one a line.
    pub fn printed(text: &str) -> Self {
        let flag = |line: &str| match line.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.trim_matches('"').to_owned())),
            None => (line.to_owned(), None),
        };
        let mut flags: BTreeSet<_> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(flag)
            .collect();
        flags.remove(&("test".to_owned(), None));
        Configuration { flags }
    }

    /// These flags and the features of a package.
    pub fn with_features<'f>(&self, features: impl IntoIterator<Item = &'f str>) -> Self {
        let mut all = self.clone();
        let feature = |name: &str| ("feature".to_owned(), Some(name.to_owned()));
        all.flags.extend(features.into_iter().map(feature));
        all
    }

    /// Whether `debug_assertions` holds.
    pub fn set_debug_assertions(&mut self, on: bool) {
        let flag = ("debug_assertions".to_owned(), None);
        if on {
            self.flags.insert(flag);
        } else {
            self.flags.remove(&flag);
        }
    }

    /// Adds flags as build scripts print them.
    pub fn with_flags<'f>(&self, lines: impl IntoIterator<Item = &'f str>) -> Self {
        let mut all = self.clone();
        for line in lines {
            all.flags.extend(Self::printed(line).flags);
        }
        all
    }

    /// Whether what stands in the parentheses of `cfg(..)` holds. What this cannot read (predicates that are not
    /// stable) counts as holding, so that nothing is overlooked.
    pub fn holds(&self, predicate: &TokenStream) -> bool {
        self.known(predicate).unwrap_or(true)
    }

    /// Whether what stands in the parentheses of `cfg(..)` holds, if this can read it.
    pub fn known(&self, predicate: &TokenStream) -> Option<bool> {
        let whole = |input: ParseStream<'_>| {
            let held = self.predicate(input)?;
            input.parse::<Option<Token![,]>>()?;
            Ok(held)
        };
        whole.parse2(predicate.clone()).ok()
    }

    /// Reads one predicate and says whether it holds.
    pub fn predicate(&self, input: ParseStream<'_>) -> syn::Result<bool> {
        if input.peek(LitBool) {
            return Ok(input.parse::<LitBool>()?.value);
        }
        let name = input.call(Ident::parse_any)?.unraw().to_string();
        if input.peek(syn::token::Paren) {
            let inside;
            syn::parenthesized!(inside in input);
            let mut parts = Vec::new();
            while !inside.is_empty() {
                parts.push(self.predicate(&inside)?);
                inside.parse::<Option<Token![,]>>()?;
            }
            return match (name.as_str(), parts.as_slice()) {
                ("all", parts) => Ok(parts.iter().all(|held| *held)),
                ("any", parts) => Ok(parts.iter().any(|held| *held)),
                ("not", [part]) => Ok(!part),
                _ => Err(input.error("an unknown predicate")),
            };
        }
        let mut value = None;
        if input.parse::<Option<Token![=]>>()?.is_some() {
            value = Some(match input.parse::<Lit>()? {
                Lit::Str(text) => text.value(),
                other => return Err(syn::Error::new(other.span(), "a value is a string")),
            });
        }
        Ok(self.flags.contains(&(name, value)))
    }

    /// Whether a `cfg(..)` written as text holds, as it stands in `target.'cfg(..)'` of cargo's files.
    pub fn holds_text(&self, text: &str) -> bool {
        let inside = text
            .trim()
            .strip_prefix("cfg(")
            .and_then(|rest| rest.strip_suffix(')'));
        let tokens = inside.and_then(|inside| inside.parse::<TokenStream>().ok());
        tokens.is_some_and(|tokens| self.holds(&tokens))
    }
}

/// The string of `#[name = "string"]`, if the attribute is that.
pub fn string_value(attribute: &syn::Attribute, name: &str) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    if !pair.path.is_ident(name) {
        return None;
    }
    let tokens = &pair.value;
    syn::parse2::<LitStr>(quote::quote!(#tokens))
        .ok()
        .map(|text| text.value())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Configuration {
        Configuration::printed("unix\ntarget_os=\"linux\"\ntest\n").with_features(["fast", "serde"])
    }

    fn holds(predicate: &str) -> bool {
        here().holds(&predicate.parse().expect("tokens"))
    }

    #[test]
    fn predicates_hold_as_in_rustc() {
        for yes in [
            "unix",
            "target_os = \"linux\"",
            "feature = r\"fast\"",
            "all()",
            "not(windows)",
            "all(unix, any(windows, feature = \"serde\"),)",
            "true",
            "r#unix,",
        ] {
            assert!(holds(yes), "{yes}");
        }
        for no in [
            "windows",
            "test",
            "any()",
            "feature = \"slow\"",
            "target_os",
            "not(unix)",
            "false",
        ] {
            assert!(!holds(no), "{no}");
        }
    }

    #[test]
    fn a_predicate_that_is_not_known_counts_as_holding() {
        assert!(holds("version(\"1.90\")"));
        assert!(holds("all(unix, accessible(std::mem))"));
    }

    #[test]
    fn cargo_writes_cfg_as_text() {
        assert!(here().holds_text("cfg(all(unix, target_os = \"linux\"))"));
        assert!(!here().holds_text("cfg(windows)"));
        assert!(!here().holds_text("x86_64-unknown-linux-gnu"));
    }

    #[test]
    fn rustc_says_what_flags_and_profile_mean() {
        let profile = Profile {
            debug_assertions: false,
            panic: Some("abort".into()),
        };
        for flags in ["", "--cfg special --cfg key=\"v\""] {
            let settings = Settings::of_variables(&[("RUSTFLAGS", flags)]);
            let compiler = Compiler::ask(&settings).expect("rustc");
            let found = compiler.configuration(&settings, &profile).expect("flags");
            let holds = |predicate: &str| found.holds(&predicate.parse().expect("tokens"));
            assert!(holds(
                "all(panic = \"abort\", not(panic = \"unwind\"), not(debug_assertions))"
            ));
            assert_eq!(holds("all(special, key = \"v\")"), !flags.is_empty());
            assert!(compiler.target.contains('-'), "{}", compiler.target);
        }
    }
}
