//! As `held`, with `opencl3`, which loads the library while the program runs.

use std::ffi::c_void;
use std::ptr::null_mut;

use opencl3::Result;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MAP_READ, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

const SOURCE: &str = "__kernel void add(__global uint *sum, uint more) { sum[get_global_id(0)] += more; }";

fn main() -> Result<()> {
    let what = std::env::args().nth(1).unwrap_or_default();
    let device = Device::new(*get_all_devices(CL_DEVICE_TYPE_ALL)?.first().expect("a device"));
    let context = Context::from_device(&device)?;
    let queue = CommandQueue::create_default(&context, 0)?;
    let program =
        Program::create_and_build_from_source(&context, SOURCE, "").expect("the program is OpenCL C");
    let add = Kernel::create(&program, "add")?;
    // SAFETY: the array has memory of its own.
    let mut sum: Buffer<u32> = unsafe { Buffer::create(&context, CL_MEM_READ_WRITE, 1000, null_mut())? };
    // SAFETY: the numbers are there until they are written.
    unsafe { queue.enqueue_write_buffer(&mut sum, CL_BLOCKING, 0, &[1; 1000], &[])? };
    hold(&what, &context, &queue, &sum)?;
    for step in 0..20_u32 {
        // SAFETY: the kernel stays in the array.
        unsafe {
            ExecuteKernel::new(&add)
                .set_arg(&sum)
                .set_arg(&step)
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

fn hold(what: &str, context: &Context, queue: &CommandQueue, sum: &Buffer<u32>) -> Result<()> {
    // SAFETY: nothing that is made here is used, nor given back.
    unsafe {
        match what {
            "hidden" => std::mem::forget(Buffer::<f32>::create(context, CL_MEM_READ_WRITE, 10, null_mut())?),
            "part" => std::mem::forget(sum.create_sub_buffer(CL_MEM_READ_WRITE, 64, 64)?),
            "shared" => {
                opencl3::memory::svm_alloc(context.get(), CL_MEM_READ_WRITE, 64, 0)?;
            }
            "mapped" => {
                let mut at: *mut c_void = null_mut();
                queue.enqueue_map_buffer(sum, CL_BLOCKING, CL_MAP_READ, 0, 64, &mut at, &[])?;
            }
            "event" => {
                opencl3::event::create_user_event(context.get())?;
            }
            _ => {}
        }
    }
    Ok(())
}
