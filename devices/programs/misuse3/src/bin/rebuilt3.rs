//! A program for the device that is built a second time, with other options: made again it would have the first ones.

use std::ptr::null_mut;

use opencl3::Result;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

const SOURCE: &str = "__kernel void add(__global uint *sum) { sum[get_global_id(0)] += MORE; }";

fn main() -> Result<()> {
    let device = Device::new(*get_all_devices(CL_DEVICE_TYPE_ALL)?.first().expect("a device"));
    let context = Context::from_device(&device)?;
    let queue = CommandQueue::create_default(&context, 0)?;
    let mut program = Program::create_and_build_from_source(&context, SOURCE, "-D MORE=1")
        .expect("the program is OpenCL C");
    // SAFETY: the array has memory of its own.
    let mut sum: Buffer<u32> = unsafe { Buffer::create(&context, CL_MEM_READ_WRITE, 1000, null_mut())? };
    // SAFETY: the numbers are there until they are written.
    unsafe { queue.enqueue_write_buffer(&mut sum, CL_BLOCKING, 0, &[1; 1000], &[])? };
    program.build(context.devices(), "-D MORE=2")?;
    for _ in 0..20 {
        let add = Kernel::create(&program, "add")?;
        // SAFETY: the kernel stays in the array.
        unsafe {
            ExecuteKernel::new(&add)
                .set_arg(&sum)
                .set_global_work_size(1000)
                .enqueue_nd_range(&queue)?;
        }
    }
    let mut found = vec![0; 1000];
    // SAFETY: the call returns when the numbers have been read.
    unsafe { queue.enqueue_read_buffer(&sum, CL_BLOCKING, 0, &mut found, &[])? };
    println!("sum {}", found[7]);
    Ok(())
}
