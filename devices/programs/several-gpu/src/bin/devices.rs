//! Three devices of one adapter: two in a list, with an array each, and one whose array is also read by way of memory that
//! lasts as long as the run. The last has a texture too.

#[path = "../common.rs"]
mod common;

use wgpu::{Buffer, ComputePipeline, Device, Extent3d, Instance, Queue, Texture, TextureUsages};

const LENGTH: u32 = 1024;

struct Part {
    device: Device,
    queue: Queue,
    pipeline: ComputePipeline,
    numbers: Buffer,
}

impl Part {
    fn new(instance: &Instance, factor: u32) -> Part {
        let (device, queue) = common::device_of(instance);
        let pipeline = common::pipeline(&device);
        let numbers = common::array(&device, LENGTH, factor);
        Part {
            device,
            queue,
            pipeline,
            numbers,
        }
    }

    fn step(&self) {
        let group = common::group(&self.device, &self.pipeline, &self.numbers);
        common::start(&self.device, &self.queue, &self.pipeline, &group);
    }

    fn sum(&self) -> u64 {
        common::sum(&self.device, &self.queue, &self.numbers)
    }
}

fn main() {
    let instance = Instance::default();
    let parts: Vec<Part> = (1..3).map(|factor| Part::new(&instance, factor)).collect();
    let (device, queue) = common::device_of(&instance);
    let pipeline = common::pipeline(&device);
    let numbers = common::array(&device, LENGTH, 7);
    let group = common::group(&device, &pipeline, &numbers);
    let staging = common::staging(&device, numbers.size());
    let texture = texture(&device);
    let mut total = 0_u64;
    for step in 0..16_usize {
        parts[step % 2].step();
        parts[step * step % 3 % 2].step();
        if step % 3 == 0 {
            common::start(&device, &queue, &pipeline, &group);
            queue.write_texture(
                texture.as_image_copy(),
                &[step as u8; 64],
                wgpu::TexelCopyBufferLayout::default(),
                Extent3d {
                    width: 16,
                    ..Default::default()
                },
            );
        }
        if step % 4 == 0 {
            total =
                { total.wrapping_mul(31) }.wrapping_add(common::sum_by(&device, &queue, &numbers, &staging));
        }
    }
    let copy = common::staging(&device, 64);
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &copy,
            layout: wgpu::TexelCopyBufferLayout::default(),
        },
        Extent3d {
            width: 16,
            ..Default::default()
        },
    );
    queue.submit([encoder.finish()]);
    let sums = parts.iter().map(Part::sum).collect::<Vec<_>>();
    let drawn = common::sum_of_mapped(&device, &copy);
    println!("{total:x} {sums:x?} {drawn:x}");
}

fn texture(device: &Device) -> Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: Extent3d {
            width: 16,
            ..Default::default()
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST | TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}
