//! Large bodies that are written past the system's cache (`O_DIRECT`): where that is faster, found out by the first checkpoints
//! of a run. Where a body begins and ends in the middle of a page, that page goes through the cache, so that its place in the
//! file is the same.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::bodies::write_and_sum;
use super::container::is_in_memory;
use crate::base::checksum::xxh3_of_blocks;
use crate::base::files;
use crate::base::kept_open::KeptOpen;
use crate::base::lock::locked;
use crate::base::parallel::{self, PIECE};

/// Places in the file and in memory are multiples of this: no disk has larger blocks, and no system smaller pages.
const PAGE: usize = 4096;
/// Pieces that are under way: one is written, and others are filled.
const PIECES: usize = 3;
/// Bodies of less go through the cache unless it is asked for.
const LARGE: u64 = 32 << 20;
/// Files with less of such bodies show no difference.
const TELLING: u64 = 256 << 20;
/// So often each way is tried.
const TRIES: u32 = 2;
/// By so much it has to be faster: a restart on the same machine finds nothing in the cache.
const FASTER: f64 = 1.3;

/// Whether large bodies are written past the system's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Direct {
    /// Where that has been measured to be faster.
    #[default]
    Auto,
    On,
    Off,
}

/// What is known of both ways.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    cached: Tried,
    direct: Tried,
    /// The file system cannot.
    cannot: bool,
}

#[derive(Debug, Default)]
struct Tried {
    times: u32,
    /// Bytes in a second, at best.
    best: f64,
}

impl Ways {
    /// Which way the next file goes.
    fn goes_direct(&self, setting: Direct) -> bool {
        let is_tried = self.direct.times >= TRIES;
        match setting {
            Direct::Off => false,
            _ if self.cannot => false,
            Direct::On => true,
            // By turns, through the cache first.
            Direct::Auto if !is_tried => self.direct.times < self.cached.times,
            Direct::Auto => self.direct.best >= FASTER * self.cached.best,
        }
    }

    /// A file has gone one way in so much time.
    fn learn(&mut self, direct: bool, bytes: u64, time: Duration) {
        let tried = if direct {
            &mut self.direct
        } else {
            &mut self.cached
        };
        if bytes >= TELLING {
            tried.times = tried.times.saturating_add(1);
            tried.best = tried.best.max(bytes as f64 / time.as_secs_f64());
        }
    }
}

/// The way that the large bodies of one file go.
#[derive(Debug)]
pub(super) struct Route {
    setting: Direct,
    ways: Arc<Mutex<Ways>>,
    direct: bool,
    /// The file once more, past the cache.
    file: Option<KeptOpen>,
    /// What has gone this way so far.
    bytes: u64,
    time: Duration,
}

impl Route {
    pub fn new(setting: Direct, ways: &Arc<Mutex<Ways>>) -> Route {
        Route {
            setting,
            ways: Arc::clone(ways),
            direct: locked(ways).goes_direct(setting),
            file: None,
            bytes: 0,
            time: Duration::ZERO,
        }
    }

    /// Writes a body from place `first` of the file on; returns the checksums of its blocks of `size` bytes.
    pub fn write_and_sum(
        &mut self,
        (file, path): (&File, &Path),
        bytes: &[u8],
        size: usize,
        first: u64,
    ) -> io::Result<Vec<u128>> {
        if self.setting != Direct::On && (bytes.len() as u64) < LARGE {
            return write_and_sum(file, bytes, size, first);
        }
        let began = Instant::now();
        let sums = match self.past_the_cache(file, path) {
            Some(direct) => {
                let written = write_past_the_cache(direct, file, bytes, size, first);
                // What is the matter with this way may not be with the other.
                written.inspect_err(|_| locked(&self.ways).cannot = true)?
            }
            None => write_and_sum(file, bytes, size, first)?,
        };
        self.bytes += bytes.len() as u64;
        self.time += began.elapsed();
        Ok(sums)
    }

    /// The file past the cache, if that is the way, and can be.
    fn past_the_cache(&mut self, file: &File, path: &Path) -> Option<&KeptOpen> {
        if self.direct && self.file.is_none() {
            let flags = OFlags::WRONLY | OFlags::DIRECT;
            let opened = (!is_in_memory(file))
                .then(|| files::open_as(path, flags).ok())
                .flatten();
            self.file = opened.map(KeptOpen::new);
            if self.file.is_none() {
                self.direct = false;
                locked(&self.ways).cannot = true;
            }
        }
        self.file.as_ref()
    }

    /// The file is on the disk, which took so much longer.
    pub fn ends(self, synced: Duration) {
        locked(&self.ways).learn(self.direct, self.bytes, self.time + synced);
    }
}

/// A piece on its way: memory that begins with a page, how many bytes are in it, and their place in the file.
struct Piece {
    memory: Vec<u8>,
    begins: usize,
    length: usize,
    at: u64,
}

impl Piece {
    fn new() -> Piece {
        let memory = vec![0; PIECE + PAGE];
        Piece {
            begins: memory.as_ptr().align_offset(PAGE).min(PAGE),
            memory,
            length: 0,
            at: 0,
        }
    }

    fn take(&mut self, bytes: &[u8], at: u64) {
        self.memory[self.begins..][..bytes.len()].copy_from_slice(bytes);
        (self.length, self.at) = (bytes.len(), at);
    }

    fn bytes(&self) -> &[u8] {
        &self.memory[self.begins..][..self.length]
    }
}

/// A body on its way into pieces, the next of which begins at `next`.
struct Filler<'a> {
    bytes: &'a [u8],
    next: usize,
    /// Of a block, and where the first is in the file.
    size: usize,
    first: u64,
    sums: &'a mut [u128],
    /// So many blocks have theirs.
    summed: usize,
}

impl Filler<'_> {
    /// Fills a piece with what comes next, and sums the blocks that begin there; whether there is anything left.
    fn fill(&mut self, piece: &mut Piece) -> bool {
        let end = self.bytes.len().min(self.next.saturating_add(PIECE));
        if self.next >= end {
            return false;
        }
        let blocks = end.div_ceil(self.size);
        let begin = self.bytes.len().min(self.summed * self.size);
        let behind = self.bytes.len().min(blocks * self.size);
        xxh3_of_blocks(
            &self.bytes[begin..behind],
            self.size,
            &mut self.sums[self.summed..blocks],
        );
        piece.take(&self.bytes[self.next..end], self.first + self.next as u64);
        (self.next, self.summed) = (end, blocks);
        true
    }
}

/// Writes a body past the cache. One thread writes, as a disk takes one large write sooner than several; another one fills the
/// next piece meanwhile, and computes the checksums of what is in it.
fn write_past_the_cache(
    direct: &File,
    file: &File,
    bytes: &[u8],
    size: usize,
    first: u64,
) -> io::Result<Vec<u128>> {
    let mut sums = vec![0; bytes.len().div_ceil(size)];
    // Up to where a page of the file begins.
    let head = bytes
        .len()
        .min((first.next_multiple_of(PAGE as u64) - first) as usize);
    file.write_all_at(&bytes[..head], first)?;
    let mut filler = Filler {
        bytes,
        next: head,
        size,
        first,
        sums: &mut sums,
        summed: 0,
    };
    let side_by_side = (parallel::helpers(bytes.len()) > 0).then(|| while_filled(direct, file, &mut filler));
    match side_by_side.flatten() {
        Some(written) => written?,
        None => {
            let mut piece = Piece::new();
            while filler.fill(&mut piece) {
                put(direct, file, piece.bytes(), piece.at)?;
            }
        }
    }
    // A body that ends in its first page, of which there was nothing to fill.
    let Filler {
        sums: left, summed, ..
    } = filler;
    if let (Some(bytes), Some(left)) = (bytes.get(summed * size..), left.get_mut(summed..)) {
        xxh3_of_blocks(bytes, size, left);
    }
    Ok(sums)
}

/// Writes pieces while another thread fills them; `None` if the system has no other thread.
fn while_filled(direct: &File, file: &File, filler: &mut Filler<'_>) -> Option<io::Result<()>> {
    let (fills, filled): (SyncSender<Piece>, Receiver<Piece>) = sync_channel(PIECES);
    let (gives_back, empty) = sync_channel(PIECES);
    for _ in 0..PIECES {
        let _ = gives_back.send(Piece::new());
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("ckpt-copy".into());
        let work = move || {
            // It ends when all is filled, or nobody wants more.
            for mut piece in empty {
                if !filler.fill(&mut piece) || fills.send(piece).is_err() {
                    break;
                }
            }
        };
        thread.spawn_scoped(scope, work).ok()?;
        for piece in filled {
            if let Err(error) = put(direct, file, piece.bytes(), piece.at) {
                return Some(Err(error));
            }
            let _ = gives_back.send(piece);
        }
        drop(gives_back);
        Some(Ok(()))
    })
}

/// Writes bytes to a place that is a multiple of a page: whole pages past the cache, the rest through it. So goes what the disk has
/// taken in part, or not at all because it wants larger multiples.
fn put(direct: &File, file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    let whole = bytes.len() / PAGE * PAGE;
    let mut done = 0;
    while done < whole {
        match direct.write_at(&bytes[done..whole], at + done as u64) {
            Ok(written) if written >= PAGE => done += written / PAGE * PAGE,
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => break,
            Err(error) => return Err(error),
        }
    }
    file.write_all_at(&bytes[done..], at + done as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::checksum::xxh3;

    fn new_file(path: &Path) -> File {
        let mut options = File::options();
        options
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .unwrap()
    }

    #[test]
    fn both_ways_are_tried_and_the_faster_stays() {
        let seconds = Duration::from_secs;
        let all = |direct_takes: u64, bytes: u64| {
            let mut ways = Ways::default();
            let mut went = Vec::new();
            for _ in 0..6 {
                let direct = ways.goes_direct(Direct::Auto);
                ways.learn(direct, bytes, seconds(if direct { direct_takes } else { 10 }));
                went.push(direct);
            }
            went
        };
        let (cached, direct) = (false, true);
        assert_eq!(all(5, TELLING), [cached, direct, cached, direct, direct, direct]);
        assert_eq!(all(9, TELLING), [cached, direct, cached, direct, cached, cached]);
        assert_eq!(all(5, TELLING - 1), [cached; 6]);
        let cannot = Ways {
            cannot: true,
            ..Ways::default()
        };
        assert!(!cannot.goes_direct(Direct::On) && Ways::default().goes_direct(Direct::On));
        assert!(!Ways::default().goes_direct(Direct::Off));
    }

    #[test]
    fn a_body_is_where_it_would_be_otherwise() {
        // Where the folder is in memory nothing goes past a cache, and the bytes have to be there all the same.
        let folder = tempfile::tempdir().unwrap();
        for (number, (length, size, first)) in [
            (3 * PIECE + 12_345, 261_120, 4608),
            (3 * PIECE, 65_536, 4096),
            (PIECE + 1, 100_000, 512),
            (2 * PAGE, 4096, 4095),
            (3000, 4096, 512),
            (PIECE / 2, 65_536, 1),
        ]
        .into_iter()
        .enumerate()
        {
            let path = folder.path().join(number.to_string());
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8 | 1).collect();
            let file = new_file(&path);
            let mut route = Route::new(Direct::On, &Arc::default());
            let sums = route.write_and_sum((&file, &path), &bytes, size, first).unwrap();
            assert_eq!(sums, bytes.chunks(size).map(xxh3).collect::<Vec<_>>(), "{length}");
            let mut read = vec![0; length + 1];
            let count = file.read_at(&mut read, first).unwrap();
            assert!(count == length && read[..length] == bytes, "{length} at {first}");
        }
    }

    #[test]
    fn what_the_disk_does_not_take_past_the_cache_goes_through_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = new_file(&path);
        let Ok(direct) = files::open_as(&path, OFlags::WRONLY | OFlags::DIRECT) else {
            return;
        };
        let bytes = vec![7; 3 * PAGE + 5];
        // Neither the memory nor the place is a multiple of anything.
        put(&direct, &file, &bytes[1..], 3).unwrap();
        let mut read = vec![0; bytes.len() + 3];
        assert_eq!(file.read_at(&mut read, 0).unwrap(), bytes.len() + 2);
        assert!(read[3..bytes.len() + 2].iter().all(|byte| *byte == 7));
        let closed = files::open(&path).unwrap();
        assert!(
            put(&closed, &file, &bytes, 0).is_err(),
            "it is opened to be read only"
        );
    }
}
