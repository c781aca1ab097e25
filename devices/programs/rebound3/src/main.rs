//! As `rebound`, with `opencl3`: a kernel that is made once, of whose arguments some are given in each step or in every fifth, and
//! the others before the loop.

use std::ffi::c_void;

use opencl3::Result;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, ClMem, cl_mem};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

const SOURCE: &str = "
    __kernel void stir(__global const uint *from, __global uint *to, uint more, __local uint *own, uint factor) {
        size_t at = get_global_id(0);
        own[get_local_id(0)] = from[at] * factor;
        to[at] += own[get_local_id(0)] + more;
    }";

const COUNT: usize = 1000;

fn main() -> Result<()> {
    let device = Device::new(*get_all_devices(CL_DEVICE_TYPE_ALL)?.first().expect("a device"));
    let context = Context::from_device(&device)?;
    let queue = CommandQueue::create_default(&context, 0)?;
    let program =
        Program::create_and_build_from_source(&context, SOURCE, "").expect("the program is OpenCL C");
    let numbers: Vec<u32> = (0..COUNT as u32).collect();
    let one = array(&context, &numbers)?;
    let other = array(&context, &numbers)?;
    let third = array(&context, &numbers)?;
    let stir = kernel_of(&program, &one, &other)?;
    for step in 0..30_u32 {
        // SAFETY: the kernel has such an argument.
        unsafe { stir.set_arg(2, &(step * step))? };
        if step % 5 == 3 {
            turn(&stir, step, [&one, &other, &third])?;
        }
        start(&queue, &stir)?;
    }
    for array in [&one, &other, &third] {
        let mut found = vec![0; COUNT];
        // SAFETY: the call returns when the numbers have been read.
        unsafe { queue.enqueue_read_buffer(array, CL_BLOCKING, 0, &mut found, &[])? };
        let sum = found
            .iter()
            .fold(0_u32, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
        println!("sum {sum:08x}");
    }
    Ok(())
}

fn array(context: &Context, numbers: &[u32]) -> Result<Buffer<u32>> {
    let from = numbers.as_ptr().cast_mut().cast::<c_void>();
    // SAFETY: so many numbers are there, which are copied.
    unsafe {
        Buffer::create(
            context,
            CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
            numbers.len(),
            from,
        )
    }
}

fn kernel_of(program: &Program, from: &Buffer<u32>, to: &Buffer<u32>) -> Result<Kernel> {
    let kernel = Kernel::create(program, "stir")?;
    // SAFETY: these are the arguments that the kernel has.
    unsafe {
        kernel.set_arg::<cl_mem>(0, &from.get())?;
        kernel.set_arg::<cl_mem>(1, &to.get())?;
        kernel.set_arg(2, &0_u32)?;
        kernel.set_arg_local_buffer(3, 10 * size_of::<u32>())?;
        kernel.set_arg(4, &3_u32)?;
    }
    Ok(kernel)
}

fn start(queue: &CommandQueue, kernel: &Kernel) -> Result<()> {
    // SAFETY: the kernel stays in its arrays, which are alive.
    unsafe {
        queue.enqueue_nd_range_kernel(kernel.get(), 1, std::ptr::null(), &COUNT, &10, &[])?;
    }
    Ok(())
}

/// From one of the arrays to the next.
fn turn(stir: &Kernel, step: u32, arrays: [&Buffer<u32>; 3]) -> Result<()> {
    let first = step as usize / 5;
    // SAFETY: both arguments are arrays.
    unsafe {
        stir.set_arg::<cl_mem>(0, &arrays[first % 3].get())?;
        stir.set_arg::<cl_mem>(1, &arrays[(first + 1) % 3].get())?;
    }
    Ok(())
}
