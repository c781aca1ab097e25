//! What ckpt costs a program of several processes while no checkpoint is due: himeno with two ranks, as it is and
//! instrumented, with an interval that is never over, so that the ranks tell each other what their clocks say.
//!
//! Two measures, both as ratios to the plain program. Wall time of the iterations, by the program's own figure of merit:
//! runs in turn, median of the ratios, and best against best. Instructions in the executable itself, the program's and
//! ckpt's but not those of the MPI library, which waits by looking again and again: as callgrind counts them on every rank,
//! as the difference of two run lengths, so that starting up does not count.
//!
//! Then the time of the reduction with which the ranks of a restart agree, for growing numbers of ranks.
//! `CARGO_CKPT=... cargo run --release -p mpi-overhead -- [--pairs N] [--check]`

mod callgrind;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Parser;

/// `--check` fails above this many extra instructions.
const BAR: f64 = 0.01;
const RANKS: [u32; 4] = [1, 2, 4, 8];
/// Arguments of himeno for wall times, and for the shorter of two counted runs.
const LONG: &str = "65 65 129 200 2 1 1";
const SHORT: [&str; 2] = ["33 33 65 20 2 1 1", "33 33 65 60 2 1 1"];

/// What checkpoints that are not due cost programs of several processes
#[derive(Debug, clap::Parser)]
struct Options {
    /// How many pairs of runs are compared
    #[arg(long, default_value = "21")]
    pairs: NonZeroUsize,
    /// Fail where a program is slower than the book says
    #[arg(long)]
    check: bool,
}

/// The programs.
struct Built {
    plain: PathBuf,
    instrumented: PathBuf,
    reduction: PathBuf,
    folder: tempfile::TempDir,
}

fn finish(command: &mut Command) -> Result<(String, String)> {
    let output = command
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (told, said) = (text(&output.stdout), text(&output.stderr));
    ensure!(output.status.success(), "{command:?}:\n{said}");
    Ok((told, said))
}

impl Built {
    fn new() -> Result<Built> {
        let folder = tempfile::tempdir()?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let target = std::env::current_exe()?;
        let target = target
            .ancestors()
            .nth(2)
            .context("it is run from cargo's target folder")?
            .to_owned();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--release", "-p", "himeno", "-p", "reduction"]);
        cargo.arg("--target-dir").arg(&target).current_dir(&root);
        finish(&mut cargo)?;
        let tool =
            std::env::var_os("CARGO_CKPT").map_or_else(|| target.join("debug/cargo-ckpt"), PathBuf::from);
        let mut ckpt = Command::new(tool);
        ckpt.args("ckpt run --release -n 2 --interval 1h --manifest-path".split(' '));
        ckpt.arg(root.join("examples/himeno/Cargo.toml"));
        ckpt.arg("--").args(SHORT[0].split(' '));
        ckpt.env("CKPT_RUNTIME_PATH", root.join("../ckpt-runtime"));
        ckpt.env("CARGO_TARGET_DIR", &target);
        ckpt.current_dir(folder.path());
        finish(&mut ckpt).context("cargo-ckpt is built: see CARGO_CKPT")?;
        let record = std::fs::read_to_string(folder.path().join("himeno.ckpt.d/launch.json"))?;
        let executable = record
            .lines()
            .find_map(|line| line.trim().strip_prefix("\"executable\": \""))
            .and_then(|rest| rest.split('"').next())
            .context("the record names what was built")?;
        Ok(Built {
            plain: target.join("release/himeno"),
            instrumented: executable.into(),
            reduction: target.join("release/reduction"),
            folder,
        })
    }

    fn programs(&self) -> [&Path; 2] {
        [&self.plain, &self.instrumented]
    }

    /// The launcher's command, to which the program is to be added.
    fn launcher(&self, ranks: u32) -> Command {
        let mut command = Command::new("mpirun");
        command.args(["-n", &ranks.to_string()]);
        let settings = [
            ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
            ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("CKPT_INTERVAL", "1h"),
            ("CKPT_COUNT_MPI_CALLS", "1"),
        ];
        command.envs(settings).current_dir(self.folder.path());
        command
    }

    /// The program's figure of merit, its answer, and what it says besides.
    fn merit(&self, program: &Path) -> Result<(f64, String, String)> {
        let mut command = self.launcher(2);
        command.arg(program).args(LONG.split(' '));
        let (answer, said) = finish(&mut command)?;
        let merit = said.lines().find_map(|line| line.strip_prefix("MFLOPS "));
        let merit = merit
            .context("himeno prints its figure of merit")?
            .trim()
            .parse()?;
        Ok((merit, answer, said))
    }

    /// Instructions of the iterations, by rank.
    fn instructions(&self, program: &Path) -> Result<Vec<f64>> {
        let count = |arguments: &str| {
            let mut command = self.launcher(2);
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
            (0..2).map(rank).collect::<Result<Vec<u64>>>()
        };
        let (short, long) = (count(SHORT[0])?, count(SHORT[1])?);
        let pairs = short.into_iter().zip(long);
        let loops: Vec<f64> = pairs.map(|(short, long)| long as f64 - short as f64).collect();
        ensure!(
            loops.iter().all(|count| *count > 0.0),
            "longer runs need more instructions"
        );
        Ok(loops)
    }
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// Median of the ratios of the times, and the ratio of the best.
fn wall(built: &Built, pairs: usize) -> Result<(f64, f64, String)> {
    let (mut ratios, mut best, mut calls) = (Vec::new(), [0.0_f64; 2], String::new());
    for number in 0..pairs {
        let mut merits = [0.0; 2];
        let mut answers = Vec::new();
        // Neither is always the first.
        for program in [number % 2, 1 - number % 2] {
            let (merit, answer, said) = built.merit(built.programs()[program])?;
            merits[program] = merit;
            best[program] = best[program].max(merit);
            answers.push(answer);
            if let Some(line) = said.lines().find(|line| line.contains("calls of MPI")) {
                calls = line.trim_start_matches("ckpt: ").to_owned();
            }
        }
        ensure!(answers[0] == answers[1], "the programs disagree");
        ratios.push(merits[0] / merits[1]);
    }
    ensure!(!calls.is_empty(), "the instrumented program has no session");
    ratios.sort_by(f64::total_cmp);
    Ok((ratios[pairs / 2], best[0] / best[1], calls))
}

fn main() -> Result<()> {
    let options = Options::parse();
    let built = Built::new()?;
    println!("load of the machine: {}", load());
    let [plain, instrumented] = built.programs().map(|program| built.instructions(program));
    let (plain, instrumented) = (plain?, instrumented?);
    let mut worst = 0.0_f64;
    for (rank, (plain, instrumented)) in plain.iter().zip(&instrumented).enumerate() {
        let ratio = instrumented / plain;
        worst = worst.max(ratio - 1.0);
        println!("himeno, rank {rank} of 2: instructions {ratio:.5}");
    }
    let (median, best, calls) = wall(&built, options.pairs.get())?;
    println!(
        "himeno, 2 ranks: wall {median:.4} (median of {}), {best:.4} (best)",
        options.pairs
    );
    println!("{calls}");
    for ranks in RANKS {
        let mut command = built.launcher(ranks);
        let (told, _) = finish(command.arg(&built.reduction))?;
        let time = told.split_whitespace().nth(1).unwrap_or("?");
        println!("reduction, {ranks} rank(s): {time} us");
    }
    println!("load of the machine: {}", load());
    ensure!(
        !options.check || worst <= BAR,
        "instrumentation costs {:.2} % more instructions",
        100.0 * worst
    );
    Ok(())
}
