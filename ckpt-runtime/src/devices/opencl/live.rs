//! The objects of OpenCL that are alive, by their handles.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::thread::ThreadId;

use super::functions::next;
use super::texels::Shape;
use super::{SUCCESS, UNKNOWN};
use crate::base::copying::IN_BLOCKS;
use crate::base::lock::locked;
use crate::devices::numbers::Numbers;
use crate::devices::{Obstacle, SHARED};

/// As the library numbers what it says of a sampler.
const NORMALISED: u32 = 0x1152;
const BEYOND: u32 = 0x1153;
const BETWEEN: u32 = 0x1154;

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
    /// An image whose texels are read and written.
    Image(Shape),
    /// An image of another kind.
    Unread(Obstacle),
    Pipe,
    /// Shared with a library for graphics.
    Graphics,
    /// Addressed by pointers, from both sides.
    Shared,
}

impl Kind {
    fn obstacle(self) -> Option<Obstacle> {
        match self {
            Kind::Array | Kind::Image(_) => None,
            Kind::Unread(obstacle) => Some(obstacle),
            Kind::InProgram => Some(Obstacle::InProgram),
            Kind::Part => Some(Obstacle::Part),
            Kind::Pipe => Some(Obstacle::Pipe),
            Kind::Graphics => Some(Obstacle::Graphics),
            Kind::Shared => Some(Obstacle::Shared),
        }
    }

    /// Whether a checkpoint has its content.
    fn has_content(self) -> bool {
        self.obstacle().is_none()
    }

    fn shape(self) -> Option<Shape> {
        match self {
            Kind::Image(shape) => Some(shape),
            _ => None,
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
    /// Variables have exchanged it.
    is_exchanged: bool,
    /// No other array has it, nor will have.
    number: u64,
    /// How often commands were started that may write to it.
    writes: u32,
    /// As often when a checkpoint read it last.
    writes_when_read: Option<u32>,
}

/// What a kernel has as an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Bound {
    Value(Vec<u8>),
    /// So much memory of its own.
    Local(usize),
    /// An address.
    Address,
    /// An array that is gone.
    Gone,
}

/// What a checkpoint has of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Argument {
    /// The array of this number among those that are alive, by the order in which they were made: the arrays of variables
    /// that are alive were made in the order of the stack, in which a restart makes them again.
    Array(usize),
    Value(Vec<u8>),
    Local(usize),
    Sampler(Sampler),
}

/// What a sampler is: whether coordinates are from 0 to 1, what is beyond the image, and what is between two texels, as the library
/// numbers it.
pub(crate) type Sampler = [u32; 3];

/// The arguments of a kernel, as a checkpoint has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// How many arrays are alive.
    pub arrays: usize,
    pub list: Vec<(u32, Argument)>,
}

/// Arguments that a kernel gets when all arrays are there again.
#[derive(Debug)]
struct Pending {
    kernel: Handle,
    arguments: Arguments,
    /// The library's kernel keeps its arrays alive.
    keeps: bool,
}

/// What a kernel is to be given now.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ToBind {
    pub kernel: Handle,
    pub index: u32,
    /// The handle of an array is one as well.
    pub argument: Argument,
    /// The array that the kernel is to keep alive.
    pub kept: Option<Handle>,
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
    /// By number, as they were given.
    arguments: BTreeMap<u32, Bound>,
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
    /// A variable has saved its arguments since the checkpoint began.
    is_saved: bool,
    /// Arrays that a restart has it keep alive, by the number of the argument.
    kept: BTreeMap<u32, Handle>,
}

/// The object that an argument is, if it is one.
fn handle_in(argument: &Bound) -> Option<Handle> {
    match argument {
        Bound::Value(bytes) => Some(Handle(usize::from_ne_bytes(bytes.as_slice().try_into().ok()?))),
        Bound::Local(_) | Bound::Address | Bound::Gone => None,
    }
}

/// What a sampler is that is alive.
fn about_sampler(sampler: Handle) -> Result<Sampler, String> {
    let ask = |what| {
        let mut answer = 0_u32;
        // SAFETY: the sampler is alive; what is written has room.
        let code = unsafe {
            let to = (&raw mut answer).cast();
            next::clGetSamplerInfo(
                sampler.pointer(),
                what,
                size_of::<u32>(),
                to,
                std::ptr::null_mut(),
            )
        };
        match code {
            SUCCESS => Ok(answer),
            code => Err(format!(
                "nobody says what a sampler is that a kernel has as an argument (error {code} of OpenCL)"
            )),
        }
    };
    Ok([ask(NORMALISED)?, ask(BEYOND)?, ask(BETWEEN)?])
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
    /// Of an image.
    pub shape: Option<Shape>,
}

/// In the number of an array: no function of the program has such a one.
const OF_DEVICES: u64 = 1 << 63;

/// What is alive.
#[derive(Debug, Default)]
pub(super) struct Live {
    memory: BTreeMap<Handle, Memory>,
    /// How many there were.
    made: u64,
    /// Whether commands may be started that come by no function of ours.
    has_unseen_commands: bool,
    queues: BTreeMap<Handle, Queue>,
    kernels: BTreeMap<Handle, Kernel>,
    /// By their checksums, the parameters whose source was looked through.
    parameters: BTreeMap<u128, bool>,
    /// How often each is referred to.
    samplers: BTreeMap<Handle, u32>,
    /// Those that a restart has made for kernels, by their contexts and what they are.
    samplers_for_kernels: BTreeMap<(Handle, Sampler), Handle>,
    /// Events that the program completes itself, and has not.
    awaited: BTreeSet<Handle>,
    /// Functions of the program that the library has yet to call.
    callbacks: u32,
    /// Whether kernels may have content of their own.
    has_variables: bool,
    /// Whether a kernel was started with an array that the program had given back.
    has_started_without: bool,
    /// Whether the program has loaded another library than that in front of which ours stand.
    has_other_library: bool,
    /// Whether several variables have saved an array that was exchanged.
    has_shared: bool,
    /// The thread that has made the arrays, and whether others have made some.
    maker: Option<(ThreadId, bool)>,
    /// The arrays that a restart has filled, by their numbers.
    filled: BTreeMap<u64, Handle>,
    pending: Vec<Pending>,
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
            is_exchanged: false,
            number: self.made | OF_DEVICES,
            writes: 0,
            writes_when_read: None,
        };
        self.made += 1;
        let here = std::thread::current().id();
        let (first, others) = self.maker.unwrap_or((here, false));
        self.maker = Some((first, others || first != here));
        self.memory.insert(handle, memory);
    }

    pub fn guarded(&mut self, handle: Handle) {
        if let Some(memory) = self.memory.get_mut(&handle) {
            memory.is_guarded = true;
        }
    }

    /// A command was started that may write to this.
    pub fn written(&mut self, handle: Handle) {
        match self.memory.get_mut(&handle) {
            Some(memory) if memory.kind.has_content() => memory.writes = memory.writes.wrapping_add(1),
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
        (memory.kind.has_content() && memory.mapped == 0).then_some(Content {
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
        let number = memory.number;
        self.memory.remove(&handle);
        self.filled.remove(&number);
        self.is_gone(handle);
    }

    /// What gets this handle next is another one.
    fn is_gone(&mut self, handle: Handle) {
        for argument in self
            .kernels
            .values_mut()
            .flat_map(|kernel| kernel.arguments.values_mut())
        {
            if handle_in(argument) == Some(handle) {
                *argument = Bound::Gone;
            }
        }
    }

    pub fn sampler_made(&mut self, handle: Handle) {
        self.samplers.insert(handle, 1);
    }

    /// One that a restart has made.
    pub fn sampler_like(&self, context: Handle, like: Sampler) -> Option<Handle> {
        self.samplers_for_kernels.get(&(context, like)).copied()
    }

    /// A restart has made one, which stays.
    pub fn keeps_sampler(&mut self, context: Handle, like: Sampler, sampler: Handle) {
        self.samplers_for_kernels.insert((context, like), sampler);
    }

    pub fn sampler_retained(&mut self, handle: Handle) {
        if let Some(references) = self.samplers.get_mut(&handle) {
            *references += 1;
        }
    }

    pub fn sampler_released(&mut self, handle: Handle) {
        let Some(references) = self.samplers.get_mut(&handle) else {
            return;
        };
        *references -= 1;
        if *references == 0 {
            self.samplers.remove(&handle);
            self.is_gone(handle);
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
            is_saved: false,
            kept: BTreeMap::new(),
        };
        self.kernels.insert(handle, kernel);
    }

    pub fn kernel_retained(&mut self, handle: Handle) {
        if let Some(kernel) = self.kernels.get_mut(&handle) {
            kernel.references += 1;
        }
    }

    /// Gives the arrays that it is to keep alive no longer.
    pub fn kernel_released(&mut self, handle: Handle) -> Vec<Handle> {
        let Some(kernel) = self.kernels.get_mut(&handle) else {
            return Vec::new();
        };
        kernel.references -= 1;
        if kernel.references > 0 {
            return Vec::new();
        }
        self.pending.retain(|pending| pending.kernel != handle);
        let gone = self.kernels.remove(&handle);
        gone.map_or_else(Vec::new, |kernel| kernel.kept.into_values().collect())
    }

    /// An argument of a kernel is these bytes from here on. Gives the array that it is to keep alive no longer.
    #[must_use]
    pub fn bound(&mut self, kernel: Handle, index: u32, bytes: &[u8]) -> Option<Handle> {
        self.given(kernel, index, Bound::Value(bytes.to_vec()))
    }

    /// The same, of so much memory of its own.
    #[must_use]
    pub fn bound_local(&mut self, kernel: Handle, index: u32, bytes: usize) -> Option<Handle> {
        self.given(kernel, index, Bound::Local(bytes))
    }

    /// The same, of an address.
    #[must_use]
    pub fn bound_address(&mut self, kernel: Handle, index: u32) -> Option<Handle> {
        self.given(kernel, index, Bound::Address)
    }

    fn given(&mut self, kernel: Handle, index: u32, argument: Bound) -> Option<Handle> {
        let kernel = self.kernels.get_mut(&kernel)?;
        kernel.fresh.insert(index);
        match kernel.arguments.get(&index) {
            Some(known) if *known == argument && argument != Bound::Address => return None,
            Some(_) => kernel.is_rebound = true,
            None => {}
        }
        kernel.arguments.insert(index, argument);
        kernel.kept.remove(&index)
    }

    /// What a checkpoint is to have of a kernel: its arguments are saved then.
    ///
    /// # Errors
    /// A restart could not give it these.
    pub fn arguments(&mut self, handle: Handle) -> Result<Arguments, String> {
        let mut arrays: Vec<(u64, Handle)> = { self.memory.iter() }
            .filter(|(_, memory)| memory.kind.has_content())
            .map(|(handle, memory)| (memory.number, *handle))
            .collect();
        arrays.sort_unstable();
        let has_other_makers = self.maker.is_some_and(|(_, others)| others);
        let Some(kernel) = self.kernels.get_mut(&handle) else {
            return Err("a kernel is none that the program has made with `clCreateKernel`".into());
        };
        let mut list = Vec::new();
        for (index, argument) in &kernel.arguments {
            let handle = handle_in(argument);
            let array = handle.and_then(|array| arrays.iter().position(|(_, one)| *one == array));
            let sampler = handle.filter(|handle| self.samplers.contains_key(handle));
            let argument = match (argument, array) {
                (_, Some(_)) if has_other_makers => {
                    return Err(
                        "several threads have made arrays, so that a restart could not tell which a kernel has"
                            .into(),
                    );
                }
                (_, Some(array)) => Argument::Array(array),
                (Bound::Value(bytes), None) => match sampler {
                    Some(sampler) => Argument::Sampler(about_sampler(sampler)?),
                    None => Argument::Value(bytes.clone()),
                },
                (Bound::Local(bytes), None) => Argument::Local(*bytes),
                (Bound::Address | Bound::Gone, None) => continue,
            };
            list.push((*index, argument));
        }
        kernel.is_saved = true;
        Ok(Arguments {
            arrays: arrays.len(),
            list,
        })
    }

    /// A kernel gets these arguments when all arrays are there again. `keeps`: it keeps its arrays alive.
    pub fn awaits(&mut self, kernel: Handle, arguments: Arguments, keeps: bool) {
        self.pending.push(Pending {
            kernel,
            arguments,
            keeps,
        });
    }

    /// Whether a kernel has yet to get the arguments that it had.
    pub fn is_awaiting(&self, kernel: Handle) -> bool {
        self.pending.iter().any(|pending| pending.kernel == kernel)
    }

    /// A restart has filled an array.
    pub fn is_filled(&mut self, array: Handle) {
        if let Some(memory) = self.memory.get(&array) {
            self.filled.insert(memory.number, array);
        }
    }

    /// What kernels are to be given now, as all of their arrays are there.
    pub fn take_ready(&mut self) -> Vec<ToBind> {
        let arrays: Vec<Handle> = self.filled.values().copied().collect();
        let is_ready = |pending: &mut Pending| pending.arguments.arrays == arrays.len();
        let mut list = Vec::new();
        for pending in self.pending.extract_if(.., is_ready) {
            for (index, argument) in pending.arguments.list {
                let array = match argument {
                    Argument::Array(number) => arrays.get(number).copied(),
                    _ => None,
                };
                list.push(ToBind {
                    kernel: pending.kernel,
                    index,
                    argument: match array {
                        Some(array) => Argument::Value(array.0.to_ne_bytes().to_vec()),
                        None => argument,
                    },
                    kept: array.filter(|_| pending.keeps),
                });
            }
        }
        list
    }

    /// A kernel keeps an array alive, which has been retained for that. Gives the one that it is to keep no longer.
    #[must_use]
    pub fn keeps(&mut self, kernel: Handle, index: u32, array: Handle) -> Option<Handle> {
        match self.kernels.get_mut(&kernel) {
            Some(kernel) => kernel.kept.insert(index, array),
            None => Some(array),
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

    /// Whether it is not known yet if what an argument points to is only read, and makes a difference: small arrays are read for
    /// each checkpoint.
    pub fn asks_whether_read(&self, kernel: Handle, index: u32) -> bool {
        let Some(kernel) = self.kernels.get(&kernel) else {
            return false;
        };
        let Some(object) = { kernel.arguments.get(&index) }.and_then(handle_in) else {
            return false;
        };
        // What is no array may be a number of as many bytes.
        let matters = { self.memory.get(&object) }.is_none_or(|memory| memory.bytes >= IN_BLOCKS);
        matters && !kernel.only_reads.contains_key(&index)
    }

    /// Whether what a parameter points to is only read, by the checksum of all that says so.
    pub fn is_only_read(&self, parameter: u128) -> Option<bool> {
        self.parameters.get(&parameter).copied()
    }

    pub fn found_only_read(&mut self, parameter: u128, is: bool) {
        self.parameters.insert(parameter, is);
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
        self.has_started_without |= kernel.arguments.values().any(|one| *one == Bound::Gone);
        let fresh = std::mem::take(&mut kernel.fresh);
        kernel.relies_on_former |= kernel.arguments.keys().any(|index| !fresh.contains(index));
        let is_written = |index: &u32| kernel.only_reads.get(index) != Some(&true);
        let written = kernel.arguments.iter().filter(|(index, _)| is_written(index));
        let written: Vec<Handle> = written.filter_map(|(_, argument)| handle_in(argument)).collect();
        if kernel.has_unseen_arguments {
            self.all_written();
        }
        for array in written {
            self.written(array);
        }
    }

    pub fn has_variables(&mut self) {
        self.has_variables = true;
    }

    pub fn other_library(&mut self) {
        self.has_other_library = true;
    }

    pub fn awaited(&mut self, event: Handle) {
        self.awaited.insert(event);
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
            (self.has_started_without, Obstacle::GivenBack),
            (self.has_other_library, Obstacle::OtherLibrary),
            (
                self.kernels.values().any(|kernel| kernel.has_unseen_arguments),
                Obstacle::Unseen,
            ),
        ];
        let found = found
            .into_iter()
            .find_map(|(is, obstacle)| is.then_some(obstacle));
        found.or(of_kind)
    }

    /// A checkpoint begins.
    pub fn none_is_saved(&mut self) {
        self.has_shared = false;
        for memory in self.memory.values_mut() {
            memory.is_saved = false;
        }
        for kernel in self.kernels.values_mut() {
            kernel.is_saved = false;
        }
    }

    /// All queues, retained.
    pub fn queues(&self) -> Vec<Handle> {
        let queues: Vec<Handle> = self.queues.keys().copied().collect();
        for queue in &queues {
            // SAFETY: the program has a reference, and its next call that gives one back waits for the lock.
            unsafe { next::clRetainCommandQueue(queue.pointer()) };
        }
        queues
    }

    /// The same, and events of those that the program has given back.
    pub fn all_queues(&mut self) -> (Vec<Handle>, Vec<Handle>) {
        (self.queues(), std::mem::take(&mut self.left))
    }

    /// What is needed to reach an array of so many bytes.
    pub fn target(&self, array: Handle, bytes: usize) -> Result<Target, String> {
        let Some(memory) = self.memory.get(&array) else {
            return Err(UNKNOWN.into());
        };
        if memory.bytes != bytes || !memory.kind.has_content() {
            return Err(format!(
                "an array on a device has {} bytes of its own, where {bytes} are expected",
                memory.bytes
            ));
        }
        let mut queues = self.queues.iter();
        let queue = queues.find(|(_, queue)| queue.context == memory.context);
        let queue = queue.map(|(handle, _)| *handle);
        if let Some(queue) = queue {
            // SAFETY: as in `queues`.
            unsafe { next::clRetainCommandQueue(queue.pointer()) };
        }
        Ok(Target {
            context: memory.context,
            queue,
            is_guarded: memory.is_guarded,
            shape: memory.kind.shape(),
        })
    }

    /// How many bytes an array has.
    pub fn size(&self, array: Handle) -> Option<usize> {
        let memory = self.memory.get(&array)?;
        memory.kind.has_content().then_some(memory.bytes)
    }

    pub fn is_image(&self, memory: Handle) -> bool {
        self.memory
            .get(&memory)
            .is_some_and(|memory| memory.kind.shape().is_some())
    }

    /// What the channels of an image are, where that is known.
    pub fn numbers(&self, image: Handle) -> Option<Numbers> {
        self.memory.get(&image)?.kind.shape()?.numbers()
    }

    pub fn is_saved(&mut self, array: Handle) {
        if let Some(memory) = self.memory.get_mut(&array) {
            self.has_shared |= memory.is_saved && memory.is_exchanged;
            memory.is_saved = true;
        }
    }

    pub fn is_exchanged(&mut self, array: Handle) {
        if let Some(memory) = self.memory.get_mut(&array) {
            memory.is_exchanged = true;
        }
    }

    /// A checkpoint has read its content.
    pub fn was_read(&mut self, array: Handle) {
        if let Some(memory) = self.memory.get_mut(&array) {
            memory.writes_when_read = Some(memory.writes);
        }
    }

    /// The arrays that a checkpoint has read and that were written to since, with their bytes. Others may be of no variable that is
    /// saved.
    pub fn written_since_read(&self) -> Vec<(Handle, usize)> {
        let is = |memory: &&Memory| {
            let may_be_read = memory.kind.has_content() && memory.mapped == 0 && memory.bytes > 0;
            let read = memory.writes_when_read;
            may_be_read && read.is_some_and(|writes| self.has_unseen_commands || writes != memory.writes)
        };
        let mut all: Vec<_> = self.memory.iter().filter(|(_, memory)| is(memory)).collect();
        // As variables are saved, most likely.
        all.sort_unstable_by_key(|(_, memory)| memory.number);
        all.into_iter()
            .map(|(handle, memory)| (*handle, memory.bytes))
            .collect()
    }

    pub fn unsaved(&self) -> Option<String> {
        let mut kernels = self.kernels.values();
        if kernels.any(|kernel| kernel.is_another() && !kernel.is_saved) {
            return Some(
                "a kernel was given other arguments than its first, and belongs to no variable that is saved"
                    .into(),
            );
        }
        if self.has_shared {
            return Some(SHARED.into());
        }
        let unsaved = self.memory.values().filter(|memory| !memory.is_saved);
        let (count, bytes, images) = unsaved.fold((0_u64, 0, 0), |(count, bytes, images), memory| {
            let is_image = memory.kind.shape().is_some();
            (count + 1, bytes + memory.bytes, images + u64::from(is_image))
        });
        match (count, images) {
            (0, _) => None,
            (1, 0) => Some(format!(
                "an array of {bytes} bytes on a device belongs to no variable that is saved"
            )),
            (1, _) => Some(format!(
                "an image of {bytes} bytes on a device belongs to no variable that is saved"
            )),
            _ => Some(format!(
                "{count} arrays of {bytes} bytes on devices belong to no variable that is saved"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(number: usize) -> Handle {
        Handle(number)
    }

    /// A kernel with an array as its argument, which is given back.
    fn with_one_given_back() -> Live {
        let mut live = Live::default();
        live.memory_made(handle(0x10), Kind::Array, handle(1), 40);
        live.kernel_made(handle(2));
        let bytes = 0x10_usize.to_ne_bytes();
        assert_eq!(live.bound(handle(2), 0, &bytes), None);
        live.started(handle(2));
        live.memory_released(handle(0x10));
        live
    }

    #[test]
    fn a_kernel_that_starts_with_an_array_that_was_given_back_holds_checkpoints_back() {
        let mut live = with_one_given_back();
        assert_eq!(live.obstacle(), None);
        live.started(handle(2));
        assert_eq!(live.obstacle(), Some(Obstacle::GivenBack));
    }

    #[test]
    fn one_that_gets_another_array_before_does_not() {
        let mut live = with_one_given_back();
        live.memory_made(handle(0x20), Kind::Array, handle(1), 40);
        assert_eq!(live.bound(handle(2), 0, &0x20_usize.to_ne_bytes()), None);
        live.started(handle(2));
        assert_eq!(live.obstacle(), None);
    }
}
