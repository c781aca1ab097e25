//! What programs with OpenCL often do around their loops: arrays begin with a list that is read into later, and are put into a list one
//! by one; what leads to a kernel is not named again; events of commands that are done stay in variables.

mod begun;

use std::ffi::c_void;
use std::ptr::null_mut;

use ocl::ProQue;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

const SOURCE: &str = "
    __kernel void stir(__global uint *state, uint step) {
        size_t at = get_global_id(0);
        state[at] = state[at] * 1664525u + step;
    }";

const COUNT: usize = 1000;
const STEPS: u32 = 20;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("ocl") => with_ocl().expect("OpenCL is there"),
        Some("begun") => begun::run().expect("OpenCL is there"),
        Some("opencl3") => with_opencl3().expect("OpenCL is there"),
        _ => panic!("usual ocl|begun|opencl3"),
    }
}

fn with_ocl() -> ocl::Result<()> {
    let pro = ProQue::builder().src(SOURCE).dims(COUNT).build()?;
    let mut numbers: Vec<u32> = (0..COUNT as u32).collect();
    let state = ocl::Buffer::builder()
        .queue(pro.queue().clone())
        .len(numbers.len())
        .copy_host_slice(&numbers)
        .build()?;
    let mut parts = Vec::new();
    for part in 0..3_u32 {
        let begin = vec![part; COUNT];
        parts.push(
            ocl::Buffer::builder()
                .queue(pro.queue().clone())
                .len(COUNT)
                .copy_host_slice(&begin)
                .build()?,
        );
    }
    let stir = pro.kernel_builder("stir").arg(&state).arg(0_u32).build()?;
    let mut sum = 0;
    for step in 0..STEPS {
        stir.set_arg(1, step)?;
        // SAFETY: the kernel has these arguments.
        unsafe { stir.enq()? };
        for (number, part) in parts.iter().enumerate() {
            let stir = pro
                .kernel_builder("stir")
                .arg(part)
                .arg(step + number as u32)
                .build()?;
            // SAFETY: as above.
            unsafe { stir.enq()? };
        }
        state.read(&mut numbers).enq()?;
        sum = added(sum, &numbers);
    }
    for part in &parts {
        part.read(&mut numbers).enq()?;
        sum = added(sum, &numbers);
    }
    println!("sum {sum:08x}");
    Ok(())
}

fn with_opencl3() -> opencl3::Result<()> {
    let id = *get_all_devices(CL_DEVICE_TYPE_ALL)?.first().expect("a device");
    let device = Device::new(id);
    let context = Context::from_device(&device).expect("a context");
    let queue = CommandQueue::create_default(&context, 0).expect("a queue");
    let program = Program::create_and_build_from_source(&context, SOURCE, "").expect("it is OpenCL C");
    let stir = Kernel::create(&program, "stir").expect("it has this kernel");
    let _unused = Kernel::create(&program, "stir")?;
    let begin: [u32; COUNT] = [3; COUNT];
    // SAFETY: as long as it says.
    let mut state = unsafe { Buffer::<u32>::create(&context, CL_MEM_READ_WRITE, COUNT, null_mut())? };
    // SAFETY: the call returns when the numbers were written.
    let _written = unsafe { queue.enqueue_write_buffer(&mut state, CL_BLOCKING, 0, &begin, &[])? };
    let list: Vec<u32> = (0..COUNT as u32).collect();
    // SAFETY: so many numbers are there, which are copied.
    let other = unsafe {
        Buffer::<u32>::create(
            &context,
            CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
            list.len(),
            list.as_ptr() as *mut c_void,
        )?
    };
    let mut found = vec![0_u32; COUNT];
    for step in 0..STEPS {
        for array in [&state, &other] {
            // SAFETY: the kernel has these arguments.
            let event = unsafe {
                ExecuteKernel::new(&stir)
                    .set_arg(array)
                    .set_arg(&step)
                    .set_global_work_size(COUNT)
                    .enqueue_nd_range(&queue)?
            };
            event.wait()?;
        }
        let mut mapped = null_mut();
        let how = CL_MAP_READ | CL_MAP_WRITE;
        let bytes = size_of::<u32>();
        // SAFETY: it is there until it is unmapped.
        unsafe {
            queue.enqueue_map_buffer(&other, CL_BLOCKING, how, 0, bytes, &mut mapped, &[])?;
            *mapped.cast::<u32>() += 1;
            queue.enqueue_unmap_mem_object(other.get(), mapped, &[])?.wait()?;
        }
    }
    let mut sum = 0;
    for array in [&state, &other] {
        // SAFETY: the call returns when the numbers were read.
        unsafe { queue.enqueue_read_buffer(array, CL_BLOCKING, 0, &mut found, &[])? };
        sum = added(sum, &found);
    }
    println!("sum {sum:08x}");
    Ok(())
}

fn added(sum: u32, numbers: &[u32]) -> u32 {
    { numbers.iter() }.fold(sum, |sum, one| sum.wrapping_mul(31).wrapping_add(*one))
}
