//! What the program has on devices: arrays with content, queues with commands under way, kernels with their arguments. It is
//! not in the program's memory, so it is known from the functions by which the program makes it: in front of those of
//! [`opencl`] ours stand, and into programs with [`wgpu`] the compiler writes calls of ours ([`watched`]). Of what is there by
//! [`cudarc`] the driver tells a part.
//!
//! A checkpoint waits until all queues are done before anything is saved. Then every array that is alive has to be saved by
//! a variable: one that is not, as a value of another crate hides it, would be made again without its content. Not here:
//! which variables these are, and what a restart does with them ([`crate::value::Refill`]).

#[cfg(feature = "cudarc")]
pub(crate) mod cudarc;
#[cfg(any(feature = "opencl", feature = "wgpu"))]
pub(crate) mod numbers;
#[cfg(feature = "opencl")]
pub(crate) mod opencl;
pub(crate) mod shown;
pub mod watched;
#[cfg(feature = "wgpu")]
pub(crate) mod wgpu;

/// Why what is on devices cannot be brought back to what it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(all(feature = "opencl", feature = "wgpu")),
    allow(dead_code, reason = "each library has its own")
)]
pub(crate) enum Obstacle {
    /// An array is mapped into the program's memory.
    Mapped,
    /// Commands may wait for an event that the program completes.
    Event,
    /// The library is yet to call a function of the program.
    Callback,
    /// The same, when memory is given back.
    EndAwaited,
    /// A program on a device has variables outside of its kernels.
    Variables,
    /// A kernel was started with an array that the program had given back.
    GivenBack,
    /// Another library for devices than ckpt sees.
    OtherLibrary,
    /// A kernel has arguments that it was given in another way than by `clSetKernelArg`.
    Unseen,
    /// An array whose bytes are in memory of the program's.
    InProgram,
    /// A part of another array.
    Part,
    /// An image that no command reads as a whole.
    Image,
    /// An image of texels that an array or another image has.
    ImageOf,
    /// A pipe.
    Pipe,
    /// Shared with a library for graphics.
    Graphics,
    /// Addressed by pointers, from both sides.
    Shared,
    /// Commands are noted, and not yet given to a queue.
    Commands,
    /// Questions to a device, with its answers.
    Queries,
}

impl Obstacle {
    /// What it is, in the words of a sentence.
    pub fn what(self) -> &'static str {
        match self {
            Obstacle::Mapped => "an array on a device is mapped into the program's memory",
            Obstacle::Event => "commands on a device may wait for an event that the program completes itself",
            Obstacle::Callback => "a function of the program is called when a command on a device is done",
            Obstacle::EndAwaited => {
                "a function of the program is called when memory of a device is given back"
            }
            Obstacle::Variables => "a program on a device has variables of its own, outside of its kernels",
            Obstacle::GivenBack => {
                "a kernel was started with an array or a sampler as an argument that the program had given back"
            }
            Obstacle::OtherLibrary => {
                "the program has loaded another OpenCL than that which it is linked with"
            }
            Obstacle::Unseen => {
                "a kernel has arguments that nobody has seen (`clCloneKernel`, `clSetKernelExecInfo`)"
            }
            Obstacle::InProgram => "an array on a device uses memory of the program's",
            Obstacle::Part => "an array on a device is a part of another one",
            Obstacle::Image => {
                "an image on a device is of a kind that is not read as a whole: it has several samples or levels, or depths"
            }
            Obstacle::ImageOf => {
                "an image on a device has no memory of its own, but that of an array or of another image"
            }
            Obstacle::Pipe => "a pipe is on a device",
            Obstacle::Graphics => "an array on a device is shared with a library for graphics",
            Obstacle::Shared => "the program shares memory with a device (`clSVMAlloc`)",
            Obstacle::Commands => "commands are noted for a device that are not submitted",
            Obstacle::Queries => "a set of queries (`QuerySet`) is on a device",
        }
    }

    /// Why a restart could not bring it back.
    pub fn why(self) -> &'static str {
        match self {
            Obstacle::Mapped => "what is written there reaches the device only when it is unmapped",
            Obstacle::Event => "a checkpoint that waits for the commands would wait for ever",
            Obstacle::Callback => "it may run while the checkpoint is taken, and a restart would not call it",
            Obstacle::EndAwaited => "a restart would not call it",
            Obstacle::Variables => "nothing can read them, and a restart would make them again",
            Obstacle::GivenBack => "whether it is still there, and what is in it, nobody knows",
            Obstacle::OtherLibrary => "what it has on devices through that one nobody sees",
            Obstacle::Unseen => "a restart makes the kernel again, without them",
            Obstacle::InProgram => "what is there is defined only while the array is mapped",
            Obstacle::Commands => "a restart would not note them again",
            Obstacle::Part
            | Obstacle::Image
            | Obstacle::ImageOf
            | Obstacle::Pipe
            | Obstacle::Graphics
            | Obstacle::Shared
            | Obstacle::Queries => "a restart makes it again, without its content",
        }
    }

    /// What to do.
    pub fn help(self) -> &'static str {
        match self {
            Obstacle::Mapped => "unmap it before the site is reached, or use `read` and `write`",
            Obstacle::Event => "complete the event before the site is reached",
            Obstacle::Callback => "wait for the command before the site is reached",
            Obstacle::EndAwaited => "leave it out",
            Obstacle::Variables => "hold them in an array that the kernels have as an argument",
            Obstacle::GivenBack => "keep it as long as a kernel is started with it",
            Obstacle::OtherLibrary => "let it load the `libOpenCL.so.1` of the machine: `OPENCL_DYLIB_PATH`",
            Obstacle::Unseen => "make the kernel anew, and give it all of its arguments",
            Obstacle::InProgram => {
                "let the array have memory of its own: `copy_host_slice` (`CL_MEM_COPY_HOST_PTR`)"
            }
            Obstacle::Commands => "submit them, or drop them, before the site is reached",
            Obstacle::ImageOf => {
                "drop it before the site is reached, or let it have memory of its own, and copy (`enqueue_copy_buffer_to_image`)"
            }
            Obstacle::Part
            | Obstacle::Image
            | Obstacle::Pipe
            | Obstacle::Graphics
            | Obstacle::Shared
            | Obstacle::Queries => {
                "drop it before the site is reached, or keep its content in an array of its own"
            }
        }
    }
}

/// An array for which a device has no memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "opencl"),
    allow(dead_code, reason = "the other libraries do not tell")
)]
pub(crate) struct NoMemory {
    /// How much was asked for.
    pub bytes: usize,
    /// The device, or those of which one was to have it.
    pub device: String,
    /// What the library says.
    pub answer: String,
}

/// The last array that the program could not make.
pub(crate) fn no_memory() -> Option<NoMemory> {
    #[cfg(feature = "opencl")]
    return opencl::refused();
    #[cfg(not(feature = "opencl"))]
    None
}

/// What is said of an array that has changed places with another, and that several variables have.
#[cfg(any(feature = "opencl", feature = "wgpu"))]
const SHARED: &str = "an array on a device that has changed places with another belongs to several variables";

/// The first that is there, before the queues are waited for.
pub(crate) fn obstacle() -> Option<Obstacle> {
    let found: [fn() -> Option<Obstacle>; _] = [
        #[cfg(feature = "opencl")]
        opencl::obstacle,
        #[cfg(feature = "wgpu")]
        wgpu::obstacle,
    ];
    found.iter().find_map(|of| of())
}

/// All commands that are under way are done: from here on memory and arrays are what they are until the program goes on.
///
/// # Errors
/// One of them failed, or a queue.
pub(crate) fn finish() -> Result<(), String> {
    #[cfg(feature = "opencl")]
    opencl::finish()?;
    #[cfg(feature = "wgpu")]
    wgpu::finish()?;
    #[cfg(feature = "cudarc")]
    cudarc::finish()?;
    Ok(())
}

/// What variables will ask for comes into memory from here on, while that of the program is copied, where a library can do that.
/// `room` gives memory that is empty, with room for so many bytes.
pub(crate) fn begin_to_read(room: &mut dyn FnMut(usize) -> Option<Vec<u8>>) {
    #[cfg(feature = "opencl")]
    opencl::begin_to_read(room);
    #[cfg(not(feature = "opencl"))]
    let _ = room;
}

/// Nothing does any more: gives back memory that nobody needed.
pub(crate) fn end_reading() -> Vec<Vec<u8>> {
    #[cfg(feature = "opencl")]
    return opencl::end_reading();
    #[cfg(not(feature = "opencl"))]
    Vec::new()
}

/// An array that no variable has saved since [`finish`], in the words of a sentence.
pub(crate) fn unsaved() -> Option<String> {
    let unsaved: [fn() -> Option<String>; _] = [
        #[cfg(feature = "opencl")]
        opencl::unsaved,
        #[cfg(feature = "wgpu")]
        wgpu::unsaved,
    ];
    unsaved.iter().find_map(|of| of())
}

/// The devices that the program has given something to do, each once.
fn computes_on() -> Vec<shown::Device> {
    let of: [fn() -> Vec<shown::Device>; _] = [
        #[cfg(feature = "opencl")]
        opencl::computes_on,
        #[cfg(feature = "wgpu")]
        wgpu::computes_on,
        #[cfg(feature = "cudarc")]
        cudarc::computes_on,
    ];
    let mut all: Vec<shown::Device> = Vec::new();
    for device in of.iter().flat_map(|of| of()) {
        if !all.contains(&device) {
            all.push(device);
        }
    }
    all
}

/// The session is over.
pub(crate) fn forget() {
    shown::forget();
    #[cfg(feature = "wgpu")]
    wgpu::forget();
}
