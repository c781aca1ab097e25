//! The HDF5 library as far as a checkpoint needs it: making the structure of a file. Values are not written through
//! it but straight to the place that it has allotted to each dataset, and nothing is ever read through it.

use std::ffi::{CStr, CString, c_void};
use std::path::{Path, PathBuf};

use hdf5_metno_sys as sys;
use sys::h5e::{
    H5E_DEFAULT, H5E_WALK_DOWNWARD, H5E_auto2_t, H5E_error2_t, H5Eget_auto2, H5Eset_auto2, H5Ewalk2,
};
use sys::h5i::hid_t;
use sys::h5t::*;

use super::StoreError;
use super::library::{self, h5};
use crate::base::own::unobserved;
use crate::base::{files, kept_open};
use crate::value::{DType, Names};

/// Bytes that HDF5 leaves to us at the beginning of the file.
pub(super) const USER_BLOCK: u64 = 512;
/// HDF5 writes its structure in pieces of this size, so that it lies together.
const META_BLOCK: u64 = 4096;

/// An object of the library; closed when dropped.
pub(super) struct Id(pub(super) hid_t);

impl Drop for Id {
    fn drop(&mut self) {
        // SAFETY: the id came from the library, is closed once, and the library's lock is held.
        locked(|| unsafe { h5!(sys::h5i::H5Idec_ref(self.0)) });
    }
}

/// The shape of a dataset.
pub(super) enum Shape<'a> {
    /// No element.
    Null,
    /// One element.
    Single,
    /// A block of elements.
    Block(&'a [u64]),
}

/// A new file whose structure is being made.
pub(super) struct Structure {
    file: Id,
    dataset_list: Id,
    group_list: Id,
    pub(super) path: PathBuf,
}

/// A program that closes what it has not opened does not close a file that is being written.
///
/// # Safety
/// The lock is held, and the ids are open.
unsafe fn keep_open(file: &Id, access: hid_t) {
    let mut handle: *mut c_void = std::ptr::null_mut();
    // SAFETY: the caller's promise; the library gives where it keeps the number of its file, as long as that is open.
    let number = unsafe {
        match h5!(sys::h5f::H5Fget_vfd_handle(file.0, access, &mut handle)) {
            0.. if !handle.is_null() => *handle.cast::<i32>(),
            _ => return,
        }
    };
    kept_open::is_ours_now(number);
}

/// The library is there, for a file that is to be made or changed.
///
/// # Errors
/// It cannot be loaded.
pub(super) fn begin(path: &Path) -> Result<(), StoreError> {
    library::load().map_err(|why| StoreError::Hdf5 {
        action: "start".to_owned(),
        path: path.to_owned(),
        why,
    })
}

/// Runs `work` with the library locked, ready and silent. Somebody has begun before.
pub(super) fn locked<T>(work: impl FnOnce() -> T) -> T {
    static READY: std::sync::Once = std::sync::Once::new();
    let _guard = sys::LOCK.lock();
    READY.call_once(|| {
        // SAFETY: the lock is held. Without its exit handler the library cannot trip over a file that a full disk
        // kept it from closing.
        unsafe {
            h5!(sys::h5::H5dont_atexit());
            h5!(sys::h5::H5open());
        }
    });
    let mut printer: H5E_auto2_t = None;
    let mut data: *mut c_void = std::ptr::null_mut();
    // SAFETY: the lock is held; both out-pointers are valid. The program's own setting is put back below.
    unsafe {
        h5!(H5Eget_auto2(H5E_DEFAULT, &mut printer, &mut data));
        h5!(H5Eset_auto2(H5E_DEFAULT, None, std::ptr::null_mut()));
    }
    // Its files are ckpt's: it may close them.
    let result = unobserved(work);
    // SAFETY: as above.
    unsafe { h5!(H5Eset_auto2(H5E_DEFAULT, printer, data)) };
    result
}

unsafe extern "C" fn collect(_: u32, error: *const H5E_error2_t, messages: *mut c_void) -> i32 {
    // SAFETY: `messages` is the vector given to `H5Ewalk2` below; the library passes a valid error.
    let (messages, error) = unsafe { (&mut *messages.cast::<Vec<String>>(), &*error) };
    if !error.desc.is_null() {
        // SAFETY: a C string that lives as long as the error stack.
        messages.push(
            unsafe { CStr::from_ptr(error.desc) }
                .to_string_lossy()
                .into_owned(),
        );
    }
    0
}

/// What the library said about its last failure, the cause last.
fn reason() -> String {
    let mut messages: Vec<String> = Vec::new();
    // SAFETY: called with the lock held, right after a failed call; `collect` gets the vector it expects.
    unsafe {
        h5!(H5Ewalk2(
            H5E_DEFAULT,
            H5E_WALK_DOWNWARD,
            Some(collect),
            (&raw mut messages).cast(),
        ))
    };
    cause(messages)
}

/// The first of the library's messages, and the one that tells why: that has the number of the system's error. Below it there
/// may be others that the library has got over.
fn cause(mut messages: Vec<String>) -> String {
    let deepest = messages.iter().rposition(|message| !errors(message).is_empty());
    match messages.len() {
        0 => "no reason given".to_owned(),
        1 => messages.remove(0),
        count => {
            let why = &messages[deepest.unwrap_or(count - 1)];
            format!("{}: {}", messages[0], without_details(why))
        }
    }
}

/// What the library says, in one line. What it says of a write that failed has more, of which the first ends with the time of day:
/// of that the number of the system's error is left.
fn without_details(message: &str) -> String {
    let Some((first, _)) = message.split_once('\n') else {
        return message.to_owned();
    };
    let what = first.split(':').next().unwrap_or(first);
    match errors(message).first() {
        Some(number) => format!("{what}, errno = {number}"),
        None => what.to_owned(),
    }
}

impl Structure {
    /// Makes the file at `path`, which must not exist.
    pub fn create(path: &Path) -> Result<Structure, StoreError> {
        begin(path)?;
        locked(|| {
            let fail = |action: &str| failure(path, action);
            let name = c_string(path.as_os_str().as_encoded_bytes());
            // SAFETY: the lock is held; every id is checked before it is used; `name` outlives the call.
            unsafe {
                let creation = id(h5!(sys::h5p::H5Pcreate(h5!(*sys::h5p::H5P_CLS_FILE_CREATE))))
                    .ok_or_else(|| fail("start"))?;
                let access = id(h5!(sys::h5p::H5Pcreate(h5!(*sys::h5p::H5P_CLS_FILE_ACCESS))))
                    .ok_or_else(|| fail("start"))?;
                let dataset_list = id(h5!(sys::h5p::H5Pcreate(h5!(*sys::h5p::H5P_CLS_DATASET_CREATE))))
                    .ok_or_else(|| fail("start"))?;
                let group_list = id(h5!(sys::h5p::H5Pcreate(h5!(*sys::h5p::H5P_CLS_GROUP_CREATE))))
                    .ok_or_else(|| fail("start"))?;
                let order = sys::h5p::H5P_CRT_ORDER_TRACKED | sys::h5p::H5P_CRT_ORDER_INDEXED;
                let settings = [
                    h5!(sys::h5p::H5Pset_userblock(creation.0, USER_BLOCK)),
                    h5!(sys::h5p::H5Pset_link_creation_order(creation.0, order)),
                    h5!(sys::h5p::H5Pset_link_creation_order(group_list.0, order)),
                    h5!(sys::h5p::H5Pset_meta_block_size(access.0, META_BLOCK)),
                    // The store has its own lock, and some parallel file systems have none for HDF5 to take.
                    h5!(sys::h5p::H5Pset_file_locking(access.0, 0, 1)),
                    h5!(sys::h5p::H5Pset_libver_bounds(
                        access.0,
                        sys::h5f::H5F_libver_t::H5F_LIBVER_V18,
                        sys::h5f::H5F_libver_t::H5F_LIBVER_V110,
                    )),
                    // Allotted at once and never filled: the place is known, and only we write to it.
                    h5!(sys::h5p::H5Pset_alloc_time(
                        dataset_list.0,
                        sys::h5d::H5D_alloc_time_t::H5D_ALLOC_TIME_EARLY,
                    )),
                    h5!(sys::h5p::H5Pset_fill_time(
                        dataset_list.0,
                        sys::h5d::H5D_fill_time_t::H5D_FILL_TIME_NEVER,
                    )),
                    // No times of day in the structure: equal states give equal structures.
                    h5!(sys::h5p::H5Pset_obj_track_times(dataset_list.0, 0)),
                    h5!(sys::h5p::H5Pset_obj_track_times(group_list.0, 0)),
                ];
                if settings.iter().any(|&status| status < 0) {
                    return Err(fail("set the properties of a file"));
                }
                let file = id(h5!(sys::h5f::H5Fcreate(
                    name.as_ptr(),
                    sys::h5f::H5F_ACC_EXCL,
                    creation.0,
                    access.0,
                )));
                let file = file.ok_or_else(|| fail("make the file"))?;
                keep_open(&file, access.0);
                files::is_for_its_maker(path).map_err(|error| StoreError::io("make", path, &error))?;
                Ok(Structure {
                    file,
                    dataset_list,
                    group_list,
                    path: path.to_owned(),
                })
            }
        })
    }

    /// The root group.
    pub fn root(&self) -> &Id {
        &self.file
    }

    /// Makes a group.
    pub fn group(&self, parent: &Id, name: &str) -> Result<Id, StoreError> {
        let c_name = c_string(name.as_bytes());
        locked(|| {
            // SAFETY: the lock is held, the ids are open, the name outlives the call.
            let group = unsafe {
                h5!(sys::h5g::H5Gcreate2(
                    parent.0,
                    c_name.as_ptr(),
                    0,
                    self.group_list.0,
                    0
                ))
            };
            id(group).ok_or_else(|| failure(&self.path, &format!("make the group `{name}`")))
        })
    }

    /// Makes a dataset and returns the offset in the file that is allotted to its values.
    pub fn dataset(
        &self,
        parent: &Id,
        name: &str,
        of: &Type,
        shape: &Shape<'_>,
    ) -> Result<(Id, u64), StoreError> {
        let c_name = c_string(name.as_bytes());
        locked(|| {
            let fail = || failure(&self.path, &format!("make the dataset `{name}`"));
            // SAFETY: the lock is held; the ids are open or checked; `dims` has as many entries as announced; a null
            // pointer for the maximal shape means the shape itself.
            unsafe {
                let space = id(match shape {
                    Shape::Null => h5!(sys::h5s::H5Screate(sys::h5s::H5S_class_t::H5S_NULL)),
                    Shape::Single => h5!(sys::h5s::H5Screate(sys::h5s::H5S_class_t::H5S_SCALAR)),
                    Shape::Block(dims) => {
                        h5!(sys::h5s::H5Screate_simple(
                            dims.len() as i32,
                            dims.as_ptr(),
                            std::ptr::null()
                        ))
                    }
                })
                .ok_or_else(fail)?;
                let list = self.dataset_list.0;
                let dataset = h5!(sys::h5d::H5Dcreate2(
                    parent.0,
                    c_name.as_ptr(),
                    of.0.0,
                    space.0,
                    0,
                    list,
                    0
                ));
                let dataset = id(dataset).ok_or_else(fail)?;
                let offset = h5!(sys::h5d::H5Dget_offset(dataset.0));
                Ok((dataset, offset))
            }
        })
    }

    /// Makes a dataset that has no name yet, and returns the offset in the file that is allotted to its values.
    pub fn unnamed(&self, of: &Type, dims: &[u64]) -> Result<(Id, u64), StoreError> {
        locked(|| {
            let fail = || failure(&self.path, "make a dataset");
            // SAFETY: as in `dataset`.
            unsafe {
                let space = h5!(sys::h5s::H5Screate_simple(
                    dims.len() as i32,
                    dims.as_ptr(),
                    std::ptr::null()
                ));
                let space = id(space).ok_or_else(fail)?;
                let list = self.dataset_list.0;
                let dataset = id(h5!(sys::h5d::H5Dcreate_anon(
                    self.file.0,
                    of.0.0,
                    space.0,
                    list,
                    0
                )))
                .ok_or_else(fail)?;
                let offset = h5!(sys::h5d::H5Dget_offset(dataset.0));
                Ok((dataset, offset))
            }
        })
    }

    /// Gives a dataset its name.
    pub fn name(&self, object: &Id, parent: &Id, name: &str) -> Result<(), StoreError> {
        let c_name = c_string(name.as_bytes());
        locked(|| {
            // SAFETY: the lock is held, the ids are open, the name outlives the call.
            let status = unsafe { h5!(sys::h5o::H5Olink(object.0, parent.0, c_name.as_ptr(), 0, 0)) };
            done(status).ok_or_else(|| failure(&self.path, &format!("name the dataset `{name}`")))
        })
    }

    /// Gives an object a text attribute.
    pub fn text(&self, object: &Id, name: &str, text: &str) -> Result<(), StoreError> {
        // HDF5 keeps an attribute in one message of at most 64 KiB.
        let end = (0..=text.len().min(60_000))
            .rev()
            .find(|&end| text.is_char_boundary(end))
            .unwrap_or(0);
        let text = &text[..end];
        let of = Type::new(&DType::Text, text.len().max(1), &self.path)?;
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(text.len().max(1), 0);
        self.attribute(object, name, &of, &bytes)
    }

    /// Gives an object a whole number as attribute.
    pub fn number(&self, object: &Id, name: &str, number: u64) -> Result<(), StoreError> {
        let of = Type::new(&DType::U64, 1, &self.path)?;
        self.attribute(object, name, &of, &number.to_le_bytes())
    }

    fn attribute(&self, object: &Id, name: &str, of: &Type, bytes: &[u8]) -> Result<(), StoreError> {
        let c_name = c_string(name.as_bytes());
        locked(|| {
            let fail = || failure(&self.path, &format!("make the attribute `{name}`"));
            // SAFETY: the lock is held; the ids are open or checked; `bytes` holds one element of the type.
            unsafe {
                let space =
                    id(h5!(sys::h5s::H5Screate(sys::h5s::H5S_class_t::H5S_SCALAR))).ok_or_else(fail)?;
                let attribute = h5!(sys::h5a::H5Acreate2(
                    object.0,
                    c_name.as_ptr(),
                    of.0.0,
                    space.0,
                    0,
                    0
                ));
                let attribute = id(attribute).ok_or_else(fail)?;
                done(h5!(sys::h5a::H5Awrite(
                    attribute.0,
                    of.0.0,
                    bytes.as_ptr().cast()
                )))
                .ok_or_else(fail)
            }
        })
    }

    /// Makes a soft link `name` to the object at the path `target`.
    pub fn link(&self, parent: &Id, name: &str, target: &str) -> Result<(), StoreError> {
        let c_name = c_string(name.as_bytes());
        let c_target = c_string(target.as_bytes());
        locked(|| {
            // SAFETY: the lock is held, the id is open, the strings outlive the call.
            let status = unsafe {
                h5!(sys::h5l::H5Lcreate_soft(
                    c_target.as_ptr(),
                    parent.0,
                    c_name.as_ptr(),
                    0,
                    0
                ))
            };
            done(status).ok_or_else(|| failure(&self.path, &format!("make the link `{name}`")))
        })
    }

    /// Writes the structure out and closes the file.
    pub fn close(self) -> Result<(), StoreError> {
        let Structure {
            file,
            dataset_list,
            group_list,
            path,
        } = self;
        drop((dataset_list, group_list));
        locked(|| {
            // SAFETY: the lock is held; the id is open and, being forgotten, closed only here.
            let status = unsafe { h5!(sys::h5f::H5Fclose(file.0)) };
            std::mem::forget(file);
            done(status).ok_or_else(|| failure(&path, "write the structure"))
        })
    }
}

/// A datatype in the file.
pub(super) struct Type(pub(super) Id);

impl Type {
    /// The stored form of `dtype`; `size` is the length of a text and has no meaning for the others.
    pub fn new(dtype: &DType, size: usize, path: &Path) -> Result<Type, StoreError> {
        locked(|| {
            // SAFETY: the lock is held; predefined types are copied, what is made here is owned by the result.
            let made = unsafe {
                match dtype {
                    DType::U8 | DType::Unit => id(h5!(H5Tcopy(h5!(*H5T_STD_U8LE)))),
                    DType::U16 => id(h5!(H5Tcopy(h5!(*H5T_STD_U16LE)))),
                    DType::U32 | DType::Char => id(h5!(H5Tcopy(h5!(*H5T_STD_U32LE)))),
                    DType::U64 | DType::Object(_) => id(h5!(H5Tcopy(h5!(*H5T_STD_U64LE)))),
                    DType::I8 => id(h5!(H5Tcopy(h5!(*H5T_STD_I8LE)))),
                    DType::I16 => id(h5!(H5Tcopy(h5!(*H5T_STD_I16LE)))),
                    DType::I32 => id(h5!(H5Tcopy(h5!(*H5T_STD_I32LE)))),
                    DType::I64 => id(h5!(H5Tcopy(h5!(*H5T_STD_I64LE)))),
                    DType::F32 => id(h5!(H5Tcopy(h5!(*H5T_IEEE_F32LE)))),
                    DType::F64 => id(h5!(H5Tcopy(h5!(*H5T_IEEE_F64LE)))),
                    DType::U128 => pair(16, "low", h5!(*H5T_STD_U64LE), "high", h5!(*H5T_STD_U64LE)),
                    DType::I128 => pair(16, "low", h5!(*H5T_STD_U64LE), "high", h5!(*H5T_STD_I64LE)),
                    DType::Complex32 => pair(8, "r", h5!(*H5T_IEEE_F32LE), "i", h5!(*H5T_IEEE_F32LE)),
                    DType::Complex64 => pair(16, "r", h5!(*H5T_IEEE_F64LE), "i", h5!(*H5T_IEEE_F64LE)),
                    DType::Bool => enumeration(h5!(*H5T_STD_I8LE), &["FALSE", "TRUE"]),
                    DType::Variant(names) => variants(names),
                    DType::Text | DType::Record(_) => text(size),
                }
            };
            made.map(Type)
                .ok_or_else(|| failure(path, &format!("make the type {}", dtype.name())))
        })
    }

    /// A table's row: named parts one after the other.
    pub fn record(parts: &[(&str, &Type, usize)], path: &Path) -> Result<Type, StoreError> {
        let size = parts.iter().map(|part| part.2).sum();
        locked(|| {
            // SAFETY: the lock is held, the parts are open types of the sizes given.
            let made = unsafe {
                id(h5!(H5Tcreate(H5T_class_t::H5T_COMPOUND, size))).filter(|row| {
                    let mut offset = 0;
                    parts.iter().all(|(name, part, size)| {
                        let name = c_string(name.as_bytes());
                        let status = h5!(H5Tinsert(row.0, name.as_ptr(), offset, part.0.0));
                        offset += size;
                        status >= 0
                    })
                })
            };
            made.map(Type).ok_or_else(|| failure(path, "make a table"))
        })
    }
}

/// # Safety
/// The lock is held; `first` and `second` are open types.
unsafe fn pair(size: usize, first: &str, first_type: hid_t, second: &str, second_type: hid_t) -> Option<Id> {
    let (first, second) = (c_string(first.as_bytes()), c_string(second.as_bytes()));
    // SAFETY: by the contract of this function.
    unsafe {
        let made = id(h5!(H5Tcreate(H5T_class_t::H5T_COMPOUND, size)))?;
        let status = [
            h5!(H5Tinsert(made.0, first.as_ptr(), 0, first_type)),
            h5!(H5Tinsert(made.0, second.as_ptr(), size / 2, second_type)),
        ];
        status.iter().all(|&status| status >= 0).then_some(made)
    }
}

/// # Safety
/// The lock is held; `base` is a one-byte integer type.
unsafe fn enumeration(base: hid_t, names: &[&str]) -> Option<Id> {
    // SAFETY: by the contract of this function; the value is one byte, as the base type.
    unsafe {
        let made = id(h5!(H5Tenum_create(base)))?;
        let inserted = names.iter().zip(0_i8..).all(|(name, value)| {
            let name = c_string(name.as_bytes());
            h5!(H5Tenum_insert(made.0, name.as_ptr(), (&raw const value).cast())) >= 0
        });
        inserted.then_some(made)
    }
}

/// # Safety
/// The lock is held.
unsafe fn variants(names: &Names) -> Option<Id> {
    // SAFETY: by the contract of this function; values are 4 bytes in the order of the file, as the base type.
    unsafe {
        let made = id(h5!(H5Tenum_create(h5!(*H5T_STD_I32LE))))?;
        let inserted = names.iter().zip(0_u32..).all(|(name, value)| {
            let (name, value) = (c_string(name.as_bytes()), value.to_le_bytes());
            h5!(H5Tenum_insert(made.0, name.as_ptr(), value.as_ptr().cast())) >= 0
        });
        inserted.then_some(made)
    }
}

/// # Safety
/// The lock is held.
unsafe fn text(size: usize) -> Option<Id> {
    // SAFETY: by the contract of this function.
    unsafe {
        let made = id(h5!(H5Tcopy(h5!(*H5T_C_S1))))?;
        let status = [
            h5!(H5Tset_size(made.0, size.max(1))),
            h5!(H5Tset_cset(made.0, H5T_cset_t::H5T_CSET_UTF8)),
            h5!(H5Tset_strpad(made.0, H5T_str_t::H5T_STR_NULLPAD)),
        ];
        status.iter().all(|&status| status >= 0).then_some(made)
    }
}

pub(super) fn id(raw: hid_t) -> Option<Id> {
    // Not made for a number that is none: to drop it would make the library forget why it failed.
    (raw >= 0).then(|| Id(raw))
}

/// Whether the library has done what it was to do.
pub(super) fn done(status: i32) -> Option<()> {
    (status >= 0).then_some(())
}

/// A name for the library. Names reach it without zero bytes; one that has them all the same ends there.
pub(super) fn c_string(bytes: &[u8]) -> CString {
    CString::new(bytes.split(|&byte| byte == 0).next().unwrap_or_default()).unwrap_or_default()
}

/// The numbers of the system's errors in what the library says. It has them in its text alone, but as numbers, whatever language
/// the words beside them are in.
fn errors(why: &str) -> Vec<i32> {
    let numbers = why
        .match_indices("errno = ")
        .map(|(at, sign)| &why[at + sign.len()..]);
    numbers
        .filter_map(|rest| rest.split(',').next()?.parse().ok())
        .collect()
}

/// Whether the disk or what may be used of it is full.
fn is_full(why: &str) -> bool {
    errors(why)
        .iter()
        .any(|&number| number == libc::ENOSPC || number == libc::EDQUOT)
}

pub(super) fn failure(path: &Path, action: &str) -> StoreError {
    let why = reason();
    if is_full(&why) {
        return StoreError::DiskFull {
            path: path.to_owned(),
            needed: 0,
        };
    }
    StoreError::Hdf5 {
        action: action.to_owned(),
        path: path.to_owned(),
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::{cause, is_full};

    #[test]
    fn the_reason_is_the_error_of_the_system() {
        let said = [
            "cannot close",
            "write failed, errno = 5, error message = 'x'",
            "a filter is not there",
        ];
        let said = |count: usize| cause(said[..count].iter().map(|said| said.to_string()).collect());
        assert_eq!(
            said(3),
            "cannot close: write failed, errno = 5, error message = 'x'"
        );
        assert_eq!(said(3), said(2));
        let failed = "file write failed: time = Tue Jan  6 12:00:00 2026\n, filename = 'x', file descriptor = 4, errno = 27, error message = 'File too large', buf = 0x7f, total write size = 9, offset = 0";
        assert_eq!(
            cause(vec!["cannot write".to_owned(), failed.to_owned()]),
            "cannot write: file write failed, errno = 27"
        );
        assert_eq!(
            (said(1).as_str(), said(0).as_str()),
            ("cannot close", "no reason given")
        );
    }

    #[test]
    fn a_full_disk_is_known_by_its_number() {
        let said = |number: &str| {
            format!(
                "unable to write: file write failed: time = Mon, file descriptor = 3, errno = {number}, error message = 'voll', size = 28"
            )
        };
        assert!(is_full(&said("28")) && is_full(&said("122")));
        assert!(!is_full(&said("5")) && !is_full(&said("281")));
        assert!(!is_full("no reason given"));
    }
}
