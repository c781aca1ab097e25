//! As `turned`, with `opencl3`: commands write to the arrays as well, and one kernel is given all of its arguments in each step.

use std::ffi::c_void;

use opencl3::Result;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use std::mem::swap;

const SOURCE: &str = "
    __kernel void stir(__global const uint *from, __global uint *to) {
        size_t at = get_global_id(0);
        to[at] = from[at] * 1664525u + (to[at] >> 3) + (uint)at;
    }";

const COUNT: usize = 1000;

fn main() -> Result<()> {
    let device = Device::new(*get_all_devices(CL_DEVICE_TYPE_ALL)?.first().expect("a device"));
    let context = Context::from_device(&device)?;
    let queue = CommandQueue::create_default(&context, 0)?;
    let mut program = Program::create_from_source(&context, SOURCE)?;
    if let Err(error) = program.build(context.devices(), "") {
        panic!("{error}: {}", program.get_build_log(context.devices()[0])?);
    }
    let stir = Kernel::create(&program, "stir")?;
    let mut now = array(&context, 3)?;
    let mut next = array(&context, 5)?;
    for step in 0..30_u32 {
        // SAFETY: the kernel stays in its arrays, and the number is read before the call returns.
        unsafe {
            ExecuteKernel::new(&stir)
                .set_arg(&now)
                .set_arg(&next)
                .set_global_work_size(COUNT)
                .enqueue_nd_range(&queue)?;
            queue.enqueue_write_buffer(&mut now, CL_BLOCKING, 0, &[step], &[])?;
        }
        swap(&mut now, &mut next);
    }
    for array in [&now, &next] {
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

fn array(context: &Context, factor: u32) -> Result<Buffer<u32>> {
    let numbers: Vec<u32> = (0..COUNT as u32).map(|at| at * factor).collect();
    let from = numbers.as_ptr().cast_mut().cast::<c_void>();
    // SAFETY: so many numbers are there, which are copied.
    unsafe { Buffer::create(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, COUNT, from) }
}
