//! How long a program waits for a checkpoint, and how long until it is on the disk: see README.md.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::Context;

const ROUNDS: usize = 9;
const PIECE: usize = 4 << 20;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let megabytes: usize = match arguments.next() {
        Some(text) => text
            .parse()
            .with_context(|| format!("`{text}` is no number of megabytes"))?,
        None => 1024,
    };
    let folder = match arguments.next() {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "{megabytes} MB in {}, {ROUNDS} rounds, load of the machine {}",
        folder.path().display(),
        load.split_whitespace().next().unwrap_or("unknown")
    );
    std::env::set_current_dir(folder.path())?;
    let mut state = noise(megabytes << 20);
    let memory = wait(&mut state)?;
    memory.print("the program waits / memcpy");
    let disk = durable(&mut state, folder.path())?;
    disk.print("raw write and fsync / checkpoint on the disk");
    Ok(())
}

/// Bytes that do not compress.
fn noise(bytes: usize) -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    std::iter::repeat_with(next).take(bytes / 8).collect()
}

/// Changes every page and most lines of the state.
fn change(state: &mut [u64]) {
    for value in state.iter_mut().step_by(7) {
        *value = value.rotate_left(1);
    }
}

/// Pairs of times, measured by turns.
#[derive(Default)]
struct Pairs(Vec<(f64, f64)>);

impl Pairs {
    fn print(&self, what: &str) {
        let best = |of: fn(&(f64, f64)) -> f64| self.0.iter().map(of).fold(f64::INFINITY, f64::min);
        let mut ratios: Vec<f64> = self.0.iter().map(|pair| pair.0 / pair.1).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        println!(
            "{what:<48} median {:.3}  best to best {:.3}",
            ratios[ratios.len() / 2],
            best(|pair| pair.0) / best(|pair| pair.1)
        );
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let began = Instant::now();
    let result = work();
    (began.elapsed().as_secs_f64(), result)
}

/// How long the program waits, against a copy of the same bytes by as many threads into memory that is warm.
fn wait(state: &mut [u64]) -> anyhow::Result<Pairs> {
    let mut session = session(true)?;
    let mut copy = state.to_vec();
    let mut pairs = Pairs::default();
    // The first checkpoint finds no memory that was used before.
    for round in 0..=ROUNDS {
        change(state);
        let (memcpy, ()) = timed(|| copy_with_threads(state, &mut copy));
        let (wait, taken) = timed(|| session.save_if_due(|to| to.save("state", state)));
        anyhow::ensure!(taken?, "no checkpoint was taken");
        session.wait();
        if round > 0 {
            pairs.0.push((wait, memcpy));
        }
    }
    Ok(pairs)
}

/// How long until a checkpoint is on the disk, against the same bytes in a plain file.
fn durable(state: &mut [u64], folder: &Path) -> anyhow::Result<Pairs> {
    let mut session = session(false)?;
    let mut pairs = Pairs::default();
    for round in 0..=ROUNDS {
        change(state);
        let (checkpoint, taken) = timed(|| session.save_if_due(|to| to.save("state", state)));
        anyhow::ensure!(taken?, "no checkpoint was taken");
        let path = folder.join("raw");
        let bytes: Vec<u8> = state.iter().flat_map(|value| value.to_le_bytes()).collect();
        let (raw, written) = timed(|| write_raw(&path, &bytes));
        written?;
        std::fs::remove_file(path)?;
        if round > 0 {
            pairs.0.push((raw, checkpoint));
        }
    }
    Ok(pairs)
}

fn session(background: bool) -> anyhow::Result<ckpt::Session> {
    let settings = format!("[session]\ndir = \"store\"\nevery = 1\nkeep = 1\nbackground = {background}\n");
    std::fs::write("ckpt.toml", settings)?;
    Ok(ckpt::Session::open("pipeline")?)
}

fn write_raw(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn copy_with_threads(from: &[u64], to: &mut [u64]) {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let size = PIECE / size_of::<u64>();
    let pieces = Mutex::new(from.chunks(size).zip(to.chunks_mut(size)));
    let work = || {
        let next = || pieces.lock().ok().and_then(|mut pieces| pieces.next());
        while let Some((from, to)) = next() {
            to.copy_from_slice(from);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
}
