//! As `counted`, with `opencl3`: a context of all devices of a kind, and a program with a binary for each of them.

use std::ffi::c_void;
use std::ptr::null_mut;

use opencl3::Result;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

const SOURCE: &str = "
    __kernel void stir(__global uint *state, uint more) {
        size_t at = get_global_id(0);
        state[at] = (state[at] ^ more) * 1664525u + 1013904223u;
    }";

const COUNT: usize = 300;

fn main() -> Result<()> {
    let context = Context::from_device_type(CL_DEVICE_TYPE_ALL, &[], None, null_mut())?;
    let program =
        Program::create_and_build_from_source(&context, SOURCE, "").expect("the program is OpenCL C");
    let stir = Kernel::create(&program, "stir")?;
    let queues: Vec<CommandQueue> = context
        .devices()
        .iter()
        // SAFETY: the device is one of the context.
        .map(|device| unsafe { CommandQueue::create(&context, *device, 0) })
        .collect::<Result<_>>()?;
    let parts = get_all_devices(CL_DEVICE_TYPE_ALL)?.len();
    let arrays: Vec<Buffer<u32>> = queues.iter().map(|_| array(&context)).collect::<Result<_>>()?;
    let mut sum = 0_u64;
    for step in 0..20_u32 {
        are_what_they_were(parts, &context, &program, &queues)?;
        for (queue, state) in queues.iter().zip(&arrays) {
            run(queue, &stir, state, step * parts as u32)?;
            queue.finish()?;
        }
        let mut found = vec![0_u32; COUNT];
        // SAFETY: the call returns when the numbers have been read.
        unsafe {
            queues[0].enqueue_read_buffer(&arrays[step as usize % parts], CL_BLOCKING, 0, &mut found, &[])?
        };
        sum = found
            .iter()
            .fold(sum, |sum, one| sum.wrapping_mul(31).wrapping_add(u64::from(*one)));
    }
    println!("sum {sum:016x} of {parts} parts");
    Ok(())
}

fn array(context: &Context) -> Result<Buffer<u32>> {
    let numbers = [7_u32; COUNT];
    let from = numbers.as_ptr().cast_mut().cast::<c_void>();
    // SAFETY: so many numbers are there, which are copied.
    unsafe { Buffer::create(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, COUNT, from) }
}

fn run(queue: &CommandQueue, stir: &Kernel, state: &Buffer<u32>, more: u32) -> Result<()> {
    // SAFETY: the kernel stays in the array.
    unsafe {
        ExecuteKernel::new(stir)
            .set_arg(state)
            .set_arg(&more)
            .set_global_work_size(COUNT)
            .enqueue_nd_range(queue)?;
    }
    Ok(())
}

fn are_what_they_were(
    parts: usize,
    context: &Context,
    program: &Program,
    queues: &[CommandQueue],
) -> Result<()> {
    assert_eq!((context.devices().len(), queues.len()), (parts, parts));
    assert_eq!(program.get_num_devices()? as usize, parts);
    assert_eq!(program.get_devices()?.len(), parts);
    let binaries = program.get_binaries()?;
    assert!(binaries.len() == parts && binaries.iter().all(|binary| !binary.is_empty()));
    for (at, (device, queue)) in context.devices().iter().zip(queues).enumerate() {
        assert!(!context.devices()[..at].contains(device), "two devices are one");
        assert_eq!(*device, queue.device()?, "the device of a queue");
        assert!(!Device::new(*device).name()?.is_empty());
    }
    Ok(())
}
