//! Memory without a type: handles (`cl_mem`) in variables, of which two change places, in a list and in a struct. With the argument
//! `early` one of them is given back before the first site.

use std::ffi::c_void;
use std::ptr::null;

use opencl3::Result;
use opencl3::command_queue::{CommandQueue, enqueue_read_buffer, enqueue_write_buffer};
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::event::Event;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, create_buffer, release_mem_object};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_mem};

const SOURCE: &str = "
    __kernel void stir(__global const uint *from, __global uint *to, __global float *heat, uint step) {
        size_t at = get_global_id(0);
        to[at] = from[at] * 1664525u + (to[at] >> 3) + step;
        heat[at] = heat[at] * 0.5f + (to[at] % 100) * 0.01f;
    }";

const COUNT: usize = 500;

struct Field {
    heat: cl_mem,
    steps: u32,
}

impl Field {
    fn new(context: &Context) -> Result<Field> {
        let heat = array(context, &[1.0_f32; COUNT])?;
        Ok(Field { heat, steps: 0 })
    }
}

fn main() -> Result<()> {
    let is_early = std::env::args().nth(1).is_some_and(|word| word == "early");
    let device = Device::new(*get_all_devices(CL_DEVICE_TYPE_ALL)?.first().expect("a device"));
    let context = Context::from_device(&device)?;
    let queue = CommandQueue::create_default(&context, 0)?;
    let program =
        Program::create_and_build_from_source(&context, SOURCE, "").expect("the program is OpenCL C");
    let stir = Kernel::create(&program, "stir")?;
    let mut now = array(&context, &[3_u32; COUNT])?;
    let mut next = array(&context, &[5_u32; COUNT])?;
    let idle: cl_mem = array(&context, &[7_u32; COUNT])?;
    let spare = array(&context, &[9_u32; COUNT])?;
    if is_early {
        release(spare)?;
    }
    let parts: Vec<cl_mem> = (0..2)
        .map(|part| array(&context, &[part; COUNT]))
        .collect::<Result<_>>()?;
    let mut field = Field::new(&context)?;
    for step in 0..24_u32 {
        start(&queue, &stir, [now, next, field.heat], step)?;
        start(&queue, &stir, [now, parts[step as usize % 2], field.heat], step)?;
        write(&queue, now, step as usize, &[step])?;
        write(&queue, idle, step as usize * 2, &[step])?;
        std::mem::swap(&mut now, &mut next);
        field.steps += step;
    }
    for array in [now, next, idle, parts[0], parts[1], field.heat] {
        println!("sum {:08x}", sum(&queue, array)?);
    }
    if !is_early {
        println!("spare {:08x}", sum(&queue, spare)?);
        release(spare)?;
    }
    release(now)?;
    release(next)?;
    release(idle)?;
    println!("steps {}", field.steps);
    Ok(())
}

fn start(queue: &CommandQueue, stir: &Kernel, [from, to, heat]: [cl_mem; 3], step: u32) -> Result<()> {
    // SAFETY: the kernel stays in its arrays.
    unsafe {
        ExecuteKernel::new(stir)
            .set_arg(&from)
            .set_arg(&to)
            .set_arg(&heat)
            .set_arg(&step)
            .set_global_work_size(COUNT)
            .enqueue_nd_range(queue)?;
    }
    Ok(())
}

fn sum(queue: &CommandQueue, array: cl_mem) -> Result<u32> {
    let mut found = vec![0_u32; COUNT];
    // SAFETY: there is room for all, which is there when the call returns.
    let event = unsafe {
        enqueue_read_buffer(
            queue.get(),
            array,
            CL_BLOCKING,
            0,
            4 * COUNT,
            found.as_mut_ptr().cast::<c_void>(),
            0,
            null(),
        )?
    };
    drop(Event::new(event));
    Ok(found
        .iter()
        .fold(0, |sum: u32, one| sum.wrapping_mul(31).wrapping_add(*one)))
}

fn release(array: cl_mem) -> Result<()> {
    // SAFETY: it is not used again.
    unsafe { release_mem_object(array)? };
    Ok(())
}

fn write(queue: &CommandQueue, array: cl_mem, at: usize, numbers: &[u32]) -> Result<()> {
    // SAFETY: the numbers are read before the call returns.
    let event = unsafe {
        enqueue_write_buffer(
            queue.get(),
            array,
            CL_BLOCKING,
            4 * at,
            size_of_val(numbers),
            numbers.as_ptr().cast::<c_void>(),
            0,
            null(),
        )?
    };
    drop(Event::new(event));
    Ok(())
}

fn array<T>(context: &Context, elements: &[T]) -> Result<cl_mem> {
    let from = elements.as_ptr().cast_mut().cast::<c_void>();
    let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    // SAFETY: so many elements are there, which are copied.
    Ok(unsafe { create_buffer(context.get(), flags, size_of_val(elements), from)? })
}
