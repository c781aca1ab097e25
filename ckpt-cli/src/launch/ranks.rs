//! Programs of several processes: the launcher that starts them, and its processes.
//!
//! The launcher's processes are found in `/proc`: those that it started, and those that have lost it. So none is left
//! behind, however a launcher ends.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Outcome, says};
use crate::launch::session::one_or_more;

/// How many processes, and who starts them.
#[derive(Debug, Clone, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = "MPI options")]
pub struct RankOptions {
    /// Start the program as so many processes (ranks) of MPI
    #[arg(short = 'n', long = "ranks", value_name = "N", value_parser = number_of_ranks)]
    pub ranks: Option<u32>,
    #[arg(long, value_name = "LAUNCHER", value_parser = launcher, help = LAUNCHER_HELP)]
    pub launcher: Option<String>,
}

/// To clap `{n}` in a help is the end of a line; with a style that begins within it, it is not.
const LAUNCHER_HELP: &str = "What starts them: `mpirun`, `srun`, or a command of your own, in which {cmd} stands for the program \
    with its arguments and {\u{1b}[0mn} for their number [default: mpirun]";

fn number_of_ranks(text: &str) -> Result<u32, String> {
    one_or_more(text)?
        .try_into()
        .map_err(|_| "that many cannot be started".into())
}

/// Where the program with its arguments stands in a launcher's command.
const COMMAND: &str = "{cmd}";

fn launcher(text: &str) -> Result<String, String> {
    let words = shlex::split(text).ok_or("its quotes do not match")?;
    let (Some(first), rest) = (words.first(), &words[words.len().min(1)..]) else {
        return Err("a launcher has a name".into());
    };
    match rest.is_empty() || text.contains(COMMAND) {
        true if first != COMMAND => Ok(text.to_owned()),
        _ => Err(format!(
            "write {COMMAND} where the program stands: `{text} {COMMAND}`"
        )),
    }
}

impl RankOptions {
    /// These options, and where they say nothing, those of the last run.
    pub fn or(&self, last: &RankOptions) -> RankOptions {
        RankOptions {
            ranks: self.ranks.or(last.ranks),
            launcher: self.launcher.clone().or_else(|| last.launcher.clone()),
        }
    }

    /// Refuses a launcher whose command does not say how many processes to start.
    pub fn have_a_number(&self) -> Outcome<()> {
        match (self.ranks, &self.launcher) {
            (None, Some(launcher)) => Err(Failure::usage(says!(
                "E3049: `--launcher {launcher}` is not told how many processes to start"
            ))
            .help("say it with `-n N`")),
            _ => Ok(()),
        }
    }

    /// These options of a record, for a restart from a checkpoint that so many ranks wrote: a try with another number
    /// is refused, and must not be what the next one begins with.
    pub fn of_checkpoint(&self, wrote: Option<u32>) -> RankOptions {
        let ranks = match (self.ranks, wrote) {
            (Some(recorded), wrote) => Some(wrote.unwrap_or(recorded)),
            (None, wrote) => wrote.filter(|&wrote| wrote > 1),
        };
        RankOptions {
            ranks,
            launcher: self.launcher.clone(),
        }
    }

    /// The options as they are written on a command line.
    pub fn words(&self) -> Vec<String> {
        let ranks = self.ranks.map(|ranks| format!("-n {ranks}"));
        let launcher = self.launcher.iter().map(|launcher| {
            let quoted = shlex::try_quote(launcher).unwrap_or_default();
            format!("--launcher {quoted}")
        });
        ranks.into_iter().chain(launcher).collect()
    }

    /// The command that starts all processes of a program; the program's own where there are none to start.
    pub fn wrap(&self, program: Command) -> Outcome<Command> {
        let Some(ranks) = self.ranks else {
            return Ok(program);
        };
        can_be_found_on(std::env::consts::OS)?;
        let template = template(self.launcher.as_deref().unwrap_or("mpirun"));
        let own: Vec<OsString> = std::iter::once(program.get_program())
            .chain(program.get_args())
            .map(OsStr::to_owned)
            .collect();
        let is_openmpi = template.first().is_some_and(|name| is_openmpi(name));
        let mut words = template.into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        if is_openmpi {
            // Other hosts get the variables that are named to it; the others pass all of them on.
            for name in passed_on(&program) {
                command.arg("-x").arg(name);
            }
        }
        for word in words {
            match word.as_str() {
                COMMAND => {
                    command.args(&own);
                }
                word => {
                    command.arg(word.replace("{n}", &ranks.to_string()));
                }
            }
        }
        carry_over(&program, &mut command);
        for (name, value) in settings() {
            if std::env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        Ok(command)
    }
}

/// A launcher's processes are found in `/proc`, which other systems do not have.
fn can_be_found_on(system: &str) -> Outcome<()> {
    match system {
        "linux" => Ok(()),
        _ => Err(Failure::usage(says!("E3050: `-n` works on Linux only"))
            .help("start the launcher yourself: `mpirun -n N PROGRAM`")),
    }
}

fn template(launcher: &str) -> Vec<String> {
    let words = shlex::split(launcher).unwrap_or_default();
    match words.as_slice() {
        [name] => [name, "-n", "{n}", COMMAND].map(str::to_owned).to_vec(),
        _ => words,
    }
}

fn is_openmpi(name: &str) -> bool {
    let name = Path::new(name);
    let is_mpirun = name
        .file_name()
        .is_some_and(|name| name == "mpirun" || name == "mpiexec");
    let version = is_mpirun.then(|| Command::new(name).arg("--version").output());
    version
        .and_then(Result::ok)
        .is_some_and(|output| String::from_utf8_lossy(&output.stdout).contains("Open MPI"))
}

/// What was set for the program alone.
fn passed_on(program: &Command) -> Vec<OsString> {
    let set = program.get_envs().filter(|(_, value)| value.is_some());
    set.map(|(name, _)| name.to_owned())
        .filter(|name| name.to_string_lossy().starts_with("CKPT_") || name == "LD_LIBRARY_PATH")
        .collect()
}

fn carry_over(from: &Command, to: &mut Command) {
    for (name, value) in from.get_envs() {
        match value {
            Some(value) => to.env(name, value),
            None => to.env_remove(name),
        };
    }
    if let Some(folder) = from.get_current_dir() {
        to.current_dir(folder);
    }
}

/// What Open MPI has to be told before it starts more processes than there are cores, or works for root; other
/// launchers do not know these. In an allocation the scheduler says what is there.
///
/// hwloc, by which launchers look at the machine, may load a library for OpenCL, which may take SIGUSR1 for itself.
fn settings() -> Vec<(&'static str, &'static str)> {
    let mut list = vec![("HWLOC_COMPONENTS", "-opencl")];
    let in_allocation = ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    if !in_allocation {
        list.push(("OMPI_MCA_rmaps_base_oversubscribe", "1"));
        list.push(("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"));
    }
    if nix::unistd::geteuid().is_root() {
        list.push(("OMPI_ALLOW_RUN_AS_ROOT", "1"));
        list.push(("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"));
    }
    list
}

/// From now on processes whose parent has died become children of this one, so that they can be found.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// A process, and the one that it is a child of.
fn parents() -> Vec<(i32, i32)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let of = |name: OsString| {
        let pid: i32 = name.to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program is in brackets, and may have any in it.
        let rest = stat.rsplit_once(')')?.1;
        Some((pid, rest.split_whitespace().nth(1)?.parse().ok()?))
    };
    entries.filter_map(|entry| of(entry.file_name())).collect()
}

/// All processes that this one has started, or adopted, and theirs.
pub fn descendants() -> Vec<i32> {
    let parents = parents();
    let mut found = vec![std::process::id() as i32];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(
            parents
                .iter()
                .filter(|(_, of)| *of == parent)
                .map(|(pid, _)| *pid),
        );
        next += 1;
    }
    found.remove(0);
    found
}

/// The running ranks of a program: the processes below this one that execute it, oldest first.
pub fn running(executable: &Path) -> Vec<i32> {
    let executes =
        |pid: &i32| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| path == executable);
    let mut list: Vec<i32> = descendants().into_iter().filter(executes).collect();
    list.sort_unstable();
    list
}

/// Ends the launcher and all that it has started: for programs of several processes only.
pub fn end_all() {
    descendants().into_iter().for_each(end);
}

/// Ends this process, which is one of ours.
pub fn end(pid: i32) {
    // It may have ended by itself.
    let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
}

/// The launcher has ended: ends what it has left behind. For programs of several processes only, after
/// [`adopt_orphans`]: everything below this process is the launcher's then.
pub fn end_left_behind() {
    for _ in 0..50 {
        let left = descendants();
        if left.is_empty() {
            return;
        }
        left.iter().for_each(|&pid| end(pid));
        for pid in left {
            let _ = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(ranks: u32, launcher: Option<&str>) -> Vec<String> {
        let mut program = Command::new("/bin/heat");
        program.arg("a b").env("CKPT_EVERY", "3");
        let options = RankOptions {
            ranks: Some(ranks),
            launcher: launcher.map(str::to_owned),
        };
        let command = options.wrap(program).unwrap();
        assert!(command.get_envs().any(|(name, _)| name == "CKPT_EVERY"));
        std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn launchers_leave_libraries_for_devices_alone_unless_the_user_says_otherwise() {
        let options = RankOptions {
            ranks: Some(2),
            launcher: Some("srun".into()),
        };
        let command = options.wrap(Command::new("/bin/heat")).unwrap();
        let said = command.get_envs().find(|(name, _)| *name == "HWLOC_COMPONENTS");
        match std::env::var_os("HWLOC_COMPONENTS") {
            None => assert_eq!(
                said,
                Some(("HWLOC_COMPONENTS".as_ref(), Some("-opencl".as_ref())))
            ),
            Some(_) => assert_eq!(said, None),
        }
    }

    #[test]
    fn a_launcher_is_a_name_or_a_command_with_places() {
        assert_eq!(wrapped(4, Some("srun")), ["srun", "-n", "4", "/bin/heat", "a b"]);
        assert_eq!(
            wrapped(2, Some("ssh node 'my run' --procs={n} {cmd} end")),
            ["ssh", "node", "my run", "--procs=2", "/bin/heat", "a b", "end"]
        );
        assert!(launcher("mpirun -np {n}").unwrap_err().contains("-np {n} {cmd}"));
        assert!(launcher("").is_err() && launcher("'").is_err());
        let alone = RankOptions {
            ranks: None,
            launcher: Some("srun".into()),
        };
        let failure = alone.have_a_number().unwrap_err();
        assert!(failure.to_string().contains("`--launcher srun`"), "{failure}");
        assert_eq!(launcher("srun").unwrap(), "srun");
    }

    #[test]
    fn ranks_are_started_on_linux_only() {
        assert!(can_be_found_on("linux").is_ok());
        let refused = can_be_found_on("macos").unwrap_err();
        let told = serde_json::json!({
            "code": "E3050", "error": "`-n` works on Linux only",
            "help": "start the launcher yourself: `mpirun -n N PROGRAM`",
        });
        assert_eq!(refused.as_data(), told);
    }

    #[test]
    fn what_is_not_given_is_as_in_the_last_run() {
        let last = RankOptions {
            ranks: Some(4),
            launcher: Some("srun".into()),
        };
        assert_eq!(RankOptions::default().or(&last), last);
        let mine = RankOptions {
            ranks: Some(2),
            launcher: None,
        };
        assert_eq!(mine.or(&last).words(), ["-n 2", "--launcher srun"]);
    }

    #[test]
    fn the_checkpoint_knows_how_many_wrote_it() {
        let recorded = |ranks| RankOptions {
            ranks,
            launcher: None,
        };
        let number = |record, wrote| recorded(record).of_checkpoint(wrote).ranks;
        assert_eq!(number(Some(3), Some(2)), Some(2), "a try with 3 was refused");
        assert_eq!(number(Some(3), None), Some(3), "damaged");
        assert_eq!(number(None, Some(4)), Some(4), "started by hand");
        assert_eq!(number(None, Some(1)), None, "without a launcher");
        assert_eq!(number(None, None), None);
    }
}
