//! Calls of `cargo ckpt`.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

#[path = "../../harness/src/profile.rs"]
mod profile;

/// `cargo ckpt` of this source tree.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The executable.
    pub executable: PathBuf,
    /// The target folder that all packages share, so that the library is built once.
    pub target: PathBuf,
    /// A call that takes longer is ended.
    pub limit: Duration,
    /// Whether cargo may use the network.
    pub offline: bool,
}

/// What a call gave.
#[derive(Debug)]
pub struct Answer {
    /// Its exit status; none if it took too long.
    pub status: Option<ExitStatus>,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub said: String,
}

impl Tool {
    /// The `cargo ckpt` that `CARGO_CKPT` names, or one built in cargo's target folder; the packages get a folder
    /// below it.
    ///
    /// # Errors
    /// The build fails.
    pub fn build(target: &Path, limit: Duration, offline: bool) -> Result<Self> {
        let executable = match std::env::var_os("CARGO_CKPT") {
            Some(tool) => PathBuf::from(tool),
            None => Self::built(target, offline)?,
        };
        Ok(Self {
            executable,
            // Where the tests of `cargo ckpt` build programs, too: ckpt is built for them once.
            target: target.join("tmp/programs"),
            limit,
            offline,
        })
    }

    fn built(target: &Path, offline: bool) -> Result<PathBuf> {
        let root = root();
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "-p", "ckpt-cli", "--manifest-path"])
            .arg(root.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(target)
            .args(offline.then_some("--offline"))
            .status()
            .context("cannot start cargo")?;
        ensure!(status.success(), "cargo ckpt does not build");
        Ok(target.join("debug/cargo-ckpt"))
    }

    /// `cargo ckpt COMMAND --format json ..` in a folder. The library is that of this source tree.
    ///
    /// # Errors
    /// The call cannot be made; a call that fails is an answer.
    pub fn call<S: AsRef<OsStr>>(&self, folder: &Path, command: &str, options: &[S]) -> Result<Answer> {
        let answers = tempfile::tempdir().context("cannot make a folder")?;
        let (output, said) = (answers.path().join("output"), answers.path().join("said"));
        let mut call = Command::new(&self.executable);
        call.args(["ckpt", command, "--format", "json"])
            .args(self.offline.then_some("--offline"))
            .args(options)
            .current_dir(folder)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_TERM_COLOR", "never")
            .envs(profile::PROFILE)
            .env("CKPT_RUNTIME_PATH", root().join("ckpt-runtime"))
            .stdin(Stdio::null())
            .stdout(File::create(&output)?)
            .stderr(File::create(&said)?)
            .process_group(0);
        let child = call
            .spawn()
            .with_context(|| format!("cannot start {}", self.executable.display()))?;
        let status = wait(child, self.limit)?;
        let text = |path| Ok::<_, anyhow::Error>(String::from_utf8_lossy(&fs::read(path)?).into_owned());
        Ok(Answer {
            status,
            output: text(output)?,
            said: text(said)?,
        })
    }
}

/// This source tree.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).unwrap_or(own).to_path_buf()
}

fn wait(mut child: Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            // With everything that it started: cargo, rustc, the program.
            let _ = killpg(Pid::from_raw(i32::try_from(child.id())?), Signal::SIGKILL);
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
