//! The functions of OpenCL that make what is alive, change it, or give it back: ours stand before those of the library, as the
//! executable's own definitions come before those of a shared library. Each calls the library's, with what it was given, and
//! notes what came of it. `opencl` of the table names all that make memory: what is made by others no checkpoint knows.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};

use super::live::{Handle, Kind, Sampler, live};
use super::memory::is_refused;
use super::only_read::Parameter;
use super::shown::{PROGRAM_DEVICES, of_library};
use super::texels::{Description, Format, Shape, given};
use super::{SUCCESS, Sizes};
use crate::devices::Obstacle;

pub(super) type Object = *mut c_void;
pub(super) type Out = *mut c_void;
pub(super) type In = *const c_void;
pub(super) type Objects = *const *mut c_void;
pub(super) type OutObjects = *mut *mut c_void;

/// As the library numbers them.
const USES_MEMORY_OF_PROGRAM: u64 = 1 << 3;
const INVALID_KERNEL_ARGUMENTS: i32 = -52;
const NAME_OF_KERNEL: u32 = 0x1190;
const PROGRAM_OF_KERNEL: u32 = 0x1194;
const SOURCE_OF_PROGRAM: u32 = 0x1164;
const OPTIONS_OF_BUILD: u32 = 0x1182;
const ADDRESS_OF_ARGUMENT: u32 = 0x1196;
const ACCESS_OF_ARGUMENT: u32 = 0x1197;
const READ_ONLY: u32 = 0x11A0;
const CONSTANT_MEMORY: u32 = 0x119D;
/// The program never reads, or never writes, it from its side, or neither.
const NOT_FROM_BOTH_SIDES: u64 = 1 << 7 | 1 << 8 | 1 << 9;
const STATUS: u32 = 0x11D3;
const CONTEXT_OF_KERNEL: u32 = 0x1193;
const SIZE_OF_VARIABLES: u32 = 0x1184;
const MOST_VARIABLES: u32 = 0x104D;

/// Whether a call has come through.
static USED: AtomicBool = AtomicBool::new(false);

/// Whether the program's calls come through here.
pub(super) fn are_used() -> bool {
    unsafe extern "C" {
        /// The one that the program calls, whose ever it is.
        fn clReleaseMemObject(memory: Object) -> i32;
    }

    if !USED.load(Ordering::Relaxed) {
        // SAFETY: there is no such object: the library says so, and does nothing else.
        unsafe { clReleaseMemObject(null_mut()) };
    }
    USED.load(Ordering::Relaxed)
}

/// The library's functions, found when they are first called; where there is none, the call fails as the library's would.
pub(super) mod next {
    use super::*;
    use std::sync::atomic::AtomicPtr;

    /// What a function returns that is not there.
    trait Missing {
        const MISSING: Self;
    }

    impl Missing for i32 {
        /// `CL_INVALID_OPERATION`.
        const MISSING: i32 = -59;
    }

    impl Missing for *mut c_void {
        const MISSING: *mut c_void = null_mut();
    }

    impl Missing for () {
        const MISSING: () = ();
    }

    macro_rules! found {
        ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
            #[allow(non_snake_case, clippy::too_many_arguments, reason = "the library's")]
            #[inline]
            pub unsafe fn $name($($argument: $type),*) $(-> $result)? {
                static FOUND: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
                let mut found = FOUND.load(Ordering::Relaxed);
                if found.is_null() {
                    // SAFETY: the name is a text with a zero at its end.
                    found = unsafe { libc::dlsym(libc::RTLD_NEXT, concat!(stringify!($name), "\0").as_ptr().cast()) };
                    FOUND.store(found, Ordering::Relaxed);
                }
                // SAFETY: the library's function of this name has this type; null is `None`.
                let found: Option<unsafe extern "C" fn($($type),*) $(-> $result)?> = unsafe { std::mem::transmute(found) };
                match found {
                    // SAFETY: the caller's promise.
                    Some(function) => unsafe { function($($argument),*) },
                    None => Missing::MISSING,
                }
            }
        )*};
    }

    found! {
        dlopen(name: *const c_char, how: i32) -> Object;
        clCreateCommandQueue(context: Object, device: Object, properties: u64, code: *mut i32) -> Object;
        clCreateCommandQueueWithProperties(context: Object, device: Object, properties: In, code: *mut i32) -> Object;
        clRetainCommandQueue(queue: Object) -> i32;
        clReleaseCommandQueue(queue: Object) -> i32;
        clFinish(queue: Object) -> i32;
        clFlush(queue: Object) -> i32;
        clGetContextInfo(context: Object, what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
        clEnqueueMarkerWithWaitList(queue: Object, count: u32, events: Objects, event: OutObjects) -> i32;
        clWaitForEvents(count: u32, events: Objects) -> i32;
        clReleaseEvent(event: Object) -> i32;
        clGetEventInfo(event: Object, what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
        clCreateUserEvent(context: Object, code: *mut i32) -> Object;
        clSetUserEventStatus(event: Object, status: i32) -> i32;
        clSetEventCallback(event: Object, status: i32, function: Callback, data: Out) -> i32;
        clCreateBuffer(context: Object, flags: u64, size: usize, memory: Out, code: *mut i32) -> Object;
        clCreateBufferWithProperties(context: Object, properties: In, flags: u64, size: usize, memory: Out, code: *mut i32) -> Object;
        clCreateSubBuffer(of: Object, flags: u64, kind: u32, part: In, code: *mut i32) -> Object;
        clCreateImage(context: Object, flags: u64, format: In, about: In, memory: Out, code: *mut i32) -> Object;
        clCreateImageWithProperties(context: Object, properties: In, flags: u64, format: In, about: In, memory: Out, code: *mut i32) -> Object;
        clCreateImage2D(context: Object, flags: u64, format: In, width: usize, height: usize, pitch: usize, memory: Out, code: *mut i32) -> Object;
        clCreateImage3D(context: Object, flags: u64, format: In, width: usize, height: usize, depth: usize, row: usize, slice: usize, memory: Out, code: *mut i32) -> Object;
        clGetImageInfo(image: Object, what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
        clEnqueueReadImage(queue: Object, memory: Object, waits: u32, origin: Sizes, region: Sizes, row: usize, slice: usize, to: Out, count: u32, events: Objects, event: OutObjects) -> i32;
        clEnqueueWriteImage(queue: Object, memory: Object, waits: u32, origin: Sizes, region: Sizes, row: usize, slice: usize, from: In, count: u32, events: Objects, event: OutObjects) -> i32;
        clEnqueueFillImage(queue: Object, memory: Object, colour: In, origin: Sizes, region: Sizes, count: u32, events: Objects, event: OutObjects) -> i32;
        clEnqueueCopyImage(queue: Object, from: Object, to: Object, origin: Sizes, at: Sizes, region: Sizes, count: u32, events: Objects, event: OutObjects) -> i32;
        clEnqueueCopyBufferToImage(queue: Object, from: Object, to: Object, offset: usize, at: Sizes, region: Sizes, count: u32, events: Objects, event: OutObjects) -> i32;
        clCreateSampler(context: Object, normalised: u32, beyond: u32, between: u32, code: *mut i32) -> Object;
        clCreateSamplerWithProperties(context: Object, properties: In, code: *mut i32) -> Object;
        clRetainSampler(sampler: Object) -> i32;
        clReleaseSampler(sampler: Object) -> i32;
        clGetSamplerInfo(sampler: Object, what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
        clGetKernelInfo(kernel: Object, what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
        clCreatePipe(context: Object, flags: u64, packet: u32, most: u32, properties: In, code: *mut i32) -> Object;
        clCreateFromGLBuffer(context: Object, flags: u64, buffer: u32, code: *mut i32) -> Object;
        clCreateFromGLTexture(context: Object, flags: u64, target: u32, level: i32, texture: u32, code: *mut i32) -> Object;
        clCreateFromGLTexture2D(context: Object, flags: u64, target: u32, level: i32, texture: u32, code: *mut i32) -> Object;
        clCreateFromGLTexture3D(context: Object, flags: u64, target: u32, level: i32, texture: u32, code: *mut i32) -> Object;
        clCreateFromGLRenderbuffer(context: Object, flags: u64, buffer: u32, code: *mut i32) -> Object;
        clRetainMemObject(memory: Object) -> i32;
        clReleaseMemObject(memory: Object) -> i32;
        clSetMemObjectDestructorCallback(memory: Object, function: Callback, data: Out) -> i32;
        clSVMAlloc(context: Object, flags: u64, size: usize, alignment: u32) -> Out;
        clSVMFree(context: Object, memory: Out);
        clEnqueueMapBuffer(queue: Object, memory: Object, waits: u32, how: u64, offset: usize, size: usize, count: u32, events: Objects, event: OutObjects, code: *mut i32) -> Out;
        clEnqueueMapImage(queue: Object, memory: Object, waits: u32, how: u64, origin: Sizes, region: Sizes, row: *mut usize, slice: *mut usize, count: u32, events: Objects, event: OutObjects, code: *mut i32) -> Out;
        clEnqueueUnmapMemObject(queue: Object, memory: Object, at: Out, count: u32, events: Objects, event: OutObjects) -> i32;
        clEnqueueReadBuffer(queue: Object, memory: Object, waits: u32, offset: usize, size: usize, to: Out, count: u32, events: Objects, event: OutObjects) -> i32;
        clEnqueueWriteBuffer(queue: Object, memory: Object, waits: u32, offset: usize, size: usize, from: In, count: u32, events: Objects, event: OutObjects) -> i32;
        clEnqueueCopyBuffer(queue: Object, from: Object, to: Object, offset: usize, at: usize, size: usize, count: u32, events: Objects, event: OutObjects) -> i32;
        clCreateKernel(program: Object, name: *const c_char, code: *mut i32) -> Object;
        clCreateKernelsInProgram(program: Object, most: u32, kernels: OutObjects, count: *mut u32) -> i32;
        clCloneKernel(kernel: Object, code: *mut i32) -> Object;
        clRetainKernel(kernel: Object) -> i32;
        clReleaseKernel(kernel: Object) -> i32;
        clSetKernelArg(kernel: Object, index: u32, size: usize, value: In) -> i32;
        clSetKernelArgSVMPointer(kernel: Object, index: u32, value: In) -> i32;
        clSetKernelExecInfo(kernel: Object, what: u32, size: usize, value: In) -> i32;
        clEnqueueNDRangeKernel(queue: Object, kernel: Object, dimensions: u32, offset: Sizes, size: Sizes, group: Sizes, count: u32, events: Objects, event: OutObjects) -> i32;
        clEnqueueNativeKernel(queue: Object, function: In, arguments: Out, size: usize, arrays: u32, which: Objects, at: In, count: u32, events: Objects, event: OutObjects) -> i32;
        clEnqueueWriteBufferRect(queue: Object, memory: Object, waits: u32, offset: Sizes, at: Sizes, size: Sizes, row: usize, slice: usize, from_row: usize, from_slice: usize, from: In, count: u32, events: Objects, event: OutObjects) -> i32;
        clEnqueueFillBuffer(queue: Object, memory: Object, pattern: In, bytes: usize, offset: usize, size: usize, count: u32, events: Objects, event: OutObjects) -> i32;
        clEnqueueCopyBufferRect(queue: Object, from: Object, to: Object, offset: Sizes, at: Sizes, size: Sizes, row: usize, slice: usize, to_row: usize, to_slice: usize, count: u32, events: Objects, event: OutObjects) -> i32;
        clEnqueueCopyImageToBuffer(queue: Object, from: Object, to: Object, origin: Sizes, size: Sizes, at: usize, count: u32, events: Objects, event: OutObjects) -> i32;
        clEnqueueMigrateMemObjects(queue: Object, arrays: u32, which: Objects, how: u64, count: u32, events: Objects, event: OutObjects) -> i32;
        clGetExtensionFunctionAddress(name: *const c_char) -> Out;
        clGetExtensionFunctionAddressForPlatform(platform: Object, name: *const c_char) -> Out;
        clGetKernelArgInfo(kernel: Object, index: u32, what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
        clEnqueueTask(queue: Object, kernel: Object, count: u32, events: Objects, event: OutObjects) -> i32;
        clGetDeviceInfo(device: Object, what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
        clGetProgramInfo(program: Object, what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
        clGetProgramBuildInfo(program: Object, device: Object, what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
        clGetPlatformIDs(count: u32, platforms: OutObjects, found: *mut u32) -> i32;
        clGetPlatformInfo(platform: Object, what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
        clUnloadPlatformCompiler(platform: Object) -> i32;
        clGetDeviceIDs(platform: Object, kind: u64, count: u32, devices: OutObjects, found: *mut u32) -> i32;
        clCreateSubDevices(device: Object, how: *const isize, most: u32, parts: OutObjects, found: *mut u32) -> i32;
        clRetainDevice(device: Object) -> i32;
        clReleaseDevice(device: Object) -> i32;
        clSetDefaultDeviceCommandQueue(context: Object, device: Object, queue: Object) -> i32;
        clGetDeviceAndHostTimer(device: Object, of_device: *mut u64, of_host: *mut u64) -> i32;
        clGetHostTimer(device: Object, of_host: *mut u64) -> i32;
        clGetCommandQueueInfo(queue: Object, what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
        clCreateContext(how: *const isize, count: u32, devices: Objects, function: In, data: Out, code: *mut i32) -> Object;
        clCreateContextFromType(how: *const isize, kind: u64, function: In, data: Out, code: *mut i32) -> Object;
        clCreateProgramWithSource(context: Object, count: u32, texts: In, sizes: In, code: *mut i32) -> Object;
        clCreateProgramWithIL(context: Object, text: In, size: usize, code: *mut i32) -> Object;
        clCreateProgramWithBinary(context: Object, count: u32, devices: Objects, sizes: *const usize, binaries: Objects, states: *mut i32, code: *mut i32) -> Object;
        clCreateProgramWithBuiltInKernels(context: Object, count: u32, devices: Objects, names: *const c_char, code: *mut i32) -> Object;
        clBuildProgram(program: Object, count: u32, devices: Objects, how: *const c_char, function: In, data: Out) -> i32;
        clCompileProgram(program: Object, count: u32, devices: Objects, how: *const c_char, headers: u32, programs: Objects, names: In, function: In, data: Out) -> i32;
        clLinkProgram(context: Object, count: u32, devices: Objects, how: *const c_char, inputs: u32, programs: Objects, function: In, data: Out, code: *mut i32) -> Object;
        clGetKernelWorkGroupInfo(kernel: Object, device: Object, what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
        clGetKernelSubGroupInfo(kernel: Object, device: Object, what: u32, input: usize, from: In, size: usize, to: Out, needed: *mut usize) -> i32;
    }
}

type Callback = Option<unsafe extern "C" fn(Object, i32, Out)>;

/// Functions that call the library's of the same name; `$made` is what that returned.
macro_rules! before {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? as $made:ident $note:block)*) => {$(
        /// # Safety
        /// As in OpenCL.
        #[unsafe(no_mangle)]
        #[allow(unused_variables, clippy::too_many_arguments, reason = "the library's")]
        unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: the caller's promise.
            let $made = unsafe { next::$name($($argument),*) };
            $note
            $made
        }
    )*};
}

fn memory(made: Object, kind: Kind, context: Object, bytes: usize) {
    if !made.is_null() {
        live().memory_made(Handle::of(made), kind, Handle::of(context), bytes);
    }
}

fn array(made: Object, flags: u64, context: Object, bytes: usize) {
    noted(made, Kind::Array, flags, context, bytes);
}

/// The library has made an image, or nothing.
fn image(made: Object, flags: u64, context: Object, given: Option<(Format, Description)>) {
    let Some((format, description)) = given.filter(|_| !made.is_null()) else {
        return memory(made, Kind::Unread(Obstacle::Image), context, 0);
    };
    match Shape::of(made, format, &description) {
        Ok(shape) => noted(made, Kind::Image(shape), flags, context, shape.bytes()),
        Err(obstacle) => memory(made, Kind::Unread(obstacle), context, 0),
    }
}

fn noted(made: Object, kind: Kind, flags: u64, context: Object, bytes: usize) {
    let kind = match flags & USES_MEMORY_OF_PROGRAM {
        0 => kind,
        _ => Kind::InProgram,
    };
    memory(made, kind, context, bytes);
    if flags & NOT_FROM_BOTH_SIDES != 0 {
        live().guarded(Handle::of(made));
    }
}

/// An array was not made: `code` says why, where the program asks.
fn refused(made: Object, context: Object, bytes: usize, code: *mut i32) {
    if made.is_null() && !code.is_null() {
        // SAFETY: the library has written there.
        is_refused(context, bytes, unsafe { *code });
    }
}

pub(super) fn queue(made: Object, context: Object) {
    if !made.is_null() {
        live().queue_made(Handle::of(made), Handle::of(context));
    }
}

fn sampler(made: Object) {
    if !made.is_null() {
        live().sampler_made(Handle::of(made));
    }
}

fn kernel(made: Object) {
    if !made.is_null() {
        live().kernel_made(Handle::of(made));
    }
}

before! {
    clRetainCommandQueue(queue: Object) -> i32 as code {
        if code == SUCCESS {
            live().queue_retained(Handle::of(queue));
        }
    }
    clCreateUserEvent(context: Object, code: *mut i32) -> Object as made {
        if !made.is_null() {
            live().awaited(Handle::of(made));
        }
    }
    clSetUserEventStatus(event: Object, status: i32) -> i32 as code {
        if code == SUCCESS {
            live().completed(Handle::of(event));
        }
    }
    clCreateBuffer(context: Object, flags: u64, size: usize, from: Out, code: *mut i32) -> Object as made {
        array(made, flags, context, size);
        refused(made, context, size, code);
    }
    clCreateBufferWithProperties(context: Object, properties: In, flags: u64, size: usize, from: Out, code: *mut i32) -> Object as made {
        array(made, flags, context, size);
        refused(made, context, size, code);
        if !properties.is_null() {
            // It may have an address by which kernels reach it.
            live().unseen_commands();
        }
    }
    clCreateSubBuffer(of: Object, flags: u64, kind: u32, part: In, code: *mut i32) -> Object as made {
        memory(made, Kind::Part, null_mut(), 0);
    }
    clCreateImage(context: Object, flags: u64, format: In, about: In, from: Out, code: *mut i32) -> Object as made {
        // SAFETY: the caller's promise.
        image(made, flags, context, unsafe { given(format, about) });
    }
    clCreateImageWithProperties(context: Object, properties: In, flags: u64, format: In, about: In, from: Out, code: *mut i32) -> Object as made {
        // SAFETY: the caller's promise.
        image(made, flags, context, unsafe { given(format, about) });
        if !properties.is_null() {
            live().unseen_commands();
        }
    }
    clCreateImage2D(context: Object, flags: u64, format: In, width: usize, height: usize, pitch: usize, from: Out, code: *mut i32) -> Object as made {
        let about = Description::of_two(width, height);
        // SAFETY: the caller's promise.
        image(made, flags, context, unsafe { given(format, (&raw const about).cast()) });
    }
    clCreateImage3D(context: Object, flags: u64, format: In, width: usize, height: usize, depth: usize, row: usize, slice: usize, from: Out, code: *mut i32) -> Object as made {
        let about = Description::of_three(width, height, depth);
        // SAFETY: the caller's promise.
        image(made, flags, context, unsafe { given(format, (&raw const about).cast()) });
    }
    clCreateSampler(context: Object, normalised: u32, beyond: u32, between: u32, code: *mut i32) -> Object as made {
        sampler(made);
    }
    clCreateSamplerWithProperties(context: Object, properties: In, code: *mut i32) -> Object as made {
        sampler(made);
    }
    clRetainSampler(sampler: Object) -> i32 as code {
        if code == SUCCESS {
            live().sampler_retained(Handle::of(sampler));
        }
    }
    clCreatePipe(context: Object, flags: u64, packet: u32, most: u32, properties: In, code: *mut i32) -> Object as made {
        memory(made, Kind::Pipe, context, 0);
    }
    clCreateFromGLBuffer(context: Object, flags: u64, buffer: u32, code: *mut i32) -> Object as made {
        memory(made, Kind::Graphics, context, 0);
    }
    clCreateFromGLTexture(context: Object, flags: u64, target: u32, level: i32, texture: u32, code: *mut i32) -> Object as made {
        memory(made, Kind::Graphics, context, 0);
    }
    clCreateFromGLTexture2D(context: Object, flags: u64, target: u32, level: i32, texture: u32, code: *mut i32) -> Object as made {
        memory(made, Kind::Graphics, context, 0);
    }
    clCreateFromGLTexture3D(context: Object, flags: u64, target: u32, level: i32, texture: u32, code: *mut i32) -> Object as made {
        memory(made, Kind::Graphics, context, 0);
    }
    clCreateFromGLRenderbuffer(context: Object, flags: u64, buffer: u32, code: *mut i32) -> Object as made {
        memory(made, Kind::Graphics, context, 0);
    }
    clRetainMemObject(memory: Object) -> i32 as code {
        if code == SUCCESS {
            live().memory_retained(Handle::of(memory));
        }
    }
    clSetMemObjectDestructorCallback(memory: Object, function: Callback, data: Out) -> i32 as code {
        live().end_is_awaited(Handle::of(memory));
    }
    clSVMAlloc(context: Object, flags: u64, size: usize, alignment: u32) -> Out as made {
        memory(made, Kind::Shared, context, size);
    }
    clEnqueueMapBuffer(queue: Object, memory: Object, waits: u32, how: u64, offset: usize, size: usize, count: u32, events: Objects, event: OutObjects, code: *mut i32) -> Out as made {
        if !made.is_null() {
            live().mapped(Handle::of(memory));
            live().written(Handle::of(memory));
        }
    }
    clEnqueueMapImage(queue: Object, memory: Object, waits: u32, how: u64, origin: Sizes, region: Sizes, row: *mut usize, slice: *mut usize, count: u32, events: Objects, event: OutObjects, code: *mut i32) -> Out as made {
        if !made.is_null() {
            live().mapped(Handle::of(memory));
            live().written(Handle::of(memory));
        }
    }
    clEnqueueUnmapMemObject(queue: Object, memory: Object, at: Out, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        if code == SUCCESS {
            live().unmapped(Handle::of(memory));
            live().written(Handle::of(memory));
        }
    }
    clCreateKernel(program: Object, name: *const c_char, code: *mut i32) -> Object as made {
        kernel(made);
        if !made.is_null() {
            look_for_variables(program);
        }
    }
    clCloneKernel(of: Object, code: *mut i32) -> Object as made {
        kernel(made);
        if !made.is_null() {
            // It has arguments that nobody has given it.
            live().changed(Handle::of(made));
        }
    }
    clRetainKernel(kernel: Object) -> i32 as code {
        if code == SUCCESS {
            live().kernel_retained(Handle::of(kernel));
        }
    }
    clSetKernelArg(kernel: Object, index: u32, size: usize, value: In) -> i32 as code {
        if code == SUCCESS {
            let kept = match value.is_null() {
                // So much memory of the kernel's own.
                true => live().bound_local(Handle::of(kernel), index, size),
                false => {
                    // SAFETY: the caller's promise: the value has this size.
                    let bytes = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), size) };
                    live().bound(Handle::of(kernel), index, bytes)
                }
            };
            give_back(kept);
            note_whether_read(kernel, index);
        }
    }
    clSetKernelArgSVMPointer(kernel: Object, index: u32, value: In) -> i32 as code {
        if code == SUCCESS {
            let kept = live().bound_address(Handle::of(kernel), index);
            give_back(kept);
        }
    }
    clSetKernelExecInfo(kernel: Object, what: u32, size: usize, value: In) -> i32 as code {
        live().changed(Handle::of(kernel));
    }
    clEnqueueNativeKernel(queue: Object, function: In, arguments: Out, size: usize, arrays: u32, which: Objects, at: In, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        live().all_written();
    }
    clEnqueueMigrateMemObjects(queue: Object, arrays: u32, which: Objects, how: u64, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        // It may leave them without content.
        live().all_written();
    }
    clEnqueueWriteBuffer(queue: Object, memory: Object, waits: u32, offset: usize, size: usize, from: In, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        live().written(Handle::of(memory));
    }
    clEnqueueWriteBufferRect(queue: Object, memory: Object, waits: u32, offset: Sizes, at: Sizes, size: Sizes, row: usize, slice: usize, from_row: usize, from_slice: usize, from: In, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        live().written(Handle::of(memory));
    }
    clEnqueueFillBuffer(queue: Object, memory: Object, pattern: In, bytes: usize, offset: usize, size: usize, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        live().written(Handle::of(memory));
    }
    clEnqueueCopyBuffer(queue: Object, from: Object, to: Object, offset: usize, at: usize, size: usize, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        live().written(Handle::of(to));
    }
    clEnqueueCopyBufferRect(queue: Object, from: Object, to: Object, offset: Sizes, at: Sizes, size: Sizes, row: usize, slice: usize, to_row: usize, to_slice: usize, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        live().written(Handle::of(to));
    }
    clEnqueueCopyImageToBuffer(queue: Object, from: Object, to: Object, origin: Sizes, size: Sizes, at: usize, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        live().written(Handle::of(to));
    }
    clEnqueueWriteImage(queue: Object, memory: Object, waits: u32, origin: Sizes, region: Sizes, row: usize, slice: usize, from: In, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        live().written(Handle::of(memory));
    }
    clEnqueueFillImage(queue: Object, memory: Object, colour: In, origin: Sizes, region: Sizes, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        live().written(Handle::of(memory));
    }
    clEnqueueCopyImage(queue: Object, from: Object, to: Object, origin: Sizes, at: Sizes, region: Sizes, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        live().written(Handle::of(to));
    }
    clEnqueueCopyBufferToImage(queue: Object, from: Object, to: Object, offset: usize, at: Sizes, region: Sizes, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        live().written(Handle::of(to));
    }
    clEnqueueTask(queue: Object, kernel: Object, count: u32, events: Objects, event: OutObjects) -> i32 as code {
        if code == SUCCESS {
            live().started(Handle::of(kernel));
        }
    }
    clCreateKernelsInProgram(program: Object, most: u32, kernels: OutObjects, count: *mut u32) -> i32 as code {
        if code == SUCCESS && !kernels.is_null() {
            let mut all = 0;
            // SAFETY: only asks how many there are; the library has written as many.
            unsafe {
                next::clCreateKernelsInProgram(program, 0, null_mut(), &raw mut all);
                (0..all as usize).for_each(|at| kernel(*kernels.add(at)));
            }
            look_for_variables(program);
        }
    }
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clReleaseMemObject(memory: Object) -> i32 {
    USED.store(true, Ordering::Relaxed);
    // What gets its handle next is noted after this.
    live().memory_released(Handle::of(memory));
    // SAFETY: the caller's promise.
    unsafe { next::clReleaseMemObject(memory) }
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clReleaseSampler(sampler: Object) -> i32 {
    live().sampler_released(Handle::of(sampler));
    // SAFETY: the caller's promise.
    unsafe { next::clReleaseSampler(sampler) }
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clSVMFree(context: Object, memory: Out) {
    live().memory_released(Handle::of(memory));
    // SAFETY: the caller's promise.
    unsafe { next::clSVMFree(context, memory) }
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clReleaseKernel(kernel: Object) -> i32 {
    let kept = live().kernel_released(Handle::of(kernel));
    // SAFETY: the caller's promise.
    let code = unsafe { next::clReleaseKernel(kernel) };
    give_back(kept);
    code
}

/// Arrays that a kernel was to keep alive.
fn give_back(kept: impl IntoIterator<Item = Handle>) {
    for array in kept {
        // SAFETY: retained for the kernel by `keep`.
        unsafe { clReleaseMemObject(array.pointer()) };
    }
}

/// Has a kernel keep an array alive, as those of some crates do.
pub(super) fn keep(kernel: Handle, index: u32, array: Handle) {
    // SAFETY: the array is alive: it is what the kernel has just been given.
    if unsafe { clRetainMemObject(array.pointer()) } == SUCCESS {
        let former = live().keeps(kernel, index, array);
        give_back(former);
    }
}

/// Gives a kernel an argument, as the program would.
pub(super) fn bind(kernel: Handle, index: u32, size: usize, value: Option<&[u8]>) -> i32 {
    let value = value.map_or(null(), |bytes| bytes.as_ptr().cast());
    // SAFETY: the kernel is alive, and a value has this size; the library looks at whether it is one of this argument.
    unsafe { clSetKernelArg(kernel.pointer(), index, size, value) }
}

/// Gives a kernel a sampler like the one that it had: they differ in nothing else than these three. It stays, as kernels do not keep
/// theirs.
pub(super) fn bind_sampler(kernel: Handle, index: u32, like: Sampler) -> i32 {
    let mut context = null_mut::<c_void>();
    // SAFETY: the kernel is alive; what is written has room.
    let code = unsafe {
        let to = (&raw mut context).cast();
        next::clGetKernelInfo(
            kernel.pointer(),
            CONTEXT_OF_KERNEL,
            size_of::<Object>(),
            to,
            null_mut(),
        )
    };
    if code != SUCCESS {
        return code;
    }
    let known = live().sampler_like(Handle::of(context), like);
    let sampler = match known {
        Some(sampler) => sampler,
        None => {
            let [normalised, beyond, between] = like;
            let mut code = SUCCESS;
            // SAFETY: the context is that of a kernel that is alive.
            let made = unsafe { clCreateSampler(context, normalised, beyond, between, &raw mut code) };
            if made.is_null() {
                return code;
            }
            // A sampler keeps its context alive, so that no other one gets the handle.
            live().keeps_sampler(Handle::of(context), like, Handle::of(made));
            Handle::of(made)
        }
    };
    let value = sampler.pointer();
    let bytes = value.expose_provenance().to_ne_bytes();
    bind(kernel, index, bytes.len(), Some(&bytes))
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clEnqueueNDRangeKernel(
    queue: Object,
    kernel: Object,
    dimensions: u32,
    offset: Sizes,
    size: Sizes,
    group: Sizes,
    count: u32,
    events: Objects,
    event: OutObjects,
) -> i32 {
    if live().is_awaiting(Handle::of(kernel)) {
        return INVALID_KERNEL_ARGUMENTS;
    }
    // SAFETY: the caller's promise.
    let code = unsafe {
        next::clEnqueueNDRangeKernel(
            queue, kernel, dimensions, offset, size, group, count, events, event,
        )
    };
    if code == SUCCESS {
        live().started(Handle::of(kernel));
    }
    code
}

/// What the queue has to do yet is waited for by the next checkpoint.
///
/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clReleaseCommandQueue(queue: Object) -> i32 {
    let is_last = live().queue_released(Handle::of(queue));
    // SAFETY: the caller's promise: the queue is alive until it is given back below. The events are ours.
    unsafe {
        if is_last {
            let mut event = null_mut();
            match next::clEnqueueMarkerWithWaitList(queue, 0, null(), &raw mut event) {
                SUCCESS => {
                    let complete = live().leaves(Handle::of(event), |event| is_complete(event.pointer()));
                    for event in complete {
                        next::clReleaseEvent(event.pointer());
                    }
                }
                _ => {
                    next::clFinish(queue);
                }
            }
        }
        next::clReleaseCommandQueue(queue)
    }
}

/// Whether a kernel only reads what an argument is: as the library tells, or its source. Where neither does, it may write there.
fn note_whether_read(kernel: Object, index: u32) {
    if !live().asks_whether_read(Handle::of(kernel), index) {
        return;
    }
    let (mut address, mut access) = (0_u32, 0_u32);
    // SAFETY: the kernel is alive; what is written has room.
    let [knows_address, knows_access] = unsafe {
        [
            next::clGetKernelArgInfo(
                kernel,
                index,
                ADDRESS_OF_ARGUMENT,
                size_of::<u32>(),
                (&raw mut address).cast(),
                null_mut(),
            ),
            next::clGetKernelArgInfo(
                kernel,
                index,
                ACCESS_OF_ARGUMENT,
                size_of::<u32>(),
                (&raw mut access).cast(),
                null_mut(),
            ),
        ]
        .map(|code| code == SUCCESS)
    };
    let is_constant = knows_address && address == CONSTANT_MEMORY;
    let is_read = knows_access && access == READ_ONLY;
    let is = is_constant || is_read || is_only_read_in_source(kernel, index).unwrap_or(false);
    live().only_reads(Handle::of(kernel), index, is);
}

/// What the source of a kernel says of that, for all devices that it was built for; nothing where there is none.
fn is_only_read_in_source(kernel: Object, index: u32) -> Option<bool> {
    let mut program = null_mut::<c_void>();
    // SAFETY: the kernel is alive, and its program with it; what is written has room.
    let [name, source] = unsafe {
        let to = (&raw mut program).cast();
        if next::clGetKernelInfo(kernel, PROGRAM_OF_KERNEL, size_of::<Object>(), to, null_mut()) != SUCCESS {
            return None;
        }
        [
            text(|size, to, needed| next::clGetKernelInfo(kernel, NAME_OF_KERNEL, size, to, needed))?,
            text(|size, to, needed| next::clGetProgramInfo(program, SOURCE_OF_PROGRAM, size, to, needed))?,
        ]
    };
    let mut is_only_read = None;
    for device in devices_of(program) {
        // SAFETY: program and device are alive.
        let options = text(|size, to, needed| unsafe {
            next::clGetProgramBuildInfo(program, device, OPTIONS_OF_BUILD, size, to, needed)
        })?;
        let parameter = Parameter {
            kernel: &name,
            index: index as usize,
            source: &source,
            options: &options,
        };
        let sum = parameter.sum();
        let known = live().is_only_read(sum);
        let is = known.unwrap_or_else(|| parameter.is_only_read());
        live().found_only_read(sum, is);
        is_only_read = Some(is && is_only_read.unwrap_or(true));
    }
    is_only_read
}

/// A text that the library gives: asked with room for so many bytes, it writes them, and says how many it needs.
pub(super) fn text(ask: impl Fn(usize, Out, *mut usize) -> i32) -> Option<String> {
    let mut size = 0;
    if ask(0, null_mut(), &raw mut size) != SUCCESS {
        return None;
    }
    let mut text = vec![0_u8; size];
    if ask(size, text.as_mut_ptr().cast(), null_mut()) != SUCCESS {
        return None;
    }
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
    Some(text.to_string_lossy().into_owned())
}

/// Whether what an event stands for is done, or has failed.
fn is_complete(event: Object) -> bool {
    let mut status = 0_i32;
    // SAFETY: the event is alive; what is written has room.
    let code = unsafe {
        next::clGetEventInfo(
            event,
            STATUS,
            size_of::<i32>(),
            (&raw mut status).cast(),
            null_mut(),
        )
    };
    code == SUCCESS && status <= 0
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clSetEventCallback(event: Object, status: i32, function: Callback, data: Out) -> i32 {
    struct Watched {
        function: Callback,
        data: Out,
    }

    unsafe extern "C" fn call(event: Object, status: i32, watched: Out) {
        // SAFETY: made below, and passed to this call alone.
        let watched = unsafe { Box::from_raw(watched.cast::<Watched>()) };
        if let Some(function) = watched.function {
            // SAFETY: the caller's promise.
            unsafe { function(event, status, watched.data) };
        }
        live().callback_called();
    }

    let watched = Box::into_raw(Box::new(Watched { function, data }));
    live().callback_set();
    // SAFETY: the caller's promise; what is passed is there until the function is called, which happens once.
    let code = unsafe {
        let code = next::clSetEventCallback(event, status, function.and(Some(call)), watched.cast());
        if code != SUCCESS {
            drop(Box::from_raw(watched));
        }
        code
    };
    if code != SUCCESS {
        live().callback_called();
    }
    code
}

/// The devices that a program is for.
fn devices_of(program: Object) -> Vec<Object> {
    // SAFETY: the program is alive, and devices are addresses.
    let devices = unsafe { of_library(program, PROGRAM_DEVICES) }.unwrap_or_default();
    devices
        .into_iter()
        .map(std::ptr::with_exposed_provenance_mut)
        .collect()
}

/// Variables of a program outside of its kernels have content that nothing can read.
fn look_for_variables(program: Object) {
    let size = |ask: &dyn Fn(*mut usize, *mut usize) -> i32| {
        let (mut size, mut needed) = (0, 0);
        // Some libraries have no answer, and give one of another size.
        (ask(&raw mut size, &raw mut needed) == SUCCESS && needed == size_of::<usize>()).then_some(size)
    };
    for device in devices_of(program) {
        // SAFETY: program and device are alive; what is written has room.
        let [most, is] = unsafe {
            [
                size(&|to, needed| {
                    next::clGetDeviceInfo(device, MOST_VARIABLES, size_of::<usize>(), to.cast(), needed)
                }),
                size(&|to, needed| {
                    let room = size_of::<usize>();
                    next::clGetProgramBuildInfo(program, device, SIZE_OF_VARIABLES, room, to.cast(), needed)
                }),
            ]
        };
        if most.is_some_and(|most| most > 0) && is.is_some_and(|is| is > 0) {
            live().has_variables();
        }
    }
}
