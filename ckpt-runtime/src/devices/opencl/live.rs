//! The objects of OpenCL that are alive, by their handles.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::c_void;
use std::sync::{LazyLock, Mutex, MutexGuard};

use super::UNKNOWN;
use super::functions::next;
use crate::base::lock::locked;
use crate::devices::Obstacle;

/// A handle as the library gives it. Other objects may have it once this one is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Handle(usize);

impl Handle {
    pub fn of(pointer: *mut c_void) -> Handle {
        Handle(pointer.expose_provenance())
    }

    pub fn pointer(self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
}

/// What memory on a device is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An array that is read and written as bytes.
    Array,
    /// An array whose bytes are in memory of the program's.
    InProgram,
    /// A part of another one.
    Part,
    Image,
    Pipe,
    /// Shared with a library for graphics.
    Graphics,
    /// Addressed by pointers, from both sides.
    Shared,
}

impl Kind {
    fn obstacle(self) -> Option<Obstacle> {
        match self {
            Kind::Array => None,
            Kind::InProgram => Some(Obstacle::InProgram),
            Kind::Part => Some(Obstacle::Part),
            Kind::Image => Some(Obstacle::Image),
            Kind::Pipe => Some(Obstacle::Pipe),
            Kind::Graphics => Some(Obstacle::Graphics),
            Kind::Shared => Some(Obstacle::Shared),
        }
    }
}

#[derive(Debug)]
struct Memory {
    kind: Kind,
    context: Handle,
    bytes: usize,
    references: u32,
    /// The program has said that it does not read it from its side, or does not write it.
    is_guarded: bool,
    /// How often it is mapped.
    mapped: u32,
    /// The library calls the program when it is gone.
    is_awaited: bool,
    /// By a variable, since the checkpoint began.
    is_saved: bool,
    /// No other array has it, nor will have.
    number: u64,
    /// How often commands were started that may write to it.
    writes: u32,
    /// Kernels do not write to it: the program has said so.
    is_only_read: bool,
}

/// What is in an array: the same as long as this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Content {
    pub array: u64,
    pub writes: u32,
}

#[derive(Debug)]
struct Queue {
    context: Handle,
    references: u32,
}

#[derive(Debug)]
struct Kernel {
    references: u32,
    /// By number, as they were given; nothing for one whose array is gone.
    arguments: BTreeMap<u32, Option<Vec<u8>>>,
    /// It was given another argument once it had one.
    is_rebound: bool,
    /// The arguments that it was given since it was last started.
    fresh: BTreeSet<u32>,
    /// It was started with an argument from before the last start.
    relies_on_former: bool,
    /// By number, whether what an argument points to is only read.
    only_reads: BTreeMap<u32, bool>,
    /// It has arguments that came by no function of ours.
    has_unseen_arguments: bool,
}

/// The object that an argument is, if it is one.
fn handle_in(bytes: &[u8]) -> Option<Handle> {
    Some(Handle(usize::from_ne_bytes(bytes.try_into().ok()?)))
}

impl Kernel {
    /// Whether it has arguments that it would not have if it were made again. One that gets all of them before each start
    /// needs none.
    fn is_another(&self) -> bool {
        self.is_rebound && (self.relies_on_former || !self.fresh.is_empty())
    }
}

/// How an array is reached.
#[derive(Debug)]
pub(super) struct Target {
    pub context: Handle,
    /// One of the program's, retained.
    pub queue: Option<Handle>,
    /// The program has said that it does not read it from its side, or does not write it.
    pub is_guarded: bool,
}

/// In the number of an array: no function of the program has such a one.
const OF_DEVICES: u64 = 1 << 63;

/// What is alive.
#[derive(Debug, Default)]
pub(super) struct Live {
    memory: HashMap<Handle, Memory>,
    /// How many there were.
    made: u64,
    /// Whether commands may be started that come by no function of ours.
    has_unseen_commands: bool,
    queues: HashMap<Handle, Queue>,
    kernels: HashMap<Handle, Kernel>,
    /// Events that the program completes itself, and has not.
    awaited: HashMap<Handle, ()>,
    /// Functions of the program that the library has yet to call.
    callbacks: u32,
    /// Whether kernels may have content of their own.
    has_variables: bool,
    /// Whether the program has loaded another library than that in front of which ours stand.
    has_other_library: bool,
    /// What becomes complete with queues that the program has given back.
    left: Vec<Handle>,
}

static LIVE: LazyLock<Mutex<Live>> = LazyLock::new(Mutex::default);

/// A leaf lock.
pub(super) fn live() -> MutexGuard<'static, Live> {
    locked(&LIVE)
}

impl Live {
    pub fn memory_made(&mut self, handle: Handle, kind: Kind, context: Handle, bytes: usize) {
        let memory = Memory {
            kind,
            context,
            bytes,
            references: 1,
            is_guarded: false,
            mapped: 0,
            is_awaited: false,
            is_saved: false,
            number: self.made | OF_DEVICES,
            writes: 0,
            is_only_read: false,
        };
        self.made += 1;
        self.memory.insert(handle, memory);
    }

    pub fn guarded(&mut self, handle: Handle) {
        if let Some(memory) = self.memory.get_mut(&handle) {
            memory.is_guarded = true;
        }
    }

    /// Kernels do not write to it.
    pub fn only_read(&mut self, handle: Handle) {
        if let Some(memory) = self.memory.get_mut(&handle) {
            memory.is_only_read = true;
        }
    }

    /// A command was started that may write to this.
    pub fn written(&mut self, handle: Handle) {
        match self.memory.get_mut(&handle) {
            Some(memory) if memory.kind == Kind::Array => memory.writes = memory.writes.wrapping_add(1),
            // A part of an array, or an image of one: which is not known.
            _ => self.all_written(),
        }
    }

    /// A command was started that may write to anything.
    pub fn all_written(&mut self) {
        for memory in self.memory.values_mut() {
            memory.writes = memory.writes.wrapping_add(1);
        }
    }

    pub fn unseen_commands(&mut self) {
        self.has_unseen_commands = true;
    }

    /// What is in an array, if that is known to stay until something is noted here.
    pub fn content(&self, array: Handle) -> Option<Content> {
        let memory = self.memory.get(&array).filter(|_| !self.has_unseen_commands)?;
        (memory.kind == Kind::Array && memory.mapped == 0).then_some(Content {
            array: memory.number,
            writes: memory.writes,
        })
    }

    pub fn memory_retained(&mut self, handle: Handle) {
        if let Some(memory) = self.memory.get_mut(&handle) {
            memory.references += 1;
        }
    }

    pub fn memory_released(&mut self, handle: Handle) {
        let Some(memory) = self.memory.get_mut(&handle) else {
            return;
        };
        memory.references -= 1;
        if memory.references > 0 {
            return;
        }
        self.memory.remove(&handle);
        // What gets this handle next is another one.
        let bytes = handle.0.to_ne_bytes();
        for argument in self
            .kernels
            .values_mut()
            .flat_map(|kernel| kernel.arguments.values_mut())
        {
            if argument.as_deref() == Some(&bytes[..]) {
                *argument = None;
            }
        }
    }

    pub fn mapped(&mut self, handle: Handle) {
        if let Some(memory) = self.memory.get_mut(&handle) {
            memory.mapped += 1;
        }
    }

    pub fn unmapped(&mut self, handle: Handle) {
        if let Some(memory) = self.memory.get_mut(&handle) {
            memory.mapped = memory.mapped.saturating_sub(1);
        }
    }

    /// The program is called when it is gone.
    pub fn end_is_awaited(&mut self, handle: Handle) {
        if let Some(memory) = self.memory.get_mut(&handle) {
            memory.is_awaited = true;
        }
    }

    pub fn queue_made(&mut self, handle: Handle, context: Handle) {
        self.queues.insert(
            handle,
            Queue {
                context,
                references: 1,
            },
        );
    }

    pub fn queue_retained(&mut self, handle: Handle) {
        if let Some(queue) = self.queues.get_mut(&handle) {
            queue.references += 1;
        }
    }

    /// Gives whether that was the last reference of the program's.
    pub fn queue_released(&mut self, handle: Handle) -> bool {
        let Some(queue) = self.queues.get_mut(&handle) else {
            return false;
        };
        queue.references -= 1;
        let is_last = queue.references == 0;
        if is_last {
            self.queues.remove(&handle);
        }
        is_last
    }

    /// An event that becomes complete with what a queue had to do when the program gave it back. Those that are complete
    /// are returned, to be given back.
    pub fn leaves(&mut self, event: Handle, is_complete: impl Fn(Handle) -> bool) -> Vec<Handle> {
        self.left.push(event);
        let (complete, left) = self.left.drain(..).partition(|event| is_complete(*event));
        self.left = left;
        complete
    }

    pub fn kernel_made(&mut self, handle: Handle) {
        let kernel = Kernel {
            references: 1,
            arguments: BTreeMap::new(),
            is_rebound: false,
            fresh: BTreeSet::new(),
            relies_on_former: false,
            only_reads: BTreeMap::new(),
            has_unseen_arguments: false,
        };
        self.kernels.insert(handle, kernel);
    }

    pub fn kernel_retained(&mut self, handle: Handle) {
        if let Some(kernel) = self.kernels.get_mut(&handle) {
            kernel.references += 1;
        }
    }

    pub fn kernel_released(&mut self, handle: Handle) {
        if let Some(kernel) = self.kernels.get_mut(&handle) {
            kernel.references -= 1;
            if kernel.references == 0 {
                self.kernels.remove(&handle);
            }
        }
    }

    /// An argument of a kernel is these bytes from here on.
    pub fn bound(&mut self, kernel: Handle, index: u32, bytes: &[u8]) {
        if let Some(kernel) = self.kernels.get_mut(&kernel) {
            kernel.fresh.insert(index);
            match kernel.arguments.get(&index) {
                None => {
                    kernel.arguments.insert(index, Some(bytes.to_vec()));
                }
                Some(Some(known)) if known == bytes => {}
                Some(_) => {
                    kernel.is_rebound = true;
                    kernel.arguments.insert(index, Some(bytes.to_vec()));
                }
            }
        }
    }

    /// A kernel was given something else than an argument.
    pub fn changed(&mut self, kernel: Handle) {
        if let Some(kernel) = self.kernels.get_mut(&kernel) {
            kernel.is_rebound = true;
            kernel.relies_on_former = true;
            kernel.has_unseen_arguments = true;
        }
    }

    /// Whether it is not known yet if what an argument points to is only read.
    pub fn asks_whether_read(&self, kernel: Handle, index: u32) -> bool {
        let kernel = self.kernels.get(&kernel);
        kernel.is_some_and(|kernel| !kernel.only_reads.contains_key(&index))
    }

    pub fn only_reads(&mut self, kernel: Handle, index: u32, is: bool) {
        if let Some(kernel) = self.kernels.get_mut(&kernel) {
            kernel.only_reads.insert(index, is);
        }
    }

    /// A kernel was started.
    pub fn started(&mut self, handle: Handle) {
        let Some(kernel) = self.kernels.get_mut(&handle) else {
            return self.all_written();
        };
        let fresh = std::mem::take(&mut kernel.fresh);
        kernel.relies_on_former |= kernel.arguments.keys().any(|index| !fresh.contains(index));
        let is_written = |index: &u32| kernel.only_reads.get(index) != Some(&true);
        let written = kernel.arguments.iter().filter(|(index, _)| is_written(index));
        let written: Vec<Handle> = written
            .filter_map(|(_, bytes)| handle_in(bytes.as_deref()?))
            .collect();
        if kernel.has_unseen_arguments {
            self.all_written();
        }
        for array in written {
            if self.memory.get(&array).is_some_and(|memory| !memory.is_only_read) {
                self.written(array);
            }
        }
    }

    pub fn has_variables(&mut self) {
        self.has_variables = true;
    }

    pub fn other_library(&mut self) {
        self.has_other_library = true;
    }

    pub fn awaited(&mut self, event: Handle) {
        self.awaited.insert(event, ());
    }

    pub fn completed(&mut self, event: Handle) {
        self.awaited.remove(&event);
    }

    pub fn callback_set(&mut self) {
        self.callbacks += 1;
    }

    pub fn callback_called(&mut self) {
        self.callbacks = self.callbacks.saturating_sub(1);
    }

    pub fn obstacle(&self) -> Option<Obstacle> {
        let any = |is: fn(&Memory) -> bool| self.memory.values().any(is);
        let of_kind = self.memory.values().find_map(|memory| memory.kind.obstacle());
        let found = [
            (any(|memory| memory.mapped > 0), Obstacle::Mapped),
            (!self.awaited.is_empty(), Obstacle::Event),
            (self.callbacks > 0, Obstacle::Callback),
            (any(|memory| memory.is_awaited), Obstacle::EndAwaited),
            (self.has_variables, Obstacle::Variables),
            (self.has_other_library, Obstacle::OtherLibrary),
            (self.kernels.values().any(Kernel::is_another), Obstacle::Rebound),
        ];
        let found = found
            .into_iter()
            .find_map(|(is, obstacle)| is.then_some(obstacle));
        found.or(of_kind)
    }

    /// A checkpoint begins.
    pub fn none_is_saved(&mut self) {
        for memory in self.memory.values_mut() {
            memory.is_saved = false;
        }
    }

    /// All queues, retained, and events of those that the program has given back.
    pub fn all_queues(&mut self) -> (Vec<Handle>, Vec<Handle>) {
        let queues: Vec<Handle> = self.queues.keys().copied().collect();
        for queue in &queues {
            // SAFETY: the program has a reference, and its next call that gives one back waits for the lock.
            unsafe { next::clRetainCommandQueue(queue.pointer()) };
        }
        (queues, std::mem::take(&mut self.left))
    }

    /// What is needed to reach an array of so many bytes.
    pub fn target(&self, array: Handle, bytes: usize) -> Result<Target, String> {
        let Some(memory) = self.memory.get(&array) else {
            return Err(UNKNOWN.into());
        };
        if memory.bytes != bytes || memory.kind != Kind::Array {
            return Err(format!(
                "an array on a device has {} bytes of its own, where {bytes} are expected",
                memory.bytes
            ));
        }
        let mut queues = self.queues.iter();
        let queue = queues.find(|(_, queue)| queue.context == memory.context);
        let queue = queue.map(|(handle, _)| *handle);
        if let Some(queue) = queue {
            // SAFETY: as in `all_queues`.
            unsafe { next::clRetainCommandQueue(queue.pointer()) };
        }
        Ok(Target {
            context: memory.context,
            queue,
            is_guarded: memory.is_guarded,
        })
    }

    /// How many bytes an array has.
    pub fn size(&self, array: Handle) -> Option<usize> {
        let memory = self.memory.get(&array)?;
        (memory.kind == Kind::Array).then_some(memory.bytes)
    }

    pub fn is_saved(&mut self, array: Handle) {
        if let Some(memory) = self.memory.get_mut(&array) {
            memory.is_saved = true;
        }
    }

    pub fn unsaved(&self) -> Option<String> {
        let unsaved = self.memory.values().filter(|memory| !memory.is_saved);
        let (count, bytes) = unsaved.fold((0_u64, 0), |(count, bytes), memory| {
            (count + 1, bytes + memory.bytes)
        });
        match count {
            0 => None,
            1 => Some(format!(
                "an array of {bytes} bytes on a device belongs to no variable that is saved"
            )),
            _ => Some(format!(
                "{count} arrays of {bytes} bytes on devices belong to no variable that is saved"
            )),
        }
    }
}
