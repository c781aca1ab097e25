//! The driver of CUDA for machines without one: what `cudarc` calls of it, on two devices that are memory of the process.
//!
//! Commands wait until somebody waits for them, or asks for what is in memory that is not locked: a program that does not wait
//! where it has to sees what was there before. Arrays have what was in the memory before, as on a device. A module is a text with
//! the names of its kernels in it; they are functions below.

#![expect(
    clippy::missing_safety_doc,
    reason = "the functions are those of the driver, whose manual says it"
)]

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

const SUCCESS: c_int = 0;
const INVALID: c_int = 1;
const OUT_OF_MEMORY: c_int = 2;
const NOT_INITIALIZED: c_int = 3;
const NO_DEVICE: c_int = 101;
const NO_CONTEXT: c_int = 201;
const NOT_FOUND: c_int = 500;
const DEVICES: usize = 2;
/// What an array has that nobody has written to.
const REMAINS: u8 = 0xa5;

type Context = usize;
type Work = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Driver {
    is_ready: bool,
    /// How often the context of each device is held.
    contexts: [usize; DEVICES],
    commands: VecDeque<Work>,
    /// Bytes of arrays, and of memory of the program's that is locked, by their addresses.
    arrays: BTreeMap<usize, usize>,
    locked: BTreeMap<usize, usize>,
    next: usize,
}

static DRIVER: Mutex<Driver> = Mutex::new(Driver {
    is_ready: false,
    contexts: [0; DEVICES],
    commands: VecDeque::new(),
    arrays: BTreeMap::new(),
    locked: BTreeMap::new(),
    next: 0x1000,
});

thread_local! {
    /// That of the thread, or none.
    static CURRENT: std::cell::Cell<Context> = const { std::cell::Cell::new(0) };
}

fn driver() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Driver {
    fn finish(&mut self) {
        for work in self.commands.drain(..) {
            work();
        }
    }

    fn number(&mut self) -> usize {
        self.next += 16;
        self.next
    }

    fn has(&self, at: usize, bytes: usize) -> bool {
        let array = self.arrays.range(..=at).next_back();
        array.is_some_and(|(first, size)| at + bytes <= first + size)
    }
}

fn in_context(work: impl FnOnce(&mut Driver) -> c_int) -> c_int {
    let mut driver = driver();
    match (driver.is_ready, CURRENT.get()) {
        (false, _) => NOT_INITIALIZED,
        (true, 0) => NO_CONTEXT,
        _ => work(&mut driver),
    }
}

/// SAFETY of all below: the caller's promise, which is that of CUDA: pointers lead to what the manual says.
unsafe fn give<T>(to: *mut T, value: T) -> c_int {
    // SAFETY: see above.
    unsafe { to.write(value) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_flags: c_uint) -> c_int {
    driver().is_ready = true;
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    match driver().is_ready {
        // SAFETY: see above.
        true => unsafe { give(count, DEVICES as c_int) },
        false => NOT_INITIALIZED,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> c_int {
    match (driver().is_ready, usize::try_from(ordinal)) {
        (false, _) => NOT_INITIALIZED,
        // SAFETY: see above.
        (true, Ok(number)) if number < DEVICES => unsafe { give(device, ordinal) },
        _ => NO_DEVICE,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, size: c_int, _device: c_int) -> c_int {
    let text = c"a device of the tests";
    if text.count_bytes() >= size as usize {
        return INVALID;
    }
    // SAFETY: there is room for the text and the zero at its end.
    unsafe { name.copy_from_nonoverlapping(text.as_ptr(), text.count_bytes() + 1) };
    SUCCESS
}

/// Nothing but zeros: arrays come by `cuMemAlloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, _which: c_uint, _device: c_int) -> c_int {
    // SAFETY: see above.
    unsafe { give(value, 0) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut Context, device: c_int) -> c_int {
    driver().contexts[device as usize] += 1;
    // SAFETY: see above.
    unsafe { give(context, device as usize + 1) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> c_int {
    let mut driver = driver();
    driver.finish();
    driver.contexts[device as usize] -= 1;
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxGetState(
    device: c_int,
    flags: *mut c_uint,
    active: *mut c_int,
) -> c_int {
    let driver = driver();
    if !driver.is_ready {
        return NOT_INITIALIZED;
    }
    // SAFETY: see above.
    unsafe {
        give(flags, 0);
        give(active, c_int::from(driver.contexts[device as usize] > 0))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(context: *mut Context) -> c_int {
    // SAFETY: see above.
    unsafe { give(context, CURRENT.get()) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(context: Context) -> c_int {
    CURRENT.set(context);
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSynchronize() -> c_int {
    in_context(|driver| {
        driver.finish();
        SUCCESS
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut usize, _flags: c_uint) -> c_int {
    // SAFETY: see above.
    in_context(|driver| unsafe { give(stream, driver.number()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamDestroy_v2(_stream: usize) -> c_int {
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(_stream: usize) -> c_int {
    cuCtxSynchronize()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitEvent(_stream: usize, _event: usize, _flags: c_uint) -> c_int {
    // All commands are done in the order in which they come.
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut usize, _flags: c_uint) -> c_int {
    // SAFETY: see above.
    in_context(|driver| unsafe { give(event, driver.number()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventDestroy_v2(_event: usize) -> c_int {
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(_event: usize, _stream: usize) -> c_int {
    in_context(|_| SUCCESS)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventSynchronize(_event: usize) -> c_int {
    cuCtxSynchronize()
}

fn memory(driver: &mut Driver, bytes: usize) -> usize {
    let words = vec![[REMAINS; 16]; bytes.div_ceil(16).max(1)];
    let at = Box::leak(words.into_boxed_slice())
        .as_mut_ptr()
        .expose_provenance();
    driver.arrays.insert(at, bytes);
    at
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(array: *mut usize, bytes: usize) -> c_int {
    in_context(|driver| {
        let taken: usize = driver.arrays.values().copied().sum();
        if taken + bytes > most() {
            return OUT_OF_MEMORY;
        }
        // SAFETY: see above.
        unsafe { give(array, memory(driver, bytes)) }
    })
}

/// So many bytes may be in arrays: `CUDA_OF_TESTS_MEMORY`.
fn most() -> usize {
    let most = std::env::var("CUDA_OF_TESTS_MEMORY").ok();
    most.and_then(|text| text.parse().ok()).unwrap_or(usize::MAX)
}

/// The memory stays: a process of a test has little of it.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(array: usize) -> c_int {
    in_context(|driver| {
        driver.finish();
        match driver.arrays.remove(&array) {
            Some(_) => SUCCESS,
            None => INVALID,
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostAlloc(at: *mut *mut c_void, bytes: usize, _flags: c_uint) -> c_int {
    in_context(|driver| {
        let first = memory(driver, bytes);
        driver.arrays.remove(&first);
        driver.locked.insert(first, bytes);
        // SAFETY: see above.
        unsafe { give(at, std::ptr::with_exposed_provenance_mut(first)) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeHost(at: *mut c_void) -> c_int {
    in_context(|driver| {
        driver.finish();
        driver.locked.remove(&at.addr());
        SUCCESS
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    to: usize,
    from: *const u8,
    bytes: usize,
    _stream: usize,
) -> c_int {
    in_context(|driver| {
        if !driver.has(to, bytes) {
            return INVALID;
        }
        // SAFETY: see above; it is read before the call returns, as memory that is not locked is.
        let content = unsafe { std::slice::from_raw_parts(from, bytes) }.to_vec();
        driver.commands.push_back(Box::new(move || {
            let to = std::ptr::with_exposed_provenance_mut::<u8>(to);
            // SAFETY: the array is there: it is given back when all commands are done.
            unsafe { to.copy_from_nonoverlapping(content.as_ptr(), content.len()) };
        }));
        SUCCESS
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    to: *mut u8,
    from: usize,
    bytes: usize,
    _stream: usize,
) -> c_int {
    in_context(|driver| {
        if !driver.has(from, bytes) {
            return INVALID;
        }
        let address = to.expose_provenance();
        driver.commands.push_back(copy(from, address, bytes));
        let is_locked = driver.locked.range(..=address).next_back();
        if is_locked.is_none_or(|(first, size)| address + bytes > first + size) {
            driver.finish();
        }
        SUCCESS
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoDAsync_v2(to: usize, from: usize, bytes: usize, _stream: usize) -> c_int {
    in_context(|driver| {
        if !driver.has(to, bytes) || !driver.has(from, bytes) {
            return INVALID;
        }
        driver.commands.push_back(copy(from, to, bytes));
        SUCCESS
    })
}

fn copy(from: usize, to: usize, bytes: usize) -> Work {
    Box::new(move || {
        let from = std::ptr::with_exposed_provenance::<u8>(from);
        // SAFETY: both are there until all commands are done.
        unsafe { std::ptr::with_exposed_provenance_mut::<u8>(to).copy_from(from, bytes) };
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD8Async(to: usize, byte: u8, bytes: usize, _stream: usize) -> c_int {
    in_context(|driver| {
        if !driver.has(to, bytes) {
            return INVALID;
        }
        driver.commands.push_back(Box::new(move || {
            // SAFETY: as for copies.
            unsafe { std::ptr::with_exposed_provenance_mut::<u8>(to).write_bytes(byte, bytes) };
        }));
        SUCCESS
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(module: *mut *const c_char, image: *const c_char) -> c_int {
    // SAFETY: see above; the text stays as it is leaked.
    in_context(|_| unsafe { give(module, CStr::from_ptr(image).to_owned().into_raw()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuModuleUnload(_module: *const c_char) -> c_int {
    SUCCESS
}

/// Gives the number of the kernel, one more than its place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    function: *mut usize,
    module: *const c_char,
    name: *const c_char,
) -> c_int {
    // SAFETY: see above.
    let (text, name) = unsafe { (CStr::from_ptr(module), CStr::from_ptr(name)) };
    let (text, name) = (text.to_string_lossy(), name.to_string_lossy());
    let place = KERNELS.iter().position(|(one, _, _)| *one == name);
    match place.filter(|_| text.contains(&*name)) {
        // SAFETY: see above.
        Some(place) => unsafe { give(function, place + 1) },
        None => NOT_FOUND,
    }
}

/// A kernel with the values of its arguments, for as many threads as it is started with.
type Kernel = fn(&[u64], usize);

/// The kernels, with the bytes of each argument.
const KERNELS: [(&str, &[usize], Kernel); 2] = [("step", &[8, 8, 4], step), ("add", &[8, 4, 8], add)];

/// `to[at] = from[at - 1] + 3 * from[at] + from[at + 1]`, in a ring.
fn step(arguments: &[u64], _threads: usize) {
    let [to, from, count] = *arguments else { return };
    let count = count as usize;
    let at = |array: u64| std::ptr::with_exposed_provenance_mut::<u32>(array as usize);
    for place in 0..count {
        // SAFETY: both arrays have so many elements.
        unsafe {
            let of = |place: usize| at(from).add(place % count).read();
            let sum = of(place + count - 1).wrapping_add(of(place).wrapping_mul(3));
            at(to).add(place).write(sum.wrapping_add(of(place + 1)));
        }
    }
}

/// `array[at] += number`.
fn add(arguments: &[u64], _threads: usize) {
    let [array, number, count] = *arguments else {
        return;
    };
    let first = std::ptr::with_exposed_provenance_mut::<u32>(array as usize);
    for place in 0..count as usize {
        // SAFETY: the array has so many elements.
        unsafe { *first.add(place) = (*first.add(place)).wrapping_add(number as u32) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: usize,
    grid: c_uint,
    _grid_y: c_uint,
    _grid_z: c_uint,
    block: c_uint,
    _block_y: c_uint,
    _block_z: c_uint,
    _shared: c_uint,
    _stream: usize,
    arguments: *const *const u8,
    _extra: *const c_void,
) -> c_int {
    let Some((_, sizes, kernel)) = function.checked_sub(1).and_then(|place| KERNELS.get(place)) else {
        return INVALID;
    };
    let values = sizes.iter().enumerate().map(|(place, size)| {
        let mut value = [0; 8];
        // SAFETY: see above.
        unsafe {
            value
                .as_mut_ptr()
                .copy_from((*arguments.add(place)).cast(), *size)
        };
        u64::from_le_bytes(value)
    });
    let values: Vec<u64> = values.collect();
    let threads = grid as usize * block as usize;
    in_context(|driver| {
        driver
            .commands
            .push_back(Box::new(move || kernel(&values, threads)));
        SUCCESS
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(_error: c_int, text: *mut *const c_char) -> c_int {
    // SAFETY: see above.
    unsafe { give(text, c"ERROR".as_ptr()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(_error: c_int, text: *mut *const c_char) -> c_int {
    // SAFETY: see above.
    unsafe { give(text, c"an error of the driver".as_ptr()) }
}
