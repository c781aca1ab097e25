//! A program as it is and instrumented, built in one of several layouts, and its runs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::callgrind;

/// A program that is measured.
pub struct Example {
    pub name: &'static str,
    pub ranks: u32,
    /// Arguments of the shorter and the longer of two counted runs.
    pub counted: [&'static str; 2],
    /// Arguments for wall times.
    pub timed: &'static str,
}

/// It is built, as it is and instrumented.
pub struct Built {
    pub example: &'static Example,
    plain: PathBuf,
    instrumented: PathBuf,
    pub reduction: PathBuf,
    folder: tempfile::TempDir,
}

pub fn finish(command: &mut Command) -> Result<(String, String)> {
    let output = command
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (told, said) = (text(&output.stdout), text(&output.stderr));
    ensure!(output.status.success(), "{command:?}:\n{said}");
    Ok((told, said))
}

impl Built {
    /// With loops at multiples of so many bytes; 0 leaves it to the compiler.
    pub fn new(example: &'static Example, layout: u32) -> Result<Built> {
        let folder = tempfile::tempdir()?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let own = std::env::current_exe()?;
        let own = own
            .ancestors()
            .nth(2)
            .context("it is run from cargo's target folder")?;
        let (target, flags) = match layout {
            0 => (own.to_owned(), std::env::var("RUSTFLAGS").unwrap_or_default()),
            bytes => (
                own.join(format!("layout-{bytes}")),
                format!("-C llvm-args=-align-loops={bytes}"),
            ),
        };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "--quiet",
            "--release",
            "-p",
            example.name,
            "-p",
            "reduction",
        ]);
        cargo.arg("--target-dir").arg(&target).current_dir(&root);
        cargo.env("RUSTFLAGS", &flags);
        finish(&mut cargo)?;
        let tool = std::env::var_os("CARGO_CKPT").map_or_else(|| own.join("debug/cargo-ckpt"), PathBuf::from);
        let mut ckpt = Command::new(tool);
        ckpt.args("ckpt run --release --interval 1h -n".split(' '));
        ckpt.arg(example.ranks.to_string()).arg("--manifest-path");
        ckpt.arg(root.join("examples").join(example.name).join("Cargo.toml"));
        ckpt.arg("--").args(example.counted[0].split(' '));
        ckpt.env("CKPT_RUNTIME_PATH", root.join("../ckpt-runtime"));
        ckpt.env("CARGO_TARGET_DIR", &target).env("RUSTFLAGS", &flags);
        ckpt.current_dir(folder.path());
        finish(&mut ckpt).context("cargo-ckpt is built: see CARGO_CKPT")?;
        let runs = folder.path().join(format!("{}.ckpt.d/runs", example.name));
        let run = std::fs::read_dir(runs)?.next().context("a run has begun")??;
        let record = std::fs::read_to_string(run.path().join("launch.json"))?;
        let executable = record
            .lines()
            .find_map(|line| line.trim().strip_prefix("\"executable\": \""))
            .and_then(|rest| rest.split('"').next())
            .context("the record names what was built")?;
        Ok(Built {
            example,
            plain: target.join("release").join(example.name),
            instrumented: executable.into(),
            reduction: target.join("release/reduction"),
            folder,
        })
    }

    pub fn programs(&self) -> [&Path; 2] {
        [&self.plain, &self.instrumented]
    }

    /// The launcher's command, to which the program is to be added.
    pub fn launcher(&self, ranks: u32) -> Command {
        let mut command = Command::new("mpirun");
        command.args(["-n", &ranks.to_string()]);
        command.env("HWLOC_COMPONENTS", "-opencl"); // as `cargo ckpt run` says
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        if ranks == 1 {
            command.args(["--bind-to", "none"]);
        } else if ranks <= cores {
            command.args(["--bind-to", "core"]);
        } else {
            command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
            command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
        }
        let settings = [
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("CKPT_INTERVAL", "1h"),
            ("CKPT_COUNT_MPI_CALLS", "1"),
        ];
        command.envs(settings).current_dir(self.folder.path());
        command
    }

    /// Runs it for its wall time: how long that took in seconds, what it prints, and what it says besides.
    pub fn timed(&self, program: &Path) -> Result<(f64, String, String)> {
        let mut command = self.launcher(self.example.ranks);
        command.arg(program).args(self.example.timed.split(' '));
        let start = Instant::now();
        let (answer, said) = finish(&mut command)?;
        Ok((start.elapsed().as_secs_f64(), answer, said))
    }

    /// Instructions of the iterations, by rank.
    pub fn instructions(&self, program: &Path) -> Result<Vec<f64>> {
        let count = |arguments: &str| {
            let mut command = self.launcher(self.example.ranks);
            let out = self.folder.path().join("callgrind.out");
            command.args(["valgrind", "--tool=callgrind", "--compress-strings=no"]);
            command.args(["--compress-pos=no", "--dump-line=no"]);
            command.arg(format!(
                "--callgrind-out-file={}.%q{{OMPI_COMM_WORLD_RANK}}",
                out.display()
            ));
            command.arg(program).args(arguments.split(' '));
            finish(&mut command)?;
            let rank = |rank: u32| {
                let text = std::fs::read_to_string(format!("{}.{rank}", out.display()))?;
                Ok(callgrind::instructions(&text, program))
            };
            (0..self.example.ranks).map(rank).collect::<Result<Vec<u64>>>()
        };
        let (short, long) = (count(self.example.counted[0])?, count(self.example.counted[1])?);
        let pairs = short.into_iter().zip(long);
        let loops: Vec<f64> = pairs.map(|(short, long)| long as f64 - short as f64).collect();
        ensure!(
            loops.iter().all(|count| *count > 0.0),
            "longer runs need more instructions"
        );
        Ok(loops)
    }
}
