//! Headless Chromium, which reaches this machine only.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::skipped::skipped;

pub struct Browser {
    executable: PathBuf,
}

impl Browser {
    /// None where there is no Chromium, and it is said that `what` was not tried.
    pub fn found(what: &str) -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
        let places = names
            .iter()
            .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)));
        let executable = places.into_iter().find(|path| path.is_file());
        if executable.is_none() {
            skipped(what, "there is no Chromium here (`apt-get install chromium`)");
        }
        Some(Self {
            executable: executable?,
        })
    }

    /// What the browser prints of the page at an address.
    pub fn prints(&self, address: &str, options: &[&str]) -> String {
        let profile = tempfile::tempdir().unwrap();
        let output = Command::new("timeout")
            .arg("120")
            .arg(&self.executable)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--force-color-profile=srgb",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(options)
            .arg(address)
            .stderr(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{options:?}: {}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Writes a picture of the page into a file, in pixels.
    pub fn draws(&self, address: &str, options: &[&str], width: u32, height: u32, path: &Path) {
        let of_picture = [
            format!("--window-size={width},{height}"),
            format!("--screenshot={}", path.display()),
        ];
        let all: Vec<&str> = options
            .iter()
            .copied()
            .chain(of_picture.iter().map(String::as_str))
            .collect();
        self.prints(address, &all);
    }
}

/// Where the book has a picture of this name; `CKPT_BLESS=1` puts this one there.
pub fn in_the_book(picture: &Path, name: &str) -> PathBuf {
    let shown = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs/src")
        .join(name);
    if std::env::var_os("CKPT_BLESS").is_some() {
        std::fs::copy(picture, &shown).unwrap();
    }
    assert!(shown.is_file(), "`CKPT_BLESS=1` makes {name}");
    shown
}
