//! Large lists in blocks: zeros that are stored nowhere, blocks that an earlier checkpoint has, compressed ones. All come
//! back, through ckpt and through the HDF5 library, and what others build on is neither removed nor replaced unnoticed.

mod common;
#[path = "../../tests/harness/src/skipped.rs"]
mod skipped;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::Path;

use ckpt::store::{
    CheckpointId, Compression, Keep, Mode, Node, NodeKind, Restored, Store, StoreError, Storing,
};
use common::{PLAN, meta};
use hdf5_metno_sys::{h5d, h5f, h5s, h5t};

const CODECS: [Option<Compression>; 4] = [
    None,
    Some(Compression::Deflate),
    Some(Compression::Lz4),
    Some(Compression::Zstd),
];

/// What a program could have.
#[derive(Clone, PartialEq, Debug)]
struct State {
    /// Islands in zeros.
    sparse: Vec<f64>,
    noise: Vec<u64>,
    smooth: Vec<[f32; 3]>,
    /// Columns of many values: not taken in blocks, stored in blocks.
    pairs: Vec<(u32, bool)>,
    zeros: Vec<i16>,
    name: String,
}

fn noise(count: usize) -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    std::iter::repeat_with(next).take(count).collect()
}

impl State {
    fn new() -> State {
        let mut sparse = vec![0.0; 400_000];
        for at in (5..sparse.len()).step_by(70_000) {
            sparse[at] = at as f64;
        }
        State {
            sparse,
            noise: noise(300_001),
            smooth: (0..200_003).map(|n| [n as f32, n as f32 / 2.0, 1.0]).collect(),
            pairs: (0..90_000).map(|n| (n, n % 3 == 0)).collect(),
            zeros: vec![0; 600_000],
            name: "x".repeat(100_000),
        }
    }

    fn change(&mut self, round: usize) {
        self.noise[round * 40_000] ^= 1;
        self.sparse[round * 1000] += 1.0;
        self.smooth[100_000 + round][1] += 1.0;
        self.pairs[round].0 += 7;
    }

    fn commit(&self, store: &mut Store) -> CheckpointId {
        let mut builder = store.snapshot();
        let frame = builder.frame(&PLAN, 1);
        builder.value(frame, "sparse", 1, None, &self.sparse);
        builder.value(frame, "50% noise", 2, None, &self.noise);
        builder.value(frame, "smooth", 3, None, &self.smooth);
        builder.value(frame, "pairs", 4, None, &self.pairs);
        builder.value(frame, "zeros", 5, None, &self.zeros);
        builder.value(frame, "name", 6, None, &self.name);
        store.commit(&builder.finish().unwrap(), &meta()).unwrap()
    }

    fn of(restored: &Restored) -> State {
        State {
            sparse: restored.decode(0, "sparse").unwrap(),
            noise: restored.decode(0, "50% noise").unwrap(),
            smooth: restored.decode(0, "smooth").unwrap(),
            pairs: restored.decode(0, "pairs").unwrap(),
            zeros: restored.decode(0, "zeros").unwrap(),
            name: restored.decode(0, "name").unwrap(),
        }
    }
}

fn store_in(folder: &Path, full_every: u32, compression: Option<Compression>) -> Store {
    let mut store = Store::open(folder, Mode::ReadWrite).unwrap();
    store.set_storing(Storing {
        compression,
        full_every,
    });
    store.set_keep(Keep::All);
    store
}

/// Datasets by their paths as HDF5 reads them. What HDF5 does not fill is `0xee`.
fn through_hdf5(path: &Path, restored: &Restored) -> BTreeMap<String, Vec<u8>> {
    let _guard = hdf5_metno_sys::LOCK.lock();
    let name = CString::new(path.to_str().unwrap()).unwrap();
    let mut all = BTreeMap::new();
    // SAFETY: the lock is held, names outlive the calls, buffers are as long as the datasets.
    unsafe {
        let file = h5f::H5Fopen(name.as_ptr(), h5f::H5F_ACC_RDONLY, 0);
        assert!(file >= 0);
        let mut nodes = vec![restored.tree()];
        while let Some(node) = nodes.pop() {
            nodes.extend(node.children());
            let NodeKind::Dataset { bytes, .. } = node.kind else {
                continue;
            };
            let path = node.path.replace('%', "%25");
            let path = CString::new(path).unwrap();
            let dataset = h5d::H5Dopen2(file, path.as_ptr(), 0);
            assert!(dataset >= 0, "{path:?}");
            let of = h5d::H5Dget_type(dataset);
            let space = h5d::H5Dget_space(dataset);
            let count = h5s::H5Sget_simple_extent_npoints(space) as usize;
            assert_eq!(count * h5t::H5Tget_size(of), bytes as usize, "{path:?}");
            let mut buffer = vec![0xee_u8; bytes as usize];
            assert!(
                h5d::H5Dread(dataset, of, 0, 0, 0, buffer.as_mut_ptr().cast()) >= 0,
                "{path:?}"
            );
            all.insert(node.path.clone(), buffer);
            h5s::H5Sclose(space);
            h5t::H5Tclose(of);
            h5d::H5Dclose(dataset);
        }
        h5f::H5Fclose(file);
    }
    all
}

/// The same through ckpt.
fn through_ckpt(restored: &Restored) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut nodes: Vec<&Node> = vec![restored.tree()];
    while let Some(node) = nodes.pop() {
        nodes.extend(node.children());
        if let NodeKind::Dataset { .. } = node.kind {
            all.insert(node.path.clone(), restored.bytes(node, 0, u64::MAX).unwrap());
        }
    }
    all
}

/// HDF5 needs plugins for what it did not make itself.
fn hdf5_reads(compression: Option<Compression>) -> bool {
    matches!(compression, None | Some(Compression::Deflate))
}

#[test]
fn a_state_comes_back_however_it_is_stored() {
    for compression in CODECS {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store_in(folder.path(), 1, compression);
        let state = State::new();
        let id = state.commit(&mut store);
        let restored = store.load(id).unwrap();
        assert!(State::of(&restored) == state, "{compression:?}");
        if hdf5_reads(compression) {
            let (ours, theirs) = (through_ckpt(&restored), through_hdf5(restored.path(), &restored));
            assert!(ours == theirs, "{compression:?}");
        }
        // `sparse` has six islands, `zeros` nothing; `noise` does not get smaller.
        let all = 400_000 * 8 + 300_001 * 8 + 200_003 * 12 + 90_000 * 5 + 600_000 * 2 + 100_000;
        let stored = restored.file_bytes();
        assert!(
            stored < all - 400_000 * 8 - 600_000 * 2 + 200_000,
            "{compression:?}: {stored}"
        );
        if compression.is_some() {
            assert!(stored < 300_001 * 8 + 1_000_000, "{compression:?}: {stored}");
        }
    }
}

#[test]
fn zeros_take_no_room() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_in(folder.path(), 1, None);
    let mut state = vec![0.0_f64; 8 << 20];
    state[1_000_000..1_008_000].fill(1.5);
    let mut builder = store.snapshot();
    let frame = builder.frame(&PLAN, 1);
    builder.value(frame, "x", 1, None, &state);
    let id = store.commit(&builder.finish().unwrap(), &meta()).unwrap();
    let restored = store.load(id).unwrap();
    assert!(restored.file_bytes() < 200_000, "{}", restored.file_bytes());
    assert!(restored.decode::<Vec<f64>>(0, "x").unwrap() == state);
}

#[test]
fn only_what_has_changed_is_stored_again() {
    for compression in CODECS {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store_in(folder.path(), 4, compression);
        let mut state = State::new();
        let mut states = Vec::new();
        for round in 0..6 {
            let id = state.commit(&mut store);
            states.push((id, state.clone()));
            state.change(round);
        }
        let needs: Vec<usize> = store
            .list()
            .unwrap()
            .iter()
            .map(|entry| entry.needs.len())
            .collect();
        assert_eq!(needs, [0, 1, 2, 3, 0, 1], "{compression:?}");
        for (id, state) in &states {
            store.verify(*id).unwrap();
            let restored = store.load(*id).unwrap();
            assert!(State::of(&restored) == *state, "{compression:?}: {id}");
            if hdf5_reads(compression) {
                let (ours, theirs) = (through_ckpt(&restored), through_hdf5(restored.path(), &restored));
                assert!(ours == theirs, "{compression:?}: {id}");
            }
        }
        let sizes: Vec<u64> = store.list().unwrap().iter().map(|entry| entry.bytes).collect();
        assert!(sizes[1] * 2 < sizes[0], "{compression:?}: {sizes:?}");
    }
}

#[test]
fn retention_never_breaks_a_chain() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_in(folder.path(), 3, None);
    store.set_keep(Keep::Last(2));
    let mut state = State::new();
    for round in 0..7 {
        let id = state.commit(&mut store);
        for id in store.ids().unwrap() {
            store.verify(id).unwrap();
        }
        assert!(State::of(&store.load(id).unwrap()) == state);
        state.change(round);
    }
    let ids: Vec<u64> = store.ids().unwrap().iter().map(|id| id.0).collect();
    // 7 holds everything; 6 is kept, and needs 4 and perhaps 5.
    assert!(ids.starts_with(&[4]) && ids.ends_with(&[6, 7]), "{ids:?}");
    assert!(matches!(
        store.remove(CheckpointId(4)),
        Err(StoreError::Needed {
            id: CheckpointId(4),
            ..
        })
    ));
    store.remove(CheckpointId(6)).unwrap();
}

#[test]
fn a_base_that_is_gone_or_another_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_in(folder.path(), 3, None);
    let mut state = State::new();
    let first = state.commit(&mut store);
    state.change(1);
    let second = state.commit(&mut store);
    let (path, bytes) = (store.path(first), std::fs::read(store.path(first)).unwrap());

    std::fs::remove_file(&path).unwrap();
    let message = store.load(second).unwrap_err().to_string();
    assert!(
        message.contains("checkpoint 000001, which it builds on"),
        "{message}"
    );
    // What is gone is not built upon.
    let third = state.commit(&mut store);
    assert!(State::of(&store.load(third).unwrap()) == state);
    store.remove(third).unwrap();

    let other = tempfile::tempdir().unwrap();
    let mut other = store_in(other.path(), 1, None);
    state.commit(&mut other);
    std::fs::copy(other.path(CheckpointId(1)), &path).unwrap();
    let message = store.load(second).unwrap_err().to_string();
    assert!(message.contains("it is another one than it was"), "{message}");

    // A flipped bit in a block that only the first has.
    for at in (bytes.len() / 4..bytes.len()).step_by(bytes.len() / 7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        std::fs::write(&path, &damaged).unwrap();
        let is_whole = store.load(second).map(|restored| State::of(&restored) == state);
        assert!(is_whole.unwrap_or(true), "{at}");
    }
    std::fs::write(&path, &bytes).unwrap();
    assert!(State::of(&store.load(second).unwrap()) == state);
}

/// The kernel tells what was written to, where it can: whatever a program does to its lists, a checkpoint has them.
#[test]
fn lists_that_are_watched_come_back_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_in(folder.path(), 5, None);
    if let Err(error) = store.watch_pages() {
        skipped::skipped("memory that the kernel watches, of a store", error);
    }
    let mut lists: Vec<Vec<u64>> = [200_000, 300_001, 200_000, 700_007].map(noise).into();
    let gather = |store: &Store, lists: &[Vec<u64>]| {
        let mut builder = store.snapshot();
        let frame = builder.frame(&PLAN, 1);
        for (key, list) in ["a", "b", "c", "d"].into_iter().zip(lists) {
            builder.value(frame, key, 1, None, list);
        }
        builder.finish().unwrap()
    };
    for round in 0..60_usize {
        let snapshot = gather(&store, &lists);
        let id = store.commit(&snapshot, &meta()).unwrap();
        let restored = store.load(id).unwrap();
        for (key, list) in ["a", "b", "c", "d"].into_iter().zip(&lists) {
            assert!(
                restored.decode::<Vec<u64>>(0, key).unwrap() == *list,
                "{round}: {key}"
            );
        }
        let at = round * 7919 % 190_000;
        match round % 13 {
            2 => lists.swap(0, 2),
            3 => lists[1] = noise(300_001),
            4 => lists[3].extend(0..round as u64),
            5 => lists[0] = vec![0; 200_000],
            6 => lists[2].fill(round as u64),
            7 => lists[3].rotate_left(3),
            8 => {
                // A checkpoint that comes to nothing.
                lists[0][at] ^= 1;
                drop(gather(&store, &lists));
                lists[1][at] ^= 1;
            }
            9 => drop(store.snapshot()),
            10 => {}
            _ => {
                lists[0][0] += 1;
                lists[1][at] ^= 3;
                lists[3][at..at + 700].reverse();
                *lists[2].last_mut().unwrap() += 1;
            }
        }
    }
}

#[test]
fn a_list_that_grows_or_changes_its_type_is_stored_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_in(folder.path(), 10, None);
    let mut lists: Vec<Vec<u64>> = vec![noise(200_000), noise(300_000)];
    for round in 0..4 {
        let mut builder = store.snapshot();
        let frame = builder.frame(&PLAN, 1);
        for (key, list) in ["a", "b"].into_iter().zip(&lists) {
            match round {
                3 => builder.value(
                    frame,
                    key,
                    1,
                    None,
                    &list.iter().map(|&n| n as i64).collect::<Vec<_>>(),
                ),
                _ => builder.value(frame, key, 1, None, list),
            }
        }
        let id = store.commit(&builder.finish().unwrap(), &meta()).unwrap();
        let restored = store.load(id).unwrap();
        for (key, list) in ["a", "b"].into_iter().zip(&lists) {
            match round {
                3 => assert!(
                    restored
                        .decode::<Vec<i64>>(0, key)
                        .unwrap()
                        .iter()
                        .map(|&n| n as u64)
                        .eq(list.iter().copied())
                ),
                _ => assert!(restored.decode::<Vec<u64>>(0, key).unwrap() == *list),
            }
        }
        match round {
            0 => lists[0].push(1),
            1 => lists.swap(0, 1),
            _ => {}
        }
    }
}
