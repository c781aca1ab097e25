//! As `kinds`, with `opencl3`, which asks nothing of the elements: arrays of four numbers, structs, and bytes.

use std::ffi::c_void;

use opencl3::Result;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

const SOURCE: &str = "
    typedef struct { float at[2]; ushort kind; } Cell;
    __kernel void stir(__global float4 *points, __global Cell *cells, __global uint *packed, int step) {
        size_t at = get_global_id(0);
        points[at] = points[at] * 0.5f + (float4)(step, at, 1.0f, 2.0f);
        cells[at].at[step % 2] += points[at].x;
        cells[at].kind += step * at;
        packed[at] = packed[at] * 1664525u + cells[at].kind;
    }";

const COUNT: usize = 400;

#[repr(C)]
#[derive(Clone, Copy)]
struct Cell {
    at: [f32; 2],
    kind: u16,
}

fn main() -> Result<()> {
    let device = Device::new(*get_all_devices(CL_DEVICE_TYPE_ALL)?.first().expect("a device"));
    let context = Context::from_device(&device)?;
    let queue = CommandQueue::create_default(&context, 0)?;
    let program =
        Program::create_and_build_from_source(&context, SOURCE, "").expect("the program is OpenCL C");
    let stir = Kernel::create(&program, "stir")?;
    let mut points = array(&context, &[[1.0_f32, 2.0, 3.0, 4.0]; COUNT])?;
    let cells = cells(&context)?;
    // The program knows it as bytes, the kernel as numbers.
    let packed: Buffer<u8> = array(&context, &[3; COUNT * 4])?;
    for step in 0..24_i32 {
        // SAFETY: the kernel stays in its arrays, and the numbers are read before the call returns.
        unsafe {
            ExecuteKernel::new(&stir)
                .set_arg(&points)
                .set_arg(&cells)
                .set_arg(&packed)
                .set_arg(&step)
                .set_global_work_size(COUNT)
                .enqueue_nd_range(&queue)?;
            queue.enqueue_write_buffer(&mut points, CL_BLOCKING, 16, &[[step as f32; 4]], &[])?;
        }
    }
    let mut found = vec![[0.0; 4]; COUNT];
    let mut last = vec![
        Cell {
            at: [0.0; 2],
            kind: 0
        };
        COUNT
    ];
    let mut bytes = vec![0; COUNT * 4];
    // SAFETY: the calls return when all has been read.
    unsafe {
        queue.enqueue_read_buffer(&points, CL_BLOCKING, 0, &mut found, &[])?;
        queue.enqueue_read_buffer(&cells, CL_BLOCKING, 0, &mut last, &[])?;
        queue.enqueue_read_buffer(&packed, CL_BLOCKING, 0, &mut bytes, &[])?;
    }
    println!(
        "points {:08x}",
        sum(found.iter().flatten().map(|one| one.to_bits()))
    );
    let numbers = |cell: &Cell| [cell.at[0].to_bits(), cell.at[1].to_bits(), u32::from(cell.kind)];
    println!("cells {:08x}", sum(last.iter().flat_map(numbers)));
    println!("packed {:08x}", sum(bytes.iter().map(|one| u32::from(*one))));
    Ok(())
}

fn sum(numbers: impl Iterator<Item = u32>) -> u32 {
    numbers.fold(0, |sum: u32, one| sum.wrapping_mul(31).wrapping_add(one))
}

fn cells(context: &Context) -> Result<Buffer<Cell>> {
    let cell = |at: usize| Cell {
        at: [at as f32, 1.0],
        kind: at as u16,
    };
    let cells: Vec<Cell> = (0..COUNT).map(cell).collect();
    array(context, &cells)
}

fn array<T>(context: &Context, elements: &[T]) -> Result<Buffer<T>> {
    let from = elements.as_ptr().cast_mut().cast::<c_void>();
    // SAFETY: so many elements are there, which are copied.
    unsafe {
        Buffer::create(
            context,
            CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
            elements.len(),
            from,
        )
    }
}
