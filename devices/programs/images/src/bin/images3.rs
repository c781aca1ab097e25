//! As `images`, with `opencl3`, which gives a kernel its arguments by their numbers, a sampler among them: of one dimension, several of
//! one dimension, and one that the program neither reads nor writes from its side.

use std::ffi::c_void;

use opencl3::Result;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::Kernel;
use opencl3::memory::{
    Buffer, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, CL_FLOAT, CL_HALF_FLOAT, CL_MEM_COPY_HOST_PTR,
    CL_MEM_HOST_NO_ACCESS, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_READ_WRITE, CL_R, CL_RGBA, CL_UNSIGNED_INT16, ClMem, Image, Sampler, cl_mem,
};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, CL_FALSE, cl_image_desc, cl_image_format, cl_mem_flags, cl_sampler};

const SOURCE: &str = "
    __kernel void stir(read_only image2d_t from, write_only image2d_t to, sampler_t how, float more) {
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        float4 texel = read_imagef(from, how, at + (int2)(1, 1)) * 0.5f + read_imagef(from, how, at - (int2)(2, 0)) * 0.25f;
        write_imagef(to, at, texel.yzwx + more);
    }";

/// The texels of a plane, and of one of several lines.
const PLANE: [usize; 2] = [21, 13];
const LINE: usize = 19;
const LINES: usize = 4;
/// The bits of halves from 1 to 2.
const ONE: u16 = 0x3C00;

fn main() -> Result<()> {
    let device = Device::new(*get_all_devices(CL_DEVICE_TYPE_ALL)?.first().expect("a device"));
    let context = Context::from_device(&device)?;
    let queue = CommandQueue::create_default(&context, 0)?;
    let program =
        Program::create_and_build_from_source(&context, SOURCE, "").expect("the program is OpenCL C");
    let how = Sampler::create(&context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST)?;
    let planes = [plane(&context, 0, 3)?, plane(&context, CL_MEM_HOST_NO_ACCESS, 5)?];
    let mut line = line(&context)?;
    let mut lines = lines(&context)?;
    let gathered = gathered(&context)?;
    let stir = Kernel::create(&program, "stir")?;
    // SAFETY: the sampler is one, and is there as long as the kernel.
    unsafe { stir.set_arg::<cl_sampler>(2, &how.get())? };
    for step in 0..24_u32 {
        let [from, to] = [&planes[step as usize % 2], &planes[1 - step as usize % 2]];
        // SAFETY: the kernel stays in its images; the commands in theirs, and what they read is there until they return.
        unsafe {
            stir.set_arg::<cl_mem>(0, &from.get())?;
            stir.set_arg::<cl_mem>(1, &to.get())?;
            stir.set_arg::<f32>(3, &(step as f32 * 0.01))?;
            let event = queue.enqueue_nd_range_kernel(
                stir.get(),
                2,
                std::ptr::null(),
                PLANE.as_ptr(),
                std::ptr::null(),
                &[],
            )?;
            event.wait()?;
            let halves = [ONE + step as u16; 3];
            queue.enqueue_write_image(
                &mut line,
                CL_BLOCKING,
                [step as usize % (LINE - 3), 0, 0].as_ptr(),
                [3, 1, 1].as_ptr(),
                0,
                0,
                halves.as_ptr().cast_mut().cast::<c_void>(),
                &[],
            )?;
            let colour = [step * 2049, 0, 0, 0];
            let event = queue.enqueue_fill_image(
                &mut lines,
                colour.as_ptr().cast::<c_void>(),
                [step as usize % LINE, step as usize % LINES, 0].as_ptr(),
                [1, 1, 1].as_ptr(),
                &[],
            )?;
            event.wait()?;
        }
    }
    let mut gathered = gathered;
    for plane in &planes {
        // SAFETY: the copies stay in the array, and the numbers are read when the call returns.
        let found = unsafe {
            queue.enqueue_copy_image_to_buffer(
                plane,
                &mut gathered,
                [0, 0, 0].as_ptr(),
                [PLANE[0], PLANE[1], 1].as_ptr(),
                0,
                &[],
            )?;
            let mut found = vec![0.0_f32; PLANE[0] * PLANE[1] * 4];
            queue.enqueue_read_buffer(&gathered, CL_BLOCKING, 0, &mut found, &[])?;
            found
        };
        println!("plane {:08x}", sum(found.iter().map(|one| one.to_bits())));
    }
    for (name, image, rows) in [("line", &line, 1), ("lines", &lines, LINES)] {
        let mut found = vec![0_u16; LINE * rows];
        // SAFETY: there is room for all of it, which is there when the call returns.
        unsafe {
            queue.enqueue_read_image(
                image,
                CL_BLOCKING,
                [0, 0, 0].as_ptr(),
                [LINE, rows, 1].as_ptr(),
                0,
                0,
                found.as_mut_ptr().cast::<c_void>(),
                &[],
            )?;
        }
        println!("{name} {:08x}", sum(found.iter().map(|one| u32::from(*one))));
    }
    Ok(())
}

fn sum(numbers: impl Iterator<Item = u32>) -> u32 {
    numbers.fold(0, |sum: u32, one| sum.wrapping_mul(31).wrapping_add(one))
}

fn plane(context: &Context, flags: cl_mem_flags, seed: usize) -> Result<Image> {
    let texels: Vec<f32> = (0..PLANE[0] * PLANE[1] * 4)
        .map(|at| (at * seed % 17) as f32)
        .collect();
    let format = cl_image_format {
        image_channel_order: CL_RGBA,
        image_channel_data_type: CL_FLOAT,
    };
    let described = cl_image_desc {
        image_width: PLANE[0],
        image_height: PLANE[1],
        ..nothing(CL_MEM_OBJECT_IMAGE2D)
    };
    image(context, flags, &format, &described, &texels)
}

fn line(context: &Context) -> Result<Image> {
    let texels = [ONE; LINE];
    let format = cl_image_format {
        image_channel_order: CL_R,
        image_channel_data_type: CL_HALF_FLOAT,
    };
    let described = cl_image_desc {
        image_width: LINE,
        ..nothing(CL_MEM_OBJECT_IMAGE1D)
    };
    image(context, 0, &format, &described, &texels)
}

fn lines(context: &Context) -> Result<Image> {
    let texels: Vec<u16> = (0..(LINE * LINES) as u16).map(|at| at * 771).collect();
    let format = cl_image_format {
        image_channel_order: CL_R,
        image_channel_data_type: CL_UNSIGNED_INT16,
    };
    let described = cl_image_desc {
        image_width: LINE,
        image_array_size: LINES,
        ..nothing(CL_MEM_OBJECT_IMAGE1D_ARRAY)
    };
    image(context, 0, &format, &described, &texels)
}

fn nothing(kind: u32) -> cl_image_desc {
    cl_image_desc {
        image_type: kind,
        image_width: 1,
        image_height: 1,
        image_depth: 1,
        image_array_size: 1,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: std::ptr::null_mut(),
    }
}

fn image<T>(
    context: &Context,
    flags: cl_mem_flags,
    format: &cl_image_format,
    described: &cl_image_desc,
    texels: &[T],
) -> Result<Image> {
    let from = texels.as_ptr().cast_mut().cast::<c_void>();
    let flags = flags | CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    // SAFETY: as many texels are there, which are copied.
    unsafe { Image::create(context, flags, format, described, from) }
}

fn gathered(context: &Context) -> Result<Buffer<f32>> {
    // SAFETY: nothing is copied into it.
    unsafe {
        Buffer::create(
            context,
            CL_MEM_READ_WRITE,
            PLANE[0] * PLANE[1] * 4,
            std::ptr::null_mut(),
        )
    }
}
