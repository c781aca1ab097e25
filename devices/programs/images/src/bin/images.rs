//! Images: heat that spreads between two of them, which change places, where a volume says how much comes in; and pictures in two lists of
//! several, which take turns. Some kernels are made before the loop, some in each step.

use ocl::enums::{AddressingMode, FilterMode, ImageChannelDataType, ImageChannelOrder, MemObjectType};
use ocl::{Image, Kernel, ProQue, Sampler};

const SOURCE: &str = "
    __kernel void spread(read_only image2d_t from, write_only image2d_t to, read_only image3d_t sources, sampler_t how, int step) {
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        float around = read_imagef(from, how, at + (int2)(1, 0)).x + read_imagef(from, how, at - (int2)(1, 0)).x
            + read_imagef(from, how, at + (int2)(0, 1)).x + read_imagef(from, how, at - (int2)(0, 1)).x;
        float more = read_imagei(sources, how, (int4)(at.x % 5, at.y % 4, step % 3, 0)).x * 0.01f;
        write_imagef(to, at, (float4)(around * 0.24f + more, 0.0f, 0.0f, 0.0f));
    }

    __kernel void turn(read_only image2d_array_t from, write_only image2d_array_t to) {
        const sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
        int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
        uint4 texel = read_imageui(from, exact, (int4)((at.x * 3 + at.z) % 10, (at.y + 1) % 6, at.z, 0));
        write_imageui(to, at, (texel.yzwx * 13u + (uint4)(at.x, at.y, at.z, 7)) & 255u);
    }";

/// The texels of a plane, of a volume and of a picture.
const PLANE: (usize, usize) = (33, 20);
const VOLUME: (usize, usize, usize) = (5, 4, 3);
const PICTURE: (usize, usize) = (10, 6);
const PICTURES: usize = 3;

struct Album {
    pages: Vec<Image<u8>>,
    turned: u32,
}

impl Album {
    fn new(device: &ProQue) -> ocl::Result<Album> {
        Ok(Album {
            pages: (1..3)
                .map(|page| pictures(device, page * 7))
                .collect::<ocl::Result<_>>()?,
            turned: 0,
        })
    }

    fn turn(&mut self, device: &ProQue) -> ocl::Result<()> {
        let from = self.turned as usize % 2;
        let kernel = device
            .kernel_builder("turn")
            .arg(&self.pages[from])
            .arg(&self.pages[1 - from])
            .global_work_size((PICTURE.0, PICTURE.1, PICTURES))
            .build()?;
        start(&kernel)?;
        self.turned += 1;
        Ok(())
    }

    fn show(&self) -> ocl::Result<()> {
        for pages in &self.pages {
            let mut found = vec![0_u8; PICTURE.0 * PICTURE.1 * PICTURES * 4];
            let all = (PICTURE.0, PICTURE.1, PICTURES);
            pages.cmd().read(&mut found).region(all).enq()?;
            println!("pages {:08x}", sum(found.iter().map(|one| u32::from(*one))));
        }
        println!("turned {}", self.turned);
        Ok(())
    }
}

fn main() -> ocl::Result<()> {
    let steps: u32 = std::env::args()
        .nth(1)
        .map_or(24, |text| text.parse().expect("a number"));
    let device = ProQue::builder().src(SOURCE).dims(PLANE).build()?;
    let how = Sampler::new(
        device.context(),
        false,
        AddressingMode::ClampToEdge,
        FilterMode::Nearest,
    )?;
    let mut now = plane(&device, 3)?;
    let mut next = plane(&device, 5)?;
    let sources = volume(&device)?;
    let mut album = Album::new(&device)?;
    let first = spread(&device, &now, &next, &sources, &how, 0)?;
    for step in 0..steps {
        if step % 4 == 2 {
            start(&first)?;
        }
        start(&spread(&device, &now, &next, &sources, &how, step)?)?;
        std::mem::swap(&mut now, &mut next);
        sources
            .cmd()
            .write(&[step as i32; VOLUME.0 * 2])
            .origin((0, step as usize % 3, step as usize % VOLUME.2))
            .region((VOLUME.0, 2, 1))
            .enq()?;
        album.turn(&device)?;
    }
    for plane in [&now, &next] {
        let mut found = vec![0.0_f32; PLANE.0 * PLANE.1];
        plane.read(&mut found).enq()?;
        println!("plane {:08x}", sum(found.iter().map(|one| one.to_bits())));
    }
    let mut found = vec![0_i32; VOLUME.0 * VOLUME.1 * VOLUME.2];
    sources.read(&mut found).enq()?;
    println!("sources {:08x}", sum(found.iter().map(|one| *one as u32)));
    album.show()
}

fn sum(numbers: impl Iterator<Item = u32>) -> u32 {
    numbers.fold(0, |sum: u32, one| sum.wrapping_mul(31).wrapping_add(one))
}

fn plane(device: &ProQue, seed: usize) -> ocl::Result<Image<f32>> {
    let texels: Vec<f32> = (0..PLANE.0 * PLANE.1).map(|at| (at * seed % 17) as f32).collect();
    let plane = Image::builder()
        .channel_order(ImageChannelOrder::R)
        .channel_data_type(ImageChannelDataType::Float)
        .image_type(MemObjectType::Image2d)
        .dims(PLANE)
        .queue(device.queue().clone())
        .copy_host_slice(&texels)
        .build()?;
    Ok(plane)
}

fn volume(device: &ProQue) -> ocl::Result<Image<i32>> {
    let texels: Vec<i32> = (0..(VOLUME.0 * VOLUME.1 * VOLUME.2) as i32).collect();
    let volume = Image::builder()
        .channel_order(ImageChannelOrder::R)
        .channel_data_type(ImageChannelDataType::SignedInt32)
        .image_type(MemObjectType::Image3d)
        .dims(VOLUME)
        .queue(device.queue().clone())
        .copy_host_slice(&texels)
        .build()?;
    Ok(volume)
}

fn pictures(device: &ProQue, seed: usize) -> ocl::Result<Image<u8>> {
    let texels: Vec<u8> = (0..PICTURE.0 * PICTURE.1 * PICTURES * 4)
        .map(|at| (at * seed) as u8)
        .collect();
    let pictures = Image::builder()
        .channel_order(ImageChannelOrder::Rgba)
        .channel_data_type(ImageChannelDataType::UnsignedInt8)
        .image_type(MemObjectType::Image2dArray)
        .dims(PICTURE)
        .array_size(PICTURES)
        .queue(device.queue().clone())
        .copy_host_slice(&texels)
        .build()?;
    Ok(pictures)
}

fn spread(
    device: &ProQue,
    from: &Image<f32>,
    to: &Image<f32>,
    sources: &Image<i32>,
    how: &Sampler,
    step: u32,
) -> ocl::Result<Kernel> {
    device
        .kernel_builder("spread")
        .arg(from)
        .arg(to)
        .arg(sources)
        .arg_sampler(how)
        .arg(step as i32)
        .build()
}

fn start(kernel: &Kernel) -> ocl::Result<()> {
    // SAFETY: the kernel stays in the images.
    unsafe { kernel.enq() }
}
