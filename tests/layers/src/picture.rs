//! The picture: blocks of ARCHITECTURE.md between fences that say `layers`, `only`, `roots` or `statics`.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;

/// The layers of the modules of one crate, or of all crates, from the top downwards.
#[derive(Debug, Default)]
pub struct Layers {
    /// What is layered: a crate, or `crates`.
    pub name: String,
    /// From the top downwards; those on one line do not know each other.
    pub lines: Vec<Vec<String>>,
}

impl Layers {
    /// The layer of a module, counted from the top.
    pub fn of(&self, module: &str) -> Option<usize> {
        self.lines
            .iter()
            .position(|line| line.iter().any(|one| one == module))
    }

    /// Everything that is drawn.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().flatten().map(String::as_str)
    }
}

/// What ARCHITECTURE.md draws.
#[derive(Debug, Default)]
pub struct Picture {
    /// By the name of the crate, and `crates` for the crates themselves.
    pub layers: BTreeMap<String, Layers>,
    /// Words of the code, with the only folders in which they may stand: those of all lines that have the word before the colon (`nowhere` is none).
    pub only: BTreeMap<String, Vec<String>>,
    /// Crates, with those of which they know no module but the root.
    pub roots: Vec<(String, Vec<String>)>,
    /// Files and folders that have statics, each with how many.
    pub statics: Option<BTreeMap<String, usize>>,
}

impl Picture {
    /// Reads the blocks of a page.
    ///
    /// # Errors
    /// A block that is not closed, has no name, or says something twice.
    pub fn read(page: &str) -> Result<Self> {
        let mut picture = Self::default();
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            let kind = line.strip_prefix("```").unwrap_or_default();
            if !["layers", "only", "roots", "statics"].contains(&kind) {
                continue;
            }
            let mut block = Vec::new();
            loop {
                match lines.next().context("a block is not closed")? {
                    "```" => break,
                    line if line.trim().is_empty() => {}
                    line => block.push(line),
                }
            }
            match kind {
                "layers" => picture.add_layers(&block)?,
                "only" => {
                    for (words, folders) in block.iter().map(|line| words_of(line)) {
                        for word in words.split_whitespace() {
                            let known = picture.only.entry(word.to_owned()).or_default();
                            known.extend(folders.iter().filter(|one| *one != "nowhere").cloned());
                        }
                    }
                }
                "statics" => {
                    for line in block {
                        let (place, why) = line
                            .split_once(": ")
                            .with_context(|| format!("`{line}` does not say what is static there"))?;
                        let listed = picture.statics.get_or_insert_default();
                        if why.trim().is_empty() {
                            bail!("`{line}` does not say what is static there");
                        }
                        let (place, count) = match place.trim().split_once(' ') {
                            Some((place, count)) => (place, count.trim().parse()?),
                            None => (place.trim(), 1),
                        };
                        let before = listed.insert(place.to_owned(), count);
                        if before.is_some() {
                            bail!("the statics of {place} are listed twice");
                        }
                    }
                }
                _ => picture.roots.extend(block.iter().map(|line| words_of(line))),
            }
        }
        Ok(picture)
    }

    fn add_layers(&mut self, block: &[&str]) -> Result<()> {
        let (name, lines) = block
            .split_first()
            .context("a block of layers begins with a name")?;
        let words = |line: &&str| line.split_whitespace().map(str::to_owned).collect();
        let layers = Layers {
            name: name.trim().to_owned(),
            lines: lines.iter().map(words).collect(),
        };
        let mut seen: Vec<&str> = layers.modules().collect();
        seen.sort_unstable();
        if let Some(twice) = seen.windows(2).find(|two| two[0] == two[1]) {
            bail!("`{}` stands twice in the layers of {name}", twice[0]);
        }
        if self.layers.insert(layers.name.clone(), layers).is_some() {
            bail!("the layers of {name} are drawn twice");
        }
        Ok(())
    }
}

/// `word: folder folder`
fn words_of(line: &str) -> (String, Vec<String>) {
    let (word, folders) = line.rsplit_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
    (
        word.trim().to_owned(),
        folders.split_whitespace().map(str::to_owned).collect(),
    )
}
