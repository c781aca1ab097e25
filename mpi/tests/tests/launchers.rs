//! What starts the ranks: `mpirun`, `srun`, a command of one's own; and starting them again after a death.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mpi_tests::{
    Job, TERM, USR1, finished, kept_in, parent, send, sorted, tool, wait_until, wait_until_heard,
};

const RING: &str = "programs/ring";

fn uninterrupted(arguments: &str) -> String {
    let ended = Job::new(RING).ckpt("run", &format!("-n 2 --- {arguments}"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout
}

/// A script in the job's folder.
fn script(path: PathBuf, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
    fs::write(&path, text).expect("it can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be executed");
    path
}

fn lines_of(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Runs, dies at a visit, and goes on with `restart` alone; gives how often the launcher was used, and with which words.
fn dies_and_goes_on(job: &mut Job, launcher: &str) -> Vec<String> {
    let expected = uninterrupted("40");
    job.set("CKPT_FAULT", "visit:25@1");
    let killed = job.ckpt("run", &format!("-n 2 --launcher {launcher} --every 10 --- 40"));
    assert!(!matches!(killed.code, Some(0 | 75..=79)), "{killed:?}");
    job.set("CKPT_FAULT", "");
    let restarted = job.ckpt("restart", "");
    assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
    assert!(
        restarted.stderr.contains("restarts from checkpoint 000002"),
        "{}",
        restarted.stderr
    );
    let both = killed.stdout + &restarted.stdout;
    assert!(expected.lines().all(|line| both.contains(line)), "{both}");
    assert!(job.ranks().is_empty(), "nothing is left behind");
    lines_of(&job.folder().join("started"))
}

#[test]
fn a_command_of_ones_own_starts_the_ranks_and_a_restart_remembers_it() {
    let mut job = Job::new(RING);
    let text = "#!/bin/sh\necho \"$1 $2\" >>started\nn=$2; shift 3\nexec mpirun -np \"$n\" \"$@\"\n";
    let path = script(job.folder().join("my launcher"), text);
    let launcher = format!("'\"{}\" --count={{n}} {{n}} -- {{cmd}}'", path.display());
    assert_eq!(
        dies_and_goes_on(&mut job, &launcher),
        ["--count=2 2", "--count=2 2"]
    );
}

/// Slurm itself is not at hand: a script of its name stands for it.
fn with_srun(job: &mut Job) {
    let text = "#!/bin/sh\necho \"$1 $2\" >>started\n[ \"$1\" = -n ] || exit 9\nn=$2; shift 2\n\
                exec mpirun -np \"$n\" \"$@\"\n";
    let path = script(job.folder().join("bin/srun"), text);
    let folder = path.parent().expect("a folder").display().to_string();
    let others = std::env::var("PATH").unwrap_or_default();
    job.set("PATH", &format!("{folder}:{others}"));
}

#[test]
fn srun_starts_the_ranks_and_a_restart_remembers_it() {
    let mut job = Job::new(RING);
    with_srun(&mut job);
    assert_eq!(dies_and_goes_on(&mut job, "srun"), ["-n 2", "-n 2"]);
}

#[test]
fn a_job_that_is_preempted_stops_to_be_queued_again_and_goes_on() {
    let mut job = Job::new(RING);
    with_srun(&mut job);
    let expected = uninterrupted("100 20");
    let running = job.start("run", "-n 2 --launcher srun --every 100000 --- 100 20");
    let ranks = job.wait_for_ranks(2);
    wait_until(|| job.kept("job.json"));
    wait_until_heard(&ranks, TERM);
    // What a scheduler does: the signal reaches `cargo ckpt`, not the ranks.
    send(running.id(), "TERM");
    let stopped = finished(running);
    assert_eq!(stopped.code, Some(75), "{}", stopped.stderr);
    let restarted = job.ckpt("restart", "");
    assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
    let both = stopped.stdout + &restarted.stdout;
    assert_eq!(sorted(&both), sorted(&expected));
}

#[test]
#[ignore = "with SWEEPS=all"]
fn deaths_are_followed_by_restarts_as_long_as_there_is_progress() {
    let job = Job::new(RING);
    let expected = uninterrupted("120 20");
    let running = job.start(
        "run",
        "-n 2 --every 10 --keep all --restarts 5 --backoff 20ms --- 120 20",
    );
    let has = |line: &str| {
        let names = job.lines(&job.store());
        (0..2).all(|rank| names.contains(&format!("{line}.r{rank}.h5")))
    };
    wait_until(|| has("000002").then_some(()));
    let ranks = job.wait_for_ranks(2);
    send(ranks[1], "KILL");
    wait_until(|| has("000006").then_some(()));
    let launcher = parent(job.wait_for_ranks(2)[0]);
    assert_ne!(launcher, running.id(), "mpirun is between");
    send(launcher, "KILL");
    let ended = finished(running);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for told in [
        "restart 1 of 5 from checkpoint",
        "in 20 ms",
        "restart 2 of 5 from checkpoint",
        "in 40 ms",
    ] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
    assert!(
        expected.lines().all(|line| ended.stdout.contains(line)),
        "{}",
        ended.stdout
    );
    assert!(job.ranks().is_empty(), "nothing is left behind");
}

/// The script for Slurm in the book, for the ring.
fn batch_script(job: &Job) -> PathBuf {
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/mpi.md");
    let text = fs::read_to_string(book).expect("the book is there");
    let script_at = text.find("#!/bin/sh\n#SBATCH").expect("the book has a script");
    let sample = text[script_at..].split("```").next().expect("it ends");
    let sample = sample
        .replace("heat", "ring")
        .replace("--interval 10m -- deck.toml", "--every 100000 -- 100 20");
    script(job.folder().join("job.sh"), &sample)
}

#[test]
fn the_books_script_for_slurm_queues_the_job_again_until_it_is_done() {
    let job = Job::new(RING);
    let expected = uninterrupted("100 20");
    // Builds the program; the run itself is not of interest.
    let built = job.ckpt("run", "-n 2 --dir first.ckpt.d --- 1");
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    let record = kept_in(&job.folder().join("first.ckpt.d"), "launch.json").expect("a record");
    let record = fs::read_to_string(record).expect("it can be read");
    let executable = record
        .split("\"executable\": \"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let here = |name: &str| job.folder().join(name);
    std::os::unix::fs::symlink(executable.expect("it names the program"), here("ring")).expect("a link");
    std::os::unix::fs::symlink(tool(), here("cargo-ckpt")).expect("a link");
    // An allocation that is none: mpirun must not ask Slurm.
    let srun = "#!/bin/sh\n[ \"$1\" = -n ] || exit 9\nn=$2; shift 2\nunset SLURM_JOB_ID SLURM_NTASKS\n\
                export OMPI_MCA_rmaps_base_oversubscribe=1\nexec mpirun -np \"$n\" \"$@\"\n";
    script(here("bin/srun"), srun);
    script(here("bin/scontrol"), "#!/bin/sh\necho \"$@\" >>requeued\n");
    let path = batch_script(&job);
    let others = std::env::var("PATH").unwrap_or_default();
    let start = || {
        Command::new("sh")
            .arg(&path)
            .env("PATH", format!("{}:{others}", here("bin").display()))
            .env("SLURM_SUBMIT_DIR", job.folder())
            .env("SLURM_JOB_ID", "7")
            .env("SLURM_NTASKS", "2")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("there is a shell")
    };
    let running = start();
    wait_until(|| kept_in(&here("ring.ckpt.d"), "job.json"));
    let ranks = job.wait_for_ranks(2);
    wait_until_heard(&ranks, USR1);
    ranks.iter().for_each(|&rank| send(rank, "USR1"));
    let stopped = finished(running);
    assert_eq!(stopped.code, Some(75), "{}", stopped.stderr);
    assert_eq!(lines_of(&here("requeued")), ["requeue 7"]);
    let ended = finished(start());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(lines_of(&here("requeued")).len(), 1, "it is done");
    let both = stopped.stdout + &ended.stdout;
    assert_eq!(sorted(&both), sorted(&expected));
}

/// Open MPI 4.1 does that now and then, if its ranks die while they start: it waits for ever.
#[test]
#[ignore = "with SWEEPS=all"]
fn a_launcher_that_hangs_when_its_ranks_die_is_ended() {
    let job = Job::new(RING);
    let text = "#!/bin/sh\nn=$1; shift\nmpirun -np \"$n\" \"$@\" || exec sleep 600\n";
    let path = script(job.folder().join("hangs"), text);
    let words = format!(
        "-n 2 --launcher '{} {{n}} {{cmd}}' --sites 0 --commits 0 --random 2 --rows 0 --seed 1 --verbose --- 40 20",
        path.display()
    );
    let ended = job.ckpt("crashtest", &words);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains(" killed at "), "{}", ended.stdout);
}

/// Programs of one workspace share the copy that is rewritten.
#[test]
fn programs_of_one_workspace_are_built_at_the_same_time() {
    let programs = [(RING, "30"), ("programs/groups", "30"), (RING, "20")];
    let jobs: Vec<Job> = programs.iter().map(|(package, _)| Job::new(package)).collect();
    let start =
        |(job, (_, steps)): (&Job, &(&str, &str))| job.start("run", &format!("-n 2 --every 5 --- {steps}"));
    let running: Vec<_> = jobs.iter().zip(&programs).map(start).collect();
    for (child, job) in running.into_iter().zip(&jobs) {
        let ended = finished(child);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(
            !job.lines(&job.store()).is_empty(),
            "it has sites: {}",
            ended.stderr
        );
    }
}
