//! Datasets that are not one piece: in chunks that may be missing or compressed, and virtual ones, whose parts are in
//! other datasets and files.

use std::ffi::CString;
use std::sync::OnceLock;

use hdf5_metno_sys as sys;

use super::StoreError;
use super::coding::Coding;
use super::hdf5::{Id, Structure, Type, c_string, failure, id, locked};
use super::library::h5;

/// A part of a virtual dataset: rows that are those of another dataset of the same shape.
pub(super) struct Part {
    /// The file, from the folder of this one; `.` is this one.
    pub file: String,
    pub path: String,
    pub rows: std::ops::Range<u64>,
}

impl Structure {
    /// Makes a dataset in chunks of so many rows. Chunks that are not written are zeros.
    pub fn chunked(
        &self,
        parent: &Id,
        name: &str,
        of: &Type,
        dims: &[u64],
        rows: u64,
        way: Coding,
    ) -> Result<Id, StoreError> {
        let c_name = c_string(name.as_bytes());
        let mut chunk = dims.to_vec();
        // HDF5 takes no chunk that is longer than the dataset.
        chunk[0] = rows.min(dims[0]);
        locked(|| {
            let fail = || failure(&self.path, &format!("make the dataset `{name}`"));
            // SAFETY: the lock is held; the ids are open or checked; `dims` and `chunk` have as many entries as announced.
            unsafe {
                let space = h5!(sys::h5s::H5Screate_simple(
                    dims.len() as i32,
                    dims.as_ptr(),
                    std::ptr::null()
                ));
                let space = id(space).ok_or_else(fail)?;
                let list =
                    id(h5!(sys::h5p::H5Pcreate(h5!(*sys::h5p::H5P_CLS_DATASET_CREATE)))).ok_or_else(fail)?;
                let mut status = vec![
                    h5!(sys::h5p::H5Pset_obj_track_times(list.0, 0)),
                    h5!(sys::h5p::H5Pset_chunk(list.0, chunk.len() as i32, chunk.as_ptr())),
                ];
                if let Coding::Packed { codec, shuffled } = way {
                    if shuffled {
                        status.push(h5!(sys::h5p::H5Pset_shuffle(list.0)));
                    }
                    // Optional: this library need not have the filter, whoever reads the file does.
                    let (flags, level) = (sys::h5z::H5Z_FLAG_OPTIONAL, 1);
                    let values: &[u32] = if codec.filter() == 1 { &[level] } else { &[] };
                    status.push(h5!(sys::h5p::H5Pset_filter(
                        list.0,
                        codec.filter(),
                        flags,
                        values.len(),
                        values.as_ptr(),
                    )));
                }
                if status.iter().any(|&status| status < 0) {
                    return Err(fail());
                }
                let dataset = h5!(sys::h5d::H5Dcreate2(
                    parent.0,
                    c_name.as_ptr(),
                    of.0.0,
                    space.0,
                    0,
                    list.0,
                    0
                ));
                id(dataset).ok_or_else(fail)
            }
        })
    }

    /// Writes the chunk that begins at a row, in its stored form, and returns its place in the file. `way` is how the dataset
    /// is packed, `packed` whether this chunk is.
    pub fn chunk(
        &self,
        dataset: &Id,
        dims: usize,
        row: u64,
        stored: &[u8],
        (way, packed): (Coding, bool),
    ) -> Result<u64, StoreError> {
        let base = addresses_begin_at()?;
        let mut at = vec![0; dims];
        at[0] = row;
        let filters = match way {
            Coding::Raw => 0,
            Coding::Packed { shuffled, .. } => 1 + u32::from(shuffled),
        };
        // A bit says that a filter was passed over.
        let mask = if packed { 0 } else { (1 << filters) - 1 };
        locked(|| {
            let (mut address, mut size, mut found) = (0, 0, 0);
            // SAFETY: the lock is held; the dataset is open and of `dims` dimensions; `stored` has the length given.
            let status = unsafe {
                let data = stored.as_ptr().cast();
                match h5!(sys::h5d::H5Dwrite_chunk(
                    dataset.0,
                    0,
                    mask,
                    at.as_ptr(),
                    stored.len(),
                    data
                )) {
                    0.. => h5!(sys::h5d::H5Dget_chunk_info_by_coord(
                        dataset.0,
                        at.as_ptr(),
                        &mut found,
                        &mut address,
                        &mut size,
                    )),
                    failed => failed,
                }
            };
            if status < 0 || size != stored.len() as u64 {
                return Err(failure(&self.path, "write a chunk"));
            }
            Ok(base + address)
        })
    }

    /// Makes a dataset whose rows are those of others; rows of none are zeros.
    pub fn assembled(
        &self,
        parent: &Id,
        name: &str,
        of: &Type,
        dims: &[u64],
        parts: &[Part],
    ) -> Result<Id, StoreError> {
        let c_name = c_string(name.as_bytes());
        locked(|| {
            let fail = || failure(&self.path, &format!("make the dataset `{name}`"));
            // SAFETY: the lock is held; the ids are open or checked; all arrays have as many entries as there are dimensions;
            // the strings outlive the calls.
            unsafe {
                let space = || {
                    let made = h5!(sys::h5s::H5Screate_simple(
                        dims.len() as i32,
                        dims.as_ptr(),
                        std::ptr::null()
                    ));
                    id(made).ok_or_else(fail)
                };
                let list =
                    id(h5!(sys::h5p::H5Pcreate(h5!(*sys::h5p::H5P_CLS_DATASET_CREATE)))).ok_or_else(fail)?;
                let whole = space()?;
                if h5!(sys::h5p::H5Pset_obj_track_times(list.0, 0)) < 0 {
                    return Err(fail());
                }
                for part in parts {
                    let (mut start, mut count) = (vec![0; dims.len()], dims.to_vec());
                    start[0] = part.rows.start;
                    count[0] = part.rows.end - part.rows.start;
                    let selected = space()?;
                    let status = h5!(sys::h5s::H5Sselect_hyperslab(
                        selected.0,
                        sys::h5s::H5S_seloper_t::H5S_SELECT_SET,
                        start.as_ptr(),
                        std::ptr::null(),
                        count.as_ptr(),
                        std::ptr::null(),
                    ));
                    // A percent sign begins a pattern.
                    let plain = |name: &str| c_string(name.replace('%', "%%").as_bytes());
                    let (file, path): (CString, CString) = (plain(&part.file), plain(&part.path));
                    let (file, path) = (file.as_ptr(), path.as_ptr());
                    if status < 0
                        || h5!(sys::h5p::H5Pset_virtual(
                            list.0, selected.0, file, path, selected.0
                        )) < 0
                    {
                        return Err(fail());
                    }
                }
                let dataset = h5!(sys::h5d::H5Dcreate2(
                    parent.0,
                    c_name.as_ptr(),
                    of.0.0,
                    whole.0,
                    0,
                    list.0,
                    0
                ));
                id(dataset).ok_or_else(fail)
            }
        })
    }
}

/// What has to be added to the addresses of chunks: older versions of the library count from the end of the user block,
/// newer ones from the beginning of the file. Found out once, with a file in memory.
fn addresses_begin_at() -> Result<u64, StoreError> {
    static BASE: OnceLock<Option<u64>> = OnceLock::new();
    BASE.get_or_init(probe).ok_or_else(|| StoreError::Hdf5 {
        action: "tell where a chunk is".into(),
        path: "a file in memory".into(),
        why: "its version is unknown; 1.10.5 or newer is needed".into(),
    })
}

fn probe() -> Option<u64> {
    const PATTERN: &[u8; 16] = b"where is a chunk";
    let block = super::hdf5::USER_BLOCK;
    locked(|| {
        // SAFETY: the lock is held; every id is checked before it is used; buffers are as long as announced.
        unsafe {
            let creation = id(h5!(sys::h5p::H5Pcreate(h5!(*sys::h5p::H5P_CLS_FILE_CREATE))))?;
            let access = id(h5!(sys::h5p::H5Pcreate(h5!(*sys::h5p::H5P_CLS_FILE_ACCESS))))?;
            let list = id(h5!(sys::h5p::H5Pcreate(h5!(*sys::h5p::H5P_CLS_DATASET_CREATE))))?;
            h5!(sys::h5p::H5Pset_userblock(creation.0, block));
            h5!(sys::h5p::H5Pset_fapl_core(access.0, 1 << 16, 0));
            h5!(sys::h5p::H5Pset_chunk(list.0, 1, &16));
            let name = c"ckpt: where is a chunk";
            let file = h5!(sys::h5f::H5Fcreate(
                name.as_ptr(),
                sys::h5f::H5F_ACC_TRUNC,
                creation.0,
                access.0
            ));
            let file = id(file)?;
            let space = id(h5!(sys::h5s::H5Screate_simple(1, &16, std::ptr::null())))?;
            let of = h5!(*sys::h5t::H5T_STD_U8LE);
            let dataset = id(h5!(sys::h5d::H5Dcreate2(
                file.0,
                c"x".as_ptr(),
                of,
                space.0,
                0,
                list.0,
                0,
            )))?;
            let (mut address, mut size, mut mask) = (0, 0, 0);
            h5!(sys::h5d::H5Dwrite_chunk(
                dataset.0,
                0,
                0,
                &0,
                16,
                PATTERN.as_ptr().cast()
            ));
            h5!(sys::h5d::H5Dget_chunk_info_by_coord(
                dataset.0,
                &0,
                &mut mask,
                &mut address,
                &mut size
            ));
            h5!(sys::h5f::H5Fflush(
                file.0,
                sys::h5f::H5F_scope_t::H5F_SCOPE_GLOBAL
            ));
            let length = h5!(sys::h5f::H5Fget_file_image(file.0, std::ptr::null_mut(), 0));
            let mut image = vec![0_u8; usize::try_from(length).ok()?];
            h5!(sys::h5f::H5Fget_file_image(
                file.0,
                image.as_mut_ptr().cast(),
                image.len()
            ));
            // The image may leave the user block out; the file begins with its signature behind that.
            let start = image
                .windows(8)
                .position(|window| window == b"\x89HDF\r\n\x1a\n")?;
            let found = image.windows(16).position(|window| window == PATTERN)?;
            let place = (found - start) as u64 + block;
            [0, block].into_iter().find(|base| base + address == place)
        }
    })
}
