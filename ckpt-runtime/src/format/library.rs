//! The functions of the HDF5 library, loaded when the first file is made.
//!
//! The library brings forty others along in some distributions, and to load and to link them takes a program ten milliseconds
//! before its `main`. So a program is not linked with it where the build has found its file: [`h5!`](super::h5) asks the loader for
//! each function at its first call. Types and signatures are those of the binding, which the compiler checks: a function of it
//! that is only looked at is not linked. Where the program uses HDF5 itself it is the same library, and the same lock.

use std::sync::atomic::AtomicPtr;
#[cfg(loads_hdf5)]
use std::sync::atomic::Ordering;

/// The address of a function or of a variable of the library, once it has been asked for.
#[cfg_attr(not(loads_hdf5), allow(dead_code, reason = "the program is linked with it"))]
pub(in crate::format) struct Symbol(AtomicPtr<std::ffi::c_void>);

/// A call of a function of the library, or with a star the number that a variable of it has. The lock is held.
#[cfg(loads_hdf5)]
macro_rules! h5 {
    (* $($path:ident)::+) => {{
        static SYMBOL: $crate::format::library::Symbol = $crate::format::library::Symbol::new();
        *SYMBOL.typed(concat!(stringify!($($path)::+), "*"), || $($path)::+)
    }};
    ($($path:ident)::+ ($($argument:expr),* $(,)?)) => {{
        static SYMBOL: $crate::format::library::Symbol = $crate::format::library::Symbol::new();
        SYMBOL.typed(stringify!($($path)::+), || {
            let alike: unsafe extern "C" fn($($crate::format::library::any!($argument)),*) -> _ = $($path)::+;
            alike
        })($($argument),*)
    }};
}

/// The same where the program is linked with it.
#[cfg(not(loads_hdf5))]
macro_rules! h5 {
    (* $($path:ident)::+) => { *$($path)::+ };
    ($($path:ident)::+ ($($argument:expr),* $(,)?)) => { $($path)::+($($argument),*) };
}

/// The type of an argument, which the compiler finds.
#[cfg(loads_hdf5)]
macro_rules! any {
    ($argument:expr) => {
        _
    };
}

#[cfg(loads_hdf5)]
pub(in crate::format) use any;
pub(in crate::format) use h5;

#[cfg(not(loads_hdf5))]
mod linked {
    /// The program has it.
    pub(crate) fn is_at_hand() -> Result<(), String> {
        Ok(())
    }

    /// The program has it.
    pub(in crate::format) fn load() -> Result<(), String> {
        Ok(())
    }
}

#[cfg(not(loads_hdf5))]
pub(crate) use linked::is_at_hand;
#[cfg(not(loads_hdf5))]
pub(super) use linked::load;

#[cfg(loads_hdf5)]
mod loaded {
    use std::ffi::{CStr, CString, c_void};
    use std::path::Path;
    use std::ptr::null_mut;

    use super::{AtomicPtr, Ordering, Symbol};

    /// Where it was when the program was built, by the name that it has for programs.
    const FILE: &str = env!("CKPT_HDF5_LIBRARY");

    /// The library; null until it is loaded.
    static LIBRARY: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

    /// Whether it can be loaded when it is needed: nobody has to know after hours that it cannot. Where its file is not where it
    /// was it is looked for at once.
    ///
    /// # Errors
    /// What the loader says.
    pub(crate) fn is_at_hand() -> Result<(), String> {
        match Path::new(FILE).exists() {
            true => Ok(()),
            false => load(),
        }
    }

    /// Loads it, where that has not been done: one of its name in the places that the loader knows, or that with which the program
    /// was built.
    ///
    /// # Errors
    /// What the loader says.
    pub(in crate::format) fn load() -> Result<(), String> {
        if !LIBRARY.load(Ordering::Acquire).is_null() {
            return Ok(());
        }
        let name = FILE.rsplit('/').next().unwrap_or(FILE);
        let opened = open(name).or_else(|why| open(FILE).map_err(|_| why))?;
        // Two threads may have opened it: it is the same.
        LIBRARY.store(opened, Ordering::Release);
        Ok(())
    }

    fn open(name: &str) -> Result<*mut c_void, String> {
        let name = CString::new(name).map_err(|error| error.to_string())?;
        // SAFETY: the name is a text with a zero at its end. What runs when the library is loaded is what would run at the start of
        // a program that is linked with it.
        let opened = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        match opened.is_null() {
            true => Err(reason()),
            false => Ok(opened),
        }
    }

    fn reason() -> String {
        // SAFETY: the message is null, or a text that stays until the loader is asked again on this thread.
        unsafe {
            let said = libc::dlerror();
            match said.is_null() {
                true => "no reason given".to_owned(),
                false => CStr::from_ptr(said).to_string_lossy().into_owned(),
            }
        }
    }

    impl Symbol {
        pub(in crate::format) const fn new() -> Symbol {
            Symbol(AtomicPtr::new(null_mut()))
        }

        /// Its address, as what has this path in the binding; a star behind the path says that it is a variable.
        ///
        /// # Safety
        /// `F` is the type of a pointer to what has this path, as the binding says it; the library is loaded.
        pub(in crate::format) unsafe fn typed<F: Copy>(&self, path: &str, _alike: impl FnOnce() -> F) -> F {
            let mut address = self.0.load(Ordering::Relaxed);
            if address.is_null() {
                address = find(path);
                self.0.store(address, Ordering::Relaxed);
            }
            const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
            // SAFETY: the caller's promise: a pointer, which is not null, of that type.
            unsafe { std::mem::transmute_copy(&address) }
        }
    }

    /// # Panics
    /// The library that was loaded lacks it.
    fn find(path: &str) -> *mut c_void {
        let path = path.replace(' ', "");
        let name = path.rsplit("::").next().unwrap_or(&path);
        let library = LIBRARY.load(Ordering::Acquire);
        let found = symbols(name).into_iter().find_map(|symbol| {
            let symbol = CString::new(symbol).ok()?;
            // SAFETY: the library is open; the name is a text with a zero at its end.
            let address = unsafe { libc::dlsym(library, symbol.as_ptr()) };
            (!address.is_null()).then_some(address)
        });
        found.unwrap_or_else(|| panic!("the HDF5 library has no `{name}`: {}", reason()))
    }

    /// What the library may call it, the newest version first: a class had another form once, and a function that has got a
    /// second form has a number behind its name from then on.
    fn symbols(name: &str) -> Vec<String> {
        match name.strip_suffix('*') {
            Some(class) if class.starts_with("H5P_") => vec![format!("{class}_ID_g"), format!("{class}_g")],
            Some(constant) => vec![format!("{constant}_g")],
            None => [name, name.strip_suffix('1').unwrap_or(name)]
                .map(str::to_owned)
                .to_vec(),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_the_library_calls_it_is_found() {
            load().unwrap();
            for path in [
                "sys :: h5d :: H5Dread_chunk1",
                "sys::h5p::H5P_CLS_FILE_CREATE*",
                "H5T_STD_U64LE*",
                "H5Dget_chunk_storage_size",
            ] {
                assert!(!find(path).is_null(), "{path}");
            }
        }

        #[test]
        fn what_the_loader_says_is_kept() {
            let why = open("libhdf5-of-nobody.so.1").unwrap_err();
            assert!(why.contains("libhdf5-of-nobody.so.1"), "{why}");
        }
    }
}

#[cfg(loads_hdf5)]
pub(crate) use loaded::is_at_hand;
#[cfg(loads_hdf5)]
pub(super) use loaded::load;
