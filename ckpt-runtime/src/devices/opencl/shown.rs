//! Which platforms and devices the program is shown, and the functions of OpenCL by which it asks for them.
//!
//! As long as they are those that are there, all calls go on to the library as they are. Where a restart finds others than
//! were noted, the lists are made here ([`Mapped`]). A device that stands for several gets a handle of its own for each but the
//! first, which is ours: the program sees as many different ones as it had. Every function that takes a device or gives one
//! has one of these before it, and the library never sees such a handle: [`real`]. Where it has them, functions of extensions are not given
//! out: nobody stands before those.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_char;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::functions::{In, Object, Objects, Out, OutObjects, next, queue, text};
use super::live::{Handle, live};
use super::{CONTEXT_DEVICES, SUCCESS};
use crate::base::lock::locked;
use crate::base::report::{Fatal, headline};
use crate::devices::shown::{self, Device, Noted, Platform, assigned};

/// As the library numbers them.
const INVALID_VALUE: i32 = -30;
const DEVICE_NOT_FOUND: i32 = -1;
const PLATFORM_NAME: u32 = 0x0902;
const DEVICE_TYPE: u32 = 0x1000;
const DEVICE_NAME: u32 = 0x102B;
const DEVICE_VENDOR: u32 = 0x102C;
const DEVICE_PLATFORM: u32 = 0x1031;
const CONTEXT_NUMBER: u32 = 0x1083;
const CONTEXT_PLATFORM: isize = 0x1084;
const QUEUE_DEVICE: u32 = 0x1091;
const PROGRAM_CONTEXT: u32 = 0x1161;
const PROGRAM_NUMBER: u32 = 0x1162;
pub(super) const PROGRAM_DEVICES: u32 = 0x1163;
const BINARY_SIZES: u32 = 0x1165;
const BINARIES: u32 = 0x1166;
const OF_ALL_KINDS: u64 = 0xFFFF_FFFF;
const DEFAULT: u64 = 1;
const CUSTOM: u64 = 1 << 4;
const KINDS: [(u64, &str); 4] = [
    (2, "CPU"),
    (4, "GPU"),
    (8, "accelerator"),
    (CUSTOM, "custom device"),
];

static SHOWN: Mutex<Shown> = Mutex::new(Shown {
    platforms: Vec::new(),
    real_of: BTreeMap::new(),
    given: BTreeSet::new(),
    platform_of: BTreeMap::new(),
    lists: BTreeMap::new(),
    parts: BTreeMap::new(),
});

/// Whether the program has handles of ours.
static HAS_OURS: AtomicBool = AtomicBool::new(false);

struct Shown {
    /// Nothing until the program asks.
    platforms: Vec<ShownPlatform>,
    /// What handles of ours stand for.
    real_of: BTreeMap<Handle, Handle>,
    /// The library's handles that the program has.
    given: BTreeSet<Handle>,
    /// The platforms of devices, as both are shown.
    platform_of: BTreeMap<Handle, Handle>,
    /// The devices that contexts, queues and programs were made with, where handles of ours are among them.
    lists: BTreeMap<Handle, Vec<Handle>>,
    /// Into how many parts devices were divided.
    parts: BTreeMap<String, u32>,
}

struct ShownPlatform {
    handle: Handle,
    real: Handle,
    name: String,
    /// What was noted of the platform that it stands for.
    had: Option<Vec<Device>>,
    /// Nothing until the program asks.
    devices: Option<Vec<(Handle, Device)>>,
    /// Whether these are others than those that the library lists.
    is_mapped: bool,
}

fn shown() -> MutexGuard<'static, Shown> {
    locked(&SHOWN)
}

impl Shown {
    /// A handle to what the library knows by this one, which the program does not have yet.
    fn another(&mut self, real: Handle) -> Handle {
        if self.given.insert(real) {
            return real;
        }
        let ours: &'static mut [usize; 8] = Box::leak(Box::new([0; 8]));
        let ours = Handle::of((&raw mut *ours).cast());
        self.real_of.insert(ours, real);
        HAS_OURS.store(true, Ordering::Relaxed);
        ours
    }

    fn real(&self, handle: Handle) -> Handle {
        self.real_of.get(&handle).copied().unwrap_or(handle)
    }

    /// The number of a platform; without a handle it is the first.
    fn number(&self, platform: Object) -> Option<usize> {
        match platform.is_null() {
            true => (!self.platforms.is_empty()).then_some(0),
            false => {
                let handle = Handle::of(platform);
                self.platforms.iter().position(|one| one.handle == handle)
            }
        }
    }

    /// Shows the platforms that are there, or as many as there were.
    fn show(&mut self, there: &[(Handle, String)], had: &[Platform]) {
        let named = |list: &[Platform]| list.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        let names: Vec<String> = there.iter().map(|(_, name)| name.clone()).collect();
        let as_before = shown::shows_as_before() && !had.is_empty() && names != named(had);
        let choice = match as_before {
            true => platforms_for(had, &names),
            false => (0..there.len()).collect(),
        };
        self.platforms = { choice.into_iter().enumerate() }
            .map(|(at, one)| {
                let (real, name) = &there[one];
                ShownPlatform {
                    handle: self.another(*real),
                    real: *real,
                    name: name.clone(),
                    had: had.get(at).and_then(|had| had.devices.clone()),
                    devices: None,
                    is_mapped: as_before,
                }
            })
            .collect();
    }

    /// Shows the devices of a platform, or as many as it had. Gives what is to be said of it.
    fn show_devices(
        &mut self,
        number: usize,
        there: &[(Handle, Device)],
    ) -> Option<(Vec<Device>, Vec<Device>, String)> {
        let platform = &self.platforms[number];
        if platform.devices.is_some() {
            return None;
        }
        let had = platform.had.clone().filter(|_| !there.is_empty());
        let had = had.unwrap_or_default();
        let kinds = |list: &[Device]| list.iter().map(|one| one.kind.clone()).collect::<Vec<_>>();
        let of_there: Vec<Device> = there.iter().map(|(_, device)| device.clone()).collect();
        let as_before = shown::shows_as_before() && !had.is_empty() && kinds(&had) != kinds(&of_there);
        let choice = match as_before {
            true => assigned(&kinds(&had), &kinds(&of_there)),
            false => (0..there.len()).collect(),
        };
        let devices: Vec<(Handle, Device)> = { choice.into_iter().enumerate() }
            .map(|(at, one)| {
                let (real, device) = &there[one];
                let mut device = device.clone();
                if let Some(had) = had.get(at).filter(|_| as_before) {
                    device.shown_as = had.shown_as;
                }
                (self.another(*real), device)
            })
            .collect();
        let platform = &mut self.platforms[number];
        platform.is_mapped |= as_before
            || devices
                .iter()
                .any(|(handle, _)| self.real_of.contains_key(handle));
        for (handle, _) in &devices {
            self.platform_of.insert(*handle, platform.handle);
        }
        let now = devices.iter().map(|(_, device)| device.clone()).collect();
        let name = platform.name.clone();
        platform.devices = Some(devices);
        Some((had, now, name))
    }
}

/// For each platform that the program had, which of those that are there it is shown: that of its name, else one that has not been
/// taken, else any in turn.
fn platforms_for(had: &[Platform], there: &[String]) -> Vec<usize> {
    let mut choice = vec![None; had.len()];
    let mut is_taken = vec![false; there.len()];
    for (one, had) in choice.iter_mut().zip(had) {
        *one = (0..there.len()).find(|at| !is_taken[*at] && there[*at] == had.name);
        one.iter().for_each(|at| is_taken[*at] = true);
    }
    // Those first that the program has looked into.
    for was_asked in [true, false] {
        for (one, had) in choice.iter_mut().zip(had) {
            if one.is_none() && had.devices.is_some() == was_asked {
                *one = is_taken.iter().position(|is_taken| !is_taken);
                one.iter().for_each(|at| is_taken[*at] = true);
            }
        }
    }
    let in_turn = |(at, one): (usize, Option<usize>)| one.unwrap_or(at % there.len().max(1));
    choice.into_iter().enumerate().map(in_turn).collect()
}

/// What a checkpoint has of them.
pub(in crate::devices) fn note(to: &mut Noted) {
    let shown = shown();
    to.platforms = { shown.platforms.iter() }
        .map(|platform| Platform {
            name: platform.name.clone(),
            devices: { platform.devices.as_ref() }
                .map(|devices| devices.iter().map(|(_, device)| device.clone()).collect()),
        })
        .collect();
    to.parts.clone_from(&shown.parts);
}

/// The library's handle for one that the program may have.
fn real(handle: Object) -> Object {
    match HAS_OURS.load(Ordering::Relaxed) {
        true => shown().real(Handle::of(handle)).pointer(),
        false => handle,
    }
}

/// The same of several, each of them once.
fn reals(handles: &[Handle]) -> Vec<Object> {
    let shown = shown();
    let mut list: Vec<Object> = Vec::new();
    for handle in handles {
        let real = shown.real(*handle).pointer();
        if !list.contains(&real) {
            list.push(real);
        }
    }
    list
}

/// # Safety
/// There are so many, or none.
unsafe fn handles(count: u32, list: Objects) -> Vec<Handle> {
    match list.is_null() {
        true => Vec::new(),
        // SAFETY: the caller's promise.
        false => unsafe { std::slice::from_raw_parts(list, count as usize) }
            .iter()
            .map(|one| Handle::of(*one))
            .collect(),
    }
}

/// Something was made with these devices; what had its handle before is gone.
fn made_with(made: Object, devices: &[Handle]) {
    if made.is_null() || !HAS_OURS.load(Ordering::Relaxed) {
        return;
    }
    let mut shown = shown();
    match devices.iter().any(|one| shown.real_of.contains_key(one)) {
        true => shown.lists.insert(Handle::of(made), devices.to_vec()),
        false => shown.lists.remove(&Handle::of(made)),
    };
}

/// The devices that it was made with, where handles of ours are among them.
fn list_of(made: Object) -> Option<Vec<Handle>> {
    match HAS_OURS.load(Ordering::Relaxed) {
        true => shown().lists.get(&Handle::of(made)).cloned(),
        false => None,
    }
}

/// A name that the library tells, if it does.
fn named(ask: impl Fn(usize, Out, *mut usize) -> i32) -> String {
    text(ask).unwrap_or_default().trim().to_owned()
}

/// The library's platforms. No lock is held while it is asked: it may call functions of OpenCL itself.
fn platforms_there() -> Vec<(Handle, String)> {
    let mut list = [null_mut(); 64];
    let mut count = 0;
    // SAFETY: what is written has room.
    let code = unsafe { next::clGetPlatformIDs(list.len() as u32, list.as_mut_ptr(), &raw mut count) };
    let count = match code {
        SUCCESS => count as usize,
        _ => 0,
    };
    let named = |platform: &Object| (Handle::of(*platform), platform_name(*platform));
    list.iter().take(count).map(named).collect()
}

/// The library's devices of a platform of the library's.
fn devices_there(platform: Handle, name: &str) -> Vec<(Handle, Device)> {
    let of_kind = |kind: u64| {
        let mut list = [null_mut(); 256];
        let mut count = 0;
        let (most, to) = (list.len() as u32, list.as_mut_ptr());
        // SAFETY: a platform of the library's; what is written has room.
        match unsafe { next::clGetDeviceIDs(platform.pointer(), kind, most, to, &raw mut count) } {
            SUCCESS => list[..(count as usize).min(list.len())].to_vec(),
            _ => Vec::new(),
        }
    };
    let usual = of_kind(DEFAULT);
    let known = |device: Object| {
        let mut known = about(device, name.to_owned());
        known.shown_as |= u64::from(usual.contains(&device));
        (Handle::of(device), known)
    };
    of_kind(OF_ALL_KINDS).into_iter().map(known).collect()
}

/// What a device of the library's says of itself, on the platform of this name.
fn about(device: Object, platform: String) -> Device {
    // SAFETY: a device of the library's; what is written has room.
    let ask =
        |what| named(|size, to, needed| unsafe { next::clGetDeviceInfo(device, what, size, to, needed) });
    let mut kind = 0_u64;
    // SAFETY: the same.
    unsafe {
        next::clGetDeviceInfo(
            device,
            DEVICE_TYPE,
            size_of::<u64>(),
            (&raw mut kind).cast(),
            null_mut(),
        )
    };
    let words = KINDS
        .iter()
        .find(|(bit, _)| kind & bit != 0)
        .map_or("device", |(_, words)| words);
    Device {
        name: ask(DEVICE_NAME),
        vendor: ask(DEVICE_VENDOR),
        platform,
        kind: words.to_owned(),
        shown_as: kind & !DEFAULT,
    }
}

/// The devices of the program's queues.
pub(in crate::devices) fn computes_on() -> Vec<Device> {
    let queues = live().queues();
    let devices = queues.into_iter().filter_map(|queue| {
        let [mut device, mut platform]: [Object; 2] = [null_mut(); 2];
        // SAFETY: the queue was retained by `queues`, and has a device, which has a platform; what is written has room.
        unsafe {
            let size = size_of::<Object>();
            let queue = queue.pointer();
            let mut code =
                next::clGetCommandQueueInfo(queue, QUEUE_DEVICE, size, (&raw mut device).cast(), null_mut());
            next::clReleaseCommandQueue(queue);
            if code == SUCCESS {
                code = next::clGetDeviceInfo(
                    device,
                    DEVICE_PLATFORM,
                    size,
                    (&raw mut platform).cast(),
                    null_mut(),
                );
            }
            (code == SUCCESS).then(|| about(device, platform_name(platform)))
        }
    });
    devices.collect()
}

/// The name of a device of the library's.
pub(super) fn name_of(device: Object) -> String {
    // SAFETY: a device of the library's; what is written has room.
    named(|size, to, needed| unsafe { next::clGetDeviceInfo(device, DEVICE_NAME, size, to, needed) })
}

/// The name of a platform of the library's.
fn platform_name(platform: Object) -> String {
    // SAFETY: a platform of the library's; what is written has room.
    named(|size, to, needed| unsafe { next::clGetPlatformInfo(platform, PLATFORM_NAME, size, to, needed) })
}

/// From here on it is known which platforms the program is shown.
fn know_platforms() {
    if shown().platforms.is_empty() {
        let (there, had) = (platforms_there(), shown::noted().platforms);
        let mut shown = shown();
        if shown.platforms.is_empty() {
            shown.show(&there, &had);
        }
    }
}

/// From here on it is known which devices of a platform the program is shown.
fn know_devices(platform: Object) {
    know_platforms();
    let asked = {
        let shown = shown();
        let number = shown.number(platform);
        number
            .filter(|number| shown.platforms[*number].devices.is_none())
            .map(|number| {
                (
                    number,
                    shown.platforms[number].real,
                    shown.platforms[number].name.clone(),
                )
            })
    };
    if let Some((number, real, name)) = asked {
        let there = devices_there(real, &name);
        let said = shown().show_devices(number, &there);
        if let Some((had, now, name)) = said {
            shown::mention_changed(&had, &now, there.len(), &format!("`{name}`"));
        }
    }
}

/// The devices of a platform and a kind, where they are others than the library's.
fn mapped(platform: Object, kind: u64) -> Option<Vec<Handle>> {
    know_devices(platform);
    let shown = shown();
    let platform = &shown.platforms[shown.number(platform)?];
    let devices = platform
        .devices
        .as_ref()
        .filter(|_| platform.is_mapped && kind != CUSTOM)?;
    let of_kind = devices
        .iter()
        .filter(|(_, device)| kind == OF_ALL_KINDS || device.shown_as & kind != 0);
    Some(of_kind.map(|(handle, _)| *handle).collect())
}

/// Writes a list as functions that list do.
///
/// # Safety
/// As of these.
unsafe fn give(list: &[Handle], count: u32, to: OutObjects, found: *mut u32) -> i32 {
    if to.is_null() && found.is_null() || !to.is_null() && count == 0 {
        return INVALID_VALUE;
    }
    // SAFETY: the caller's promise.
    unsafe {
        if !to.is_null() {
            for (at, handle) in list.iter().take(count as usize).enumerate() {
                *to.add(at) = handle.pointer();
            }
        }
        if !found.is_null() {
            *found = list.len() as u32;
        }
    }
    match list.is_empty() {
        true => DEVICE_NOT_FOUND,
        false => SUCCESS,
    }
}

/// Writes an answer as functions that tell do.
///
/// # Safety
/// As of these.
unsafe fn answer<T: Copy>(list: &[T], size: usize, to: Out, needed: *mut usize) -> i32 {
    let bytes = size_of_val(list);
    if !to.is_null() && size < bytes {
        return INVALID_VALUE;
    }
    // SAFETY: the caller's promise.
    unsafe {
        if !to.is_null() {
            std::ptr::copy_nonoverlapping(list.as_ptr(), to.cast(), list.len());
        }
        if !needed.is_null() {
            *needed = bytes;
        }
    }
    SUCCESS
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clGetPlatformIDs(count: u32, platforms: OutObjects, found: *mut u32) -> i32 {
    know_platforms();
    let list: Option<Vec<Handle>> = {
        let shown = shown();
        let platforms = &shown.platforms;
        { platforms.iter().any(|one| one.is_mapped) }
            .then(|| platforms.iter().map(|one| one.handle).collect())
    };
    // SAFETY: the caller's promise.
    unsafe {
        match list {
            Some(list) => give(&list, count, platforms, found),
            None => next::clGetPlatformIDs(count, platforms, found),
        }
    }
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clGetDeviceIDs(
    platform: Object,
    kind: u64,
    count: u32,
    devices: OutObjects,
    found: *mut u32,
) -> i32 {
    let list = mapped(platform, kind);
    // SAFETY: the caller's promise.
    unsafe {
        match list {
            Some(list) => give(&list, count, devices, found),
            None => next::clGetDeviceIDs(real(platform), kind, count, devices, found),
        }
    }
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clGetDeviceInfo(
    device: Object,
    what: u32,
    size: usize,
    to: Out,
    needed: *mut usize,
) -> i32 {
    if what == DEVICE_PLATFORM && HAS_OURS.load(Ordering::Relaxed) {
        let platform = shown().platform_of.get(&Handle::of(device)).copied();
        if let Some(platform) = platform {
            // SAFETY: the caller's promise.
            return unsafe { answer(&[platform.pointer()], size, to, needed) };
        }
    }
    // SAFETY: the caller's promise.
    unsafe { next::clGetDeviceInfo(real(device), what, size, to, needed) }
}

/// Functions that get the library's handle for that which they are given.
macro_rules! of_devices {
    ($($name:ident($($before:ident: $of:ty,)* [$device:ident] $(, $argument:ident: $type:ty)*) -> $result:ty;)*) => {$(
        /// # Safety
        /// As in OpenCL.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "the library's")]
        unsafe extern "C" fn $name($($before: $of,)* $device: Object $(, $argument: $type)*) -> $result {
            // SAFETY: the caller's promise.
            unsafe { next::$name($($before,)* real($device) $(, $argument)*) }
        }
    )*};
}

of_devices! {
    clGetPlatformInfo([platform], what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
    clUnloadPlatformCompiler([platform]) -> i32;
    clRetainDevice([device]) -> i32;
    clReleaseDevice([device]) -> i32;
    clSetDefaultDeviceCommandQueue(context: Object, [device], queue: Object) -> i32;
    clGetDeviceAndHostTimer([device], of_device: *mut u64, of_host: *mut u64) -> i32;
    clGetHostTimer([device], of_host: *mut u64) -> i32;
    clGetProgramBuildInfo(program: Object, [device], what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
    clGetKernelWorkGroupInfo(kernel: Object, [device], what: u32, size: usize, to: Out, needed: *mut usize) -> i32;
    clGetKernelSubGroupInfo(kernel: Object, [device], what: u32, input: usize, from: In, size: usize, to: Out, needed: *mut usize) -> i32;
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clCreateSubDevices(
    device: Object,
    how: *const isize,
    most: u32,
    parts: OutObjects,
    found: *mut u32,
) -> i32 {
    let mut count = 0;
    // SAFETY: the caller's promise; with no room for parts the library only counts them.
    let code = unsafe { next::clCreateSubDevices(real(device), how, 0, null_mut(), &raw mut count) };
    if code == SUCCESS {
        // SAFETY: the caller's promise: the list ends with a zero.
        note_parts(device, unsafe { properties(how) }, count);
    }
    // SAFETY: the caller's promise.
    unsafe { next::clCreateSubDevices(real(device), how, most, parts, found) }
}

/// The program divides a device: into as many parts as before, where something may hang on that.
fn note_parts(device: Object, how: &[isize], count: u32) {
    let what = {
        let shown = shown();
        let of = |(number, platform): (usize, &ShownPlatform)| {
            let mut devices = platform.devices.iter().flatten();
            let at = devices.position(|(handle, _)| *handle == Handle::of(device))?;
            Some(format!("{number}/{at}"))
        };
        let device = shown.platforms.iter().enumerate().find_map(of);
        format!("{} {how:?}", device.unwrap_or_else(|| "part".to_owned()))
    };
    let before = shown::noted().parts.get(&what).copied();
    shown().parts.insert(what, count);
    if let Some(before) = before.filter(|before| *before != count && shown::shows_as_before()) {
        other_parts(before, count).exit();
    }
}

fn other_parts(before: u32, count: u32) -> Fatal {
    let headline = headline!(
        "E2421: the program divides a device into {count} parts, and had {before} of them at the checkpoint"
    );
    Fatal::refused(headline).help(
        "restart where the device has as many compute units as it had; or divide it by counts of your own \
         (`CL_DEVICE_PARTITION_BY_COUNTS`), which are the same on all machines",
    )
}

/// A list of numbers that ends with a zero; nothing where there is none.
///
/// # Safety
/// It is one.
unsafe fn properties<'a>(list: *const isize) -> &'a [isize] {
    if list.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe {
        let mut len = 0;
        while *list.add(len) != 0 {
            len += 1;
        }
        std::slice::from_raw_parts(list, len)
    }
}

/// The same for a context, in which names and values take turns: with the library's handle for its platform, and the zero at the end.
///
/// # Safety
/// It is one.
unsafe fn with_real_platform(list: *const isize) -> Vec<isize> {
    let mut all = Vec::new();
    // SAFETY: the caller's promise.
    unsafe {
        while !list.is_null() && *list.add(all.len()) != 0 {
            let (name, value) = (*list.add(all.len()), *list.add(all.len() + 1));
            let value = match name {
                CONTEXT_PLATFORM => {
                    let platform = std::ptr::with_exposed_provenance_mut(value as usize);
                    real(platform).expose_provenance() as isize
                }
                _ => value,
            };
            all.extend([name, value]);
        }
    }
    all.push(0);
    all
}

/// The platform that properties of a context name, or null.
///
/// # Safety
/// As above.
unsafe fn platform_in(list: *const isize) -> Object {
    let mut at = 0;
    // SAFETY: the caller's promise.
    unsafe {
        while !list.is_null() && *list.add(at) != 0 {
            if *list.add(at) == CONTEXT_PLATFORM {
                return std::ptr::with_exposed_provenance_mut(*list.add(at + 1) as usize);
            }
            at += 2;
        }
    }
    null_mut()
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clCreateContext(
    how: *const isize,
    count: u32,
    devices: Objects,
    function: In,
    data: Out,
    code: *mut i32,
) -> Object {
    if !HAS_OURS.load(Ordering::Relaxed) {
        // SAFETY: the caller's promise.
        return unsafe { next::clCreateContext(how, count, devices, function, data, code) };
    }
    // SAFETY: the caller's promise.
    unsafe {
        let given = handles(count, devices);
        let real = reals(&given);
        let all = with_real_platform(how);
        let how = if how.is_null() { null() } else { all.as_ptr() };
        let made = next::clCreateContext(how, real.len() as u32, real.as_ptr(), function, data, code);
        made_with(made, &given);
        made
    }
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clCreateContextFromType(
    how: *const isize,
    kind: u64,
    function: In,
    data: Out,
    code: *mut i32,
) -> Object {
    // SAFETY: the caller's promise; the list is there until the call has returned.
    unsafe {
        match mapped(platform_in(how), kind) {
            None => {
                let made = next::clCreateContextFromType(how, kind, function, data, code);
                made_with(made, &[]);
                made
            }
            Some(list) if list.is_empty() => {
                if !code.is_null() {
                    *code = DEVICE_NOT_FOUND;
                }
                null_mut()
            }
            Some(list) => {
                let list: Vec<Object> = list.iter().map(|one| one.pointer()).collect();
                clCreateContext(how, list.len() as u32, list.as_ptr(), function, data, code)
            }
        }
    }
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clGetContextInfo(
    context: Object,
    what: u32,
    size: usize,
    to: Out,
    needed: *mut usize,
) -> i32 {
    let list = match what {
        CONTEXT_DEVICES | CONTEXT_NUMBER => list_of(context),
        _ => None,
    };
    // SAFETY: the caller's promise.
    unsafe { told(list, what == CONTEXT_NUMBER, size, to, needed) }
        // SAFETY: the caller's promise.
        .unwrap_or_else(|| unsafe { next::clGetContextInfo(context, what, size, to, needed) })
}

/// Tells a list of devices, or how long it is.
///
/// # Safety
/// As of functions that tell.
unsafe fn told(
    list: Option<Vec<Handle>>,
    is_number: bool,
    size: usize,
    to: Out,
    needed: *mut usize,
) -> Option<i32> {
    let list = list?;
    let pointers: Vec<Object> = list.iter().map(|one| one.pointer()).collect();
    // SAFETY: the caller's promise.
    Some(unsafe {
        match is_number {
            true => answer(&[pointers.len() as u32], size, to, needed),
            false => answer(&pointers, size, to, needed),
        }
    })
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clCreateCommandQueue(
    context: Object,
    device: Object,
    how: u64,
    code: *mut i32,
) -> Object {
    // SAFETY: the caller's promise.
    let made = unsafe { next::clCreateCommandQueue(context, real(device), how, code) };
    made_with(made, &[Handle::of(device)]);
    queue(made, context);
    made
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clCreateCommandQueueWithProperties(
    context: Object,
    device: Object,
    how: In,
    code: *mut i32,
) -> Object {
    // SAFETY: the caller's promise.
    let made = unsafe { next::clCreateCommandQueueWithProperties(context, real(device), how, code) };
    made_with(made, &[Handle::of(device)]);
    queue(made, context);
    made
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clGetCommandQueueInfo(
    queue: Object,
    what: u32,
    size: usize,
    to: Out,
    needed: *mut usize,
) -> i32 {
    let list = match what {
        QUEUE_DEVICE => list_of(queue),
        _ => None,
    };
    // SAFETY: the caller's promise.
    unsafe { told(list, false, size, to, needed) }
        // SAFETY: the caller's promise.
        .unwrap_or_else(|| unsafe { next::clGetCommandQueueInfo(queue, what, size, to, needed) })
}

/// Functions that are given a list of devices, of which the library gets each once.
macro_rules! of_lists {
    ($($name:ident($($before:ident: $of:ty,)* [$count:ident, $list:ident] $(, $argument:ident: $type:ty)*) -> $result:ty as $made:ident, $given:ident $note:block)*) => {$(
        /// # Safety
        /// As in OpenCL.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "the library's")]
        unsafe extern "C" fn $name($($before: $of,)* $count: u32, $list: Objects $(, $argument: $type)*) -> $result {
            // SAFETY: the caller's promise; the list is there until the call has returned.
            unsafe {
                if $list.is_null() || !HAS_OURS.load(Ordering::Relaxed) {
                    return next::$name($($before,)* $count, $list $(, $argument)*);
                }
                let $given = handles($count, $list);
                let real = reals(&$given);
                let $made = next::$name($($before,)* real.len() as u32, real.as_ptr() $(, $argument)*);
                $note
                $made
            }
        }
    )*};
}

of_lists! {
    clBuildProgram(program: Object, [count, list], how: *const c_char, function: In, data: Out) -> i32 as code, given {}
    clCompileProgram(program: Object, [count, list], how: *const c_char, headers: u32, programs: Objects, names: In, function: In, data: Out) -> i32 as code, given {}
    clLinkProgram(context: Object, [count, list], how: *const c_char, inputs: u32, programs: Objects, function: In, data: Out, code: *mut i32) -> Object as made, given {
        made_with(made, &given);
    }
    clCreateProgramWithBuiltInKernels(context: Object, [count, list], names: *const c_char, code: *mut i32) -> Object as made, given {
        made_with(made, &given);
    }
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clCreateProgramWithSource(
    context: Object,
    count: u32,
    texts: In,
    sizes: In,
    code: *mut i32,
) -> Object {
    // SAFETY: the caller's promise.
    let made = unsafe { next::clCreateProgramWithSource(context, count, texts, sizes, code) };
    made_with(made, &[]);
    made
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clCreateProgramWithIL(context: Object, text: In, size: usize, code: *mut i32) -> Object {
    // SAFETY: the caller's promise.
    let made = unsafe { next::clCreateProgramWithIL(context, text, size, code) };
    made_with(made, &[]);
    made
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clCreateProgramWithBinary(
    context: Object,
    count: u32,
    list: Objects,
    sizes: *const usize,
    binaries: Objects,
    states: *mut i32,
    code: *mut i32,
) -> Object {
    // SAFETY: the caller's promise: all lists are as long as that of the devices.
    unsafe {
        if list.is_null() || !HAS_OURS.load(Ordering::Relaxed) || sizes.is_null() || binaries.is_null() {
            return next::clCreateProgramWithBinary(context, count, list, sizes, binaries, states, code);
        }
        let given = handles(count, list);
        let all = reals(&given);
        let place = |device: Object| {
            given
                .iter()
                .position(|one| real(one.pointer()) == device)
                .unwrap_or(0)
        };
        let places: Vec<usize> = all.iter().map(|device| place(*device)).collect();
        let of_each: Vec<usize> = places.iter().map(|at| *sizes.add(*at)).collect();
        let binary: Vec<Object> = places.iter().map(|at| *binaries.add(*at)).collect();
        let mut state = vec![0; all.len()];
        let (devices, len) = (all.as_ptr(), all.len() as u32);
        let to = if states.is_null() {
            null_mut()
        } else {
            state.as_mut_ptr()
        };
        let made = next::clCreateProgramWithBinary(
            context,
            len,
            devices,
            of_each.as_ptr(),
            binary.as_ptr(),
            to,
            code,
        );
        for (at, one) in given.iter().enumerate().filter(|_| !states.is_null()) {
            let place = all.iter().position(|device| *device == real(one.pointer()));
            *states.add(at) = place.map_or(0, |place| state[place]);
        }
        made_with(made, &given);
        made
    }
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clGetProgramInfo(
    program: Object,
    what: u32,
    size: usize,
    to: Out,
    needed: *mut usize,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        let is_of_each = matches!(what, PROGRAM_NUMBER | PROGRAM_DEVICES | BINARY_SIZES | BINARIES);
        let list = match is_of_each && HAS_OURS.load(Ordering::Relaxed) {
            true => devices_of(program),
            false => None,
        };
        let Some(list) = list else {
            return next::clGetProgramInfo(program, what, size, to, needed);
        };
        match what {
            BINARY_SIZES => match of_library(program, BINARY_SIZES) {
                Some(sizes) => answer(&for_each(program, &list, &sizes), size, to, needed),
                None => INVALID_VALUE,
            },
            BINARIES => give_binaries(program, &list, (size, to, needed)),
            _ => told(Some(list), what == PROGRAM_NUMBER, size, to, needed).unwrap_or(INVALID_VALUE),
        }
    }
}

/// The devices of a program as the program sees them, where handles of ours are among them: its own, or those of its context.
///
/// # Safety
/// The program is alive.
unsafe fn devices_of(program: Object) -> Option<Vec<Handle>> {
    if let Some(list) = list_of(program) {
        return Some(list);
    }
    let mut context: Object = null_mut();
    // SAFETY: the caller's promise; what is written has room.
    let code = unsafe {
        let room = size_of::<Object>();
        next::clGetProgramInfo(
            program,
            PROGRAM_CONTEXT,
            room,
            (&raw mut context).cast(),
            null_mut(),
        )
    };
    match code {
        SUCCESS => list_of(context),
        _ => None,
    }
}

/// What the library tells of each device of a program.
///
/// # Safety
/// The program is alive, and these are as large as addresses.
pub(super) unsafe fn of_library(program: Object, what: u32) -> Option<Vec<usize>> {
    let mut list = vec![0_usize; 256];
    let mut needed = 0;
    // SAFETY: the caller's promise; what is written has room.
    let code = unsafe {
        let room = size_of_val(&list[..]);
        next::clGetProgramInfo(program, what, room, list.as_mut_ptr().cast(), &raw mut needed)
    };
    list.truncate(needed / size_of::<usize>());
    (code == SUCCESS).then_some(list)
}

/// For each of these devices what there is for that of the library's which it stands for.
///
/// # Safety
/// The program is alive.
unsafe fn for_each(program: Object, list: &[Handle], of_each: &[usize]) -> Vec<usize> {
    // SAFETY: the caller's promise.
    let devices = unsafe { of_library(program, PROGRAM_DEVICES) }.unwrap_or_default();
    let place = |one: &Handle| {
        let device = real(one.pointer()).expose_provenance();
        devices.iter().position(|known| *known == device)
    };
    list.iter()
        .map(|one| place(one).and_then(|at| of_each.get(at).copied()).unwrap_or(0))
        .collect()
}

/// Writes the binaries of a program to where the program wants that of each device.
///
/// # Safety
/// As of the library's function; the program is alive.
unsafe fn give_binaries(
    program: Object,
    list: &[Handle],
    (size, to, needed): (usize, Out, *mut usize),
) -> i32 {
    // SAFETY: the caller's promise: there are as many places as devices, each with room for its binary.
    unsafe {
        let wanted: Vec<Object> = vec![null_mut(); list.len()];
        if to.is_null() {
            return answer(&wanted, size, to, needed);
        }
        let Some(sizes) = of_library(program, BINARY_SIZES).filter(|_| size >= size_of_val(&wanted[..]))
        else {
            return INVALID_VALUE;
        };
        let mut own: Vec<Vec<u8>> = sizes.iter().map(|size| vec![0; *size]).collect();
        let mut places: Vec<Object> = own.iter_mut().map(|one| one.as_mut_ptr().cast()).collect();
        let room = size_of_val(&places[..]);
        let code = next::clGetProgramInfo(program, BINARIES, room, places.as_mut_ptr().cast(), null_mut());
        if code != SUCCESS {
            return code;
        }
        let numbers: Vec<usize> = (0..own.len()).collect();
        for (at, number) in for_each(program, list, &numbers).into_iter().enumerate() {
            let place = *to.cast::<*mut u8>().add(at);
            if let Some(binary) = own.get(number).filter(|_| !place.is_null()) {
                std::ptr::copy_nonoverlapping(binary.as_ptr(), place, binary.len());
            }
        }
        if !needed.is_null() {
            *needed = size_of_val(&wanted[..]);
        }
        SUCCESS
    }
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> Out {
    live().unseen_commands();
    match HAS_OURS.load(Ordering::Relaxed) {
        true => null_mut(),
        // SAFETY: the caller's promise.
        false => unsafe { next::clGetExtensionFunctionAddress(name) },
    }
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
unsafe extern "C" fn clGetExtensionFunctionAddressForPlatform(platform: Object, name: *const c_char) -> Out {
    live().unseen_commands();
    match HAS_OURS.load(Ordering::Relaxed) {
        true => null_mut(),
        // SAFETY: the caller's promise.
        false => unsafe { next::clGetExtensionFunctionAddressForPlatform(platform, name) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::c_void;

    fn platform(name: &str, was_asked: bool) -> Platform {
        Platform {
            name: name.into(),
            devices: was_asked.then(Vec::new),
        }
    }

    #[test]
    fn platforms_are_found_by_their_names_and_else_in_turn() {
        let of = |had: &[(&str, bool)], there: &[&str]| {
            let had: Vec<Platform> = had
                .iter()
                .map(|(name, was_asked)| platform(name, *was_asked))
                .collect();
            let there: Vec<String> = there.iter().map(|name| (*name).to_owned()).collect();
            platforms_for(&had, &there)
        };
        assert_eq!(of(&[("a", true)], &["b", "a"]), [1]);
        assert_eq!(of(&[("a", false), ("b", true)], &["c", "d"]), [1, 0]);
        assert_eq!(
            of(&[("a", true), ("b", true), ("c", true)], &["c", "d"]),
            [1, 1, 0]
        );
        assert_eq!(of(&[("a", true), ("a", true)], &["a"]), [0, 0]);
    }

    #[test]
    fn another_number_of_parts_is_refused_by_both_numbers() {
        let said = other_parts(4, 8).to_string();
        assert!(
            said.contains("E2421") && said.contains("into 8 parts, and had 4"),
            "{said}"
        );
    }

    #[test]
    fn each_that_the_program_had_is_another_one() {
        let mut shown = Shown {
            platforms: Vec::new(),
            real_of: BTreeMap::new(),
            given: BTreeSet::new(),
            platform_of: BTreeMap::new(),
            lists: BTreeMap::new(),
            parts: BTreeMap::new(),
        };
        let mut places = [0_u64; 2];
        let [one, other] = [0, 1].map(|at| Handle::of((&raw mut places[at]).cast::<c_void>()));
        let device = |kind: &str, shown_as| Device {
            kind: kind.into(),
            shown_as,
            ..Device::default()
        };
        let had = Platform {
            name: "a".into(),
            devices: Some(vec![device("CPU", 3), device("CPU", 2), device("GPU", 4)]),
        };
        shown.show(&[(one, "a".into())], &[had]);
        let there = [(other, device("CPU", 3))];
        let (before, now, name) = shown.show_devices(0, &there).expect("asked for the first time");
        assert_eq!((before.len(), now.len(), &*name), (3, 3, "a"));
        assert_eq!(now.iter().map(|one| one.shown_as).collect::<Vec<_>>(), [3, 2, 4]);
        let handles: BTreeSet<Handle> = { shown.platforms[0].devices.iter().flatten() }
            .map(|(handle, _)| *handle)
            .collect();
        assert_eq!(handles.len(), 3);
        assert!(handles.iter().all(|handle| shown.real(*handle) == other));
        assert!(shown.platforms[0].is_mapped && shown.show_devices(0, &there).is_none());
    }
}
