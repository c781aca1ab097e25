//! Datasets whose filter this HDF5 does not have, read chunk by chunk: HDF5 says what is stored, ckpt unpacks it.

use hdf5_metno_sys as sys;

use super::coding::{Coding, Compression};
use super::hdf5::{Id, id};
use super::library::h5;

unsafe extern "C" {
    /// HDF5 1.10.2 and newer; the binding does not have it.
    fn H5Dget_chunk_storage_size(
        dataset: sys::h5i::hid_t,
        offset: *const sys::h5::hsize_t,
        bytes: *mut sys::h5::hsize_t,
    ) -> sys::h5::herr_t;
}

/// HDF5's number of the shuffle filter.
const SHUFFLE: i32 = 2;

/// How the chunks of a dataset are stored.
struct Chunks {
    dims: Vec<u64>,
    chunk: Vec<u64>,
    filters: Vec<i32>,
}

/// All bytes of a dataset of `bytes` with elements of `element`; `None` if it is not in chunks of whole rows, or packed in
/// another way than ckpt's.
///
/// # Safety
/// HDF5's lock is held, and `dataset` is open.
pub(super) unsafe fn read(dataset: &Id, element: usize, bytes: u64) -> Option<Vec<u8>> {
    // SAFETY: the caller's promise.
    let chunks = unsafe { Chunks::of(dataset) }?;
    let size = chunks.bytes(element)?;
    let mut all = Vec::new();
    for row in (0..*chunks.dims.first()?).step_by(usize::try_from(*chunks.chunk.first()?).ok()?) {
        // SAFETY: as above.
        all.extend(unsafe { chunks.read(dataset, row, element, size) }?);
    }
    // The last chunk is filled up.
    all.truncate(usize::try_from(bytes).ok()?);
    (all.len() as u64 == bytes).then_some(all)
}

/// Whether the chunks of a dataset, unpacked as `way` says and not as the file does, hold these bytes of elements of `element`, in blocks
/// of so many bytes, of each of which `is_stored` something is stored. `None` if it is not in chunks of whole rows.
///
/// # Safety
/// As [`read`].
pub(super) unsafe fn holds(
    dataset: &Id,
    element: usize,
    (bytes, block): (&[u8], usize),
    way: Option<Coding>,
    is_stored: impl Fn(usize) -> bool,
) -> Option<bool> {
    // SAFETY: the caller's promise.
    let chunks = unsafe { Chunks::of(dataset) }?;
    let size = chunks.bytes(element)?;
    if size != block {
        return Some(false);
    }
    let rows = (0..*chunks.dims.first()?).step_by(usize::try_from(*chunks.chunk.first()?).ok()?);
    let mut parts = bytes.chunks(size.max(1));
    let holds = |(number, row)| {
        let part = parts.next()?;
        // SAFETY: as above.
        let (stored, left_out) = unsafe { chunks.stored(dataset, row) }?;
        let all = match way {
            _ if stored.is_empty() => (!is_stored(number)).then(|| vec![0; size]),
            // Whatever filter was left out, the chunk is as long as its values.
            _ if left_out != 0 => (stored.len() == size).then_some(stored),
            Some(way) => way.unpack(&stored, element, size),
            None => return Some(()),
        };
        // The last chunk is filled up.
        all.is_some_and(|all| all[..part.len()] == *part).then_some(())
    };
    Some(rows.enumerate().map(holds).all(|one| one.is_some()))
}

impl Chunks {
    /// # Safety
    /// As [`read`].
    unsafe fn of(dataset: &Id) -> Option<Chunks> {
        const MOST: usize = 32;
        let (mut dims, mut chunk) = (vec![0_u64; MOST], vec![0_u64; MOST]);
        // SAFETY: the lock is held; ids are checked before use; both lists have room for the most dimensions that HDF5
        // knows; what is not wanted of a filter is null.
        unsafe {
            let space = id(h5!(sys::h5d::H5Dget_space(dataset.0)))?;
            let list = id(h5!(sys::h5d::H5Dget_create_plist(dataset.0)))?;
            let rank = h5!(sys::h5s::H5Sget_simple_extent_dims(
                space.0,
                dims.as_mut_ptr(),
                std::ptr::null_mut()
            ));
            let of_chunk = h5!(sys::h5p::H5Pget_chunk(list.0, MOST as i32, chunk.as_mut_ptr()));
            let rank = usize::try_from(rank)
                .ok()
                .filter(|rank| *rank > 0 && of_chunk == *rank as i32)?;
            let filter = |number: i32| {
                let (mut flags, mut values, mut config) = (0, 0, 0);
                let nothing = std::ptr::null_mut();
                h5!(sys::h5p::H5Pget_filter2(
                    list.0,
                    number as u32,
                    &raw mut flags,
                    &raw mut values,
                    nothing,
                    0,
                    std::ptr::null_mut(),
                    &raw mut config,
                ))
            };
            let filters = (0..h5!(sys::h5p::H5Pget_nfilters(list.0))).map(filter).collect();
            dims.truncate(rank);
            chunk.truncate(rank);
            Some(Chunks { dims, chunk, filters })
        }
    }

    /// Bytes of a chunk, if it is one of whole rows.
    fn bytes(&self, element: usize) -> Option<usize> {
        let is_of_rows = self.dims[1..] == self.chunk[1..] && self.chunk[0] > 0;
        let elements = self
            .chunk
            .iter()
            .try_fold(1_u64, |all, one| all.checked_mul(*one))?;
        let bytes = usize::try_from(elements).ok()?.checked_mul(element)?;
        is_of_rows.then_some(bytes)
    }

    /// The chunk that begins at a row; zeros where there is none.
    ///
    /// # Safety
    /// As [`read`].
    unsafe fn read(&self, dataset: &Id, row: u64, element: usize, size: usize) -> Option<Vec<u8>> {
        // SAFETY: the caller's promise.
        let (stored, left_out) = unsafe { self.stored(dataset, row) }?;
        if stored.is_empty() {
            return Some(vec![0; size]);
        }
        self.way(left_out)?.map_or_else(
            || (stored.len() == size).then(|| stored.clone()),
            |way| way.unpack(&stored, element, size),
        )
    }

    /// What is stored of the chunk that begins at a row, and which filters were not used for it; nothing where there is none.
    ///
    /// # Safety
    /// As [`read`].
    unsafe fn stored(&self, dataset: &Id, row: u64) -> Option<(Vec<u8>, u32)> {
        let mut at = vec![0; self.dims.len()];
        at[0] = row;
        let (mut length, mut left_out) = (0, 0);
        // SAFETY: the lock is held, the dataset is open, and there is an offset for every dimension.
        if unsafe { h5!(H5Dget_chunk_storage_size(dataset.0, at.as_ptr(), &raw mut length)) } < 0 {
            return None;
        }
        if length == 0 {
            return Some((Vec::new(), 0));
        }
        let mut stored = vec![0_u8; usize::try_from(length).ok()?];
        let to = stored.as_mut_ptr().cast();
        // SAFETY: as above; `stored` has as many bytes as HDF5 says that it will write.
        if unsafe {
            h5!(sys::h5d::H5Dread_chunk1(
                dataset.0,
                0,
                at.as_ptr(),
                &raw mut left_out,
                to
            ))
        } < 0
        {
            return None;
        }
        Some((stored, left_out))
    }

    /// What was done to a chunk for which the filters in `left_out` were not used: nothing, or one of ckpt's ways.
    fn way(&self, left_out: u32) -> Option<Option<Coding>> {
        let (mut shuffled, mut codec) = (false, None);
        for (number, filter) in self.filters.iter().enumerate() {
            if left_out & (1 << number) != 0 {
                continue;
            }
            match *filter {
                SHUFFLE => shuffled = true,
                other => codec = Some(Compression::of_filter(other)?),
            }
        }
        match (codec, shuffled) {
            (Some(codec), shuffled) => Some(Some(Coding::Packed { codec, shuffled })),
            (None, false) => Some(None),
            (None, true) => None,
        }
    }
}
