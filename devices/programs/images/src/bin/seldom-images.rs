//! Large images that are written seldom, each by other commands. Where a checkpoint in parts took one for unchanged that was written,
//! another sum would come of it after a restart.

use ocl::enums::{ImageChannelDataType, ImageChannelOrder, MemObjectType};
use ocl::{Image, Kernel, ProQue};

const SOURCE: &str = "
    __kernel void stir(read_only image2d_array_t table, write_only image2d_t state, uint more) {
        const sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        uint4 texel = read_imageui(table, exact, (int4)(at.y, at.x, more % 3, 0));
        write_imageui(state, at, texel * 1664525u + more);
    }";

/// More than a megabyte of texels, and as many three times.
const SIDE: usize = 300;
const LAYERS: usize = 3;

fn main() -> ocl::Result<()> {
    let device = ProQue::builder().src(SOURCE).dims((SIDE, SIDE)).build()?;
    let table = image(&device, LAYERS, MemObjectType::Image2dArray)?;
    let stirred = image(&device, 1, MemObjectType::Image2d)?;
    let put = image(&device, 1, MemObjectType::Image2d)?;
    let copied = image(&device, 1, MemObjectType::Image2d)?;
    let mut ones = vec![1_u32; SIDE * SIDE * 4];
    for step in 0..24_u32 {
        if step % 3 == 1 {
            let stir = kernel_of(&device, &table, &stirred, step)?;
            // SAFETY: the kernel stays in the images.
            unsafe { stir.enq()? };
        }
        if step % 5 == 2 {
            ones[step as usize] = step;
            put.write(&ones).enq()?;
        }
        if step % 7 == 3 {
            stirred.cmd().copy(&copied, [0, 0, 0]).enq()?;
        }
        if step % 11 == 6 {
            let row = [step; SIDE * 4];
            let place = (0, step as usize, 2);
            table.cmd().write(&row).origin(place).region((SIDE, 1, 1)).enq()?;
        }
    }
    for (image, layers) in [(&table, LAYERS), (&stirred, 1), (&put, 1), (&copied, 1)] {
        let mut found = vec![0; SIDE * SIDE * layers * 4];
        image.cmd().read(&mut found).region((SIDE, SIDE, layers)).enq()?;
        let sum = found
            .iter()
            .fold(0_u32, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
        println!("sum {sum:08x}");
    }
    Ok(())
}

fn image(device: &ProQue, layers: usize, kind: MemObjectType) -> ocl::Result<Image<u32>> {
    let texels: Vec<u32> = (0..(SIDE * SIDE * layers * 4) as u32)
        .map(|at| at ^ (at << 7))
        .collect();
    let image = Image::builder()
        .channel_order(ImageChannelOrder::Rgba)
        .channel_data_type(ImageChannelDataType::UnsignedInt32)
        .image_type(kind)
        .dims((SIDE, SIDE))
        .array_size(layers)
        .queue(device.queue().clone())
        .copy_host_slice(&texels)
        .build()?;
    Ok(image)
}

fn kernel_of(device: &ProQue, table: &Image<u32>, state: &Image<u32>, more: u32) -> ocl::Result<Kernel> {
    device
        .kernel_builder("stir")
        .arg(table)
        .arg(state)
        .arg(more)
        .build()
}
