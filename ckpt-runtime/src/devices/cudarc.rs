//! CUDA by `cudarc`: which contexts the process has, and how arrays are read and written.
//!
//! What `cudarc` makes are the primary contexts of devices, of which there is one a device and process: the driver says which are
//! there, so that nothing has to be written into the program for them. Which arrays are in them it does not say: `cargo ckpt`
//! refuses programs in which another crate may have some.

use std::ffi::CStr;
use std::mem::MaybeUninit;

use ::cudarc::driver::result::{self, DriverError, ctx, device};
use ::cudarc::driver::sys::{self, CUcontext, CUdevice, CUresult};
use ::cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut, DeviceRepr};

use super::shown::Device;

/// The driver's names.
const DRIVER: [&CStr; 2] = [c"libcuda.so.1", c"libcuda.so"];

const ANOTHER_SIZE: &str = "an array on a device has another size than it was made with";

/// Waits for all commands of all contexts.
pub(super) fn finish() -> Result<(), String> {
    if !is_loaded() {
        return Ok(());
    }
    let count = match device::get_count() {
        Err(DriverError(CUresult::CUDA_ERROR_NOT_INITIALIZED)) => return Ok(()),
        count => count.map_err(|error| unfinished(&error))?,
    };
    let all = (0..count).try_for_each(|number| device::get(number).and_then(finish_on));
    all.map_err(|error| unfinished(&error))
}

/// The devices whose primary contexts are there.
pub(super) fn computes_on() -> Vec<Device> {
    if !is_loaded() {
        return Vec::new();
    }
    let count = device::get_count().unwrap_or_default();
    let known = |number| {
        let device = device::get(number).ok()?;
        is_active(device).ok().filter(|is| *is)?;
        Some(Device {
            name: device::get_name(device).unwrap_or_default(),
            vendor: "NVIDIA".to_owned(),
            platform: "CUDA".to_owned(),
            kind: "GPU".to_owned(),
            ..Device::default()
        })
    };
    (0..count).filter_map(known).collect()
}

fn unfinished(error: &DriverError) -> String {
    format!("the commands of a device are not done ({:?} of CUDA)", error.0)
}

/// Whether the process has loaded the driver. It is not loaded here: a program that has not come to a device yet has nothing there.
fn is_loaded() -> bool {
    DRIVER.iter().any(|name| {
        // SAFETY: the name is a text with a zero at its end; what is not loaded stays so, and what is given back is what was got.
        unsafe {
            let library = libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            !library.is_null() && libc::dlclose(library) == 0
        }
    })
}

/// Whether the process has the primary context of a device.
fn is_active(device: CUdevice) -> Result<bool, DriverError> {
    let (mut flags, mut is_active) = (0, 0);
    // SAFETY: both are written to.
    unsafe { sys::cuDevicePrimaryCtxGetState(device, &raw mut flags, &raw mut is_active) }.result()?;
    Ok(is_active != 0)
}

fn finish_on(device: CUdevice) -> Result<(), DriverError> {
    if !is_active(device)? {
        return Ok(());
    }
    // SAFETY: the device is one that the driver has given; what is held here is let go below.
    let context = unsafe { result::primary_ctx::retain(device) }?;
    let done = within(context, ctx::synchronize);
    // SAFETY: it was held above.
    unsafe { result::primary_ctx::release(device) }?;
    done
}

/// Does something with a context as the thread's, which has its own again then.
fn within<T>(context: CUcontext, work: impl FnOnce() -> Result<T, DriverError>) -> Result<T, DriverError> {
    let own = ctx::get_current()?;
    // SAFETY: the context is alive; the thread's own is, or null.
    unsafe { ctx::set_current(context) }?;
    let result = work();
    // SAFETY: as above.
    unsafe { ctx::set_current(own.unwrap_or(std::ptr::null_mut())) }?;
    result
}

pub(crate) type Reader = Box<dyn FnOnce(&mut [MaybeUninit<u8>]) -> Result<(), String> + Send>;

/// Reads a whole array, of which `to` has the size; every byte was written then.
pub(crate) fn read<T: DeviceRepr>(array: &CudaSlice<T>, to: &mut [MaybeUninit<u8>]) -> Result<(), String> {
    // SAFETY: the array is there until this returns.
    let read = unsafe { reader(array) }?;
    read(to)
}

/// What reads a whole array on any thread into memory of its size; every byte was written where that succeeds.
///
/// # Safety
/// The array has to be there until it has been read.
pub(crate) unsafe fn reader<T: DeviceRepr>(array: &CudaSlice<T>) -> Result<Reader, String> {
    let unread = |error: DriverError| format!("an array on a device cannot be read ({:?} of CUDA)", error.0);
    let (bytes, stream) = (array.num_bytes(), array.stream().clone());
    // Nothing writes there: the program stands still, and its commands are done.
    let from = within(array.context().cu_ctx(), || Ok(array.device_ptr(&stream).0)).map_err(unread)?;
    Ok(Box::new(move |to| {
        if to.len() != bytes {
            return Err(ANOTHER_SIZE.into());
        }
        let read = within(stream.context().cu_ctx(), || {
            if to.is_empty() {
                return Ok(());
            }
            // SAFETY: the array has so many bytes, as `to` has, and is there by the caller's promise; the copy is done when the stream is.
            unsafe { sys::cuMemcpyDtoHAsync_v2(to.as_mut_ptr().cast(), from, to.len(), stream.cu_stream()) }
                .result()?;
            stream.synchronize()
        });
        read.map_err(unread)
    }))
}

/// Writes a whole array, of which `from` has the size.
pub(crate) fn write<T: DeviceRepr>(array: &mut CudaSlice<T>, from: &[u8]) -> Result<(), String> {
    if from.len() != array.num_bytes() {
        return Err(ANOTHER_SIZE.into());
    }
    let stream = array.stream().clone();
    let written = within(array.context().cu_ctx(), || {
        let (to, _writes) = array.device_ptr_mut(&stream);
        if from.is_empty() {
            return Ok(());
        }
        // SAFETY: the array has so many bytes; the copy is done when the stream is.
        unsafe { result::memcpy_htod_async(to, from, stream.cu_stream()) }?;
        stream.synchronize()
    });
    written.map_err(|error| format!("an array on a device cannot be written ({:?} of CUDA)", error.0))
}
