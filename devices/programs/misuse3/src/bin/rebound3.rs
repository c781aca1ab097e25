//! A kernel that gets its arguments one by one, each once, but for one that changes in each step.

use std::ptr::null;

use opencl3::Result;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

const SOURCE: &str = "
    __kernel void stir(__global const uint *from, __global uint *to, uint more) {
        size_t at = get_global_id(0);
        to[at] = to[at] * 3 + from[at] + more;
    }";

const COUNT: usize = 1000;

fn main() -> Result<()> {
    let device = Device::new(*get_all_devices(CL_DEVICE_TYPE_ALL)?.first().expect("a device"));
    let context = Context::from_device(&device)?;
    let queue = CommandQueue::create_default(&context, 0)?;
    let program =
        Program::create_and_build_from_source(&context, SOURCE, "").expect("the program is OpenCL C");
    let numbers: Vec<u32> = (0..COUNT as u32).collect();
    let from = array(&context, &numbers)?;
    let to = array(&context, &numbers)?;
    let stir = Kernel::create(&program, "stir")?;
    // SAFETY: the kernel has these arguments.
    unsafe {
        stir.set_arg(0, &from)?;
        stir.set_arg(1, &to)?;
    }
    for step in 0..30_u32 {
        // SAFETY: the kernel stays in the arrays.
        unsafe {
            stir.set_arg(2, &step)?;
            queue.enqueue_nd_range_kernel(stir.get(), 1, null(), [COUNT].as_ptr(), null(), &[])?;
        }
    }
    let mut found = vec![0_u32; COUNT];
    // SAFETY: the call returns when the numbers have been read.
    unsafe { queue.enqueue_read_buffer(&to, CL_BLOCKING, 0, &mut found, &[])? };
    let sum = found
        .iter()
        .fold(0_u32, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
    println!("sum {sum:08x}");
    Ok(())
}

fn array(context: &Context, numbers: &[u32]) -> Result<Buffer<u32>> {
    let from = numbers.as_ptr().cast_mut().cast();
    let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    // SAFETY: the numbers are copied before the call returns.
    unsafe { Buffer::create(context, flags, numbers.len(), from) }
}
