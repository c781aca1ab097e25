//! What a program may have on a device at a site although none of its variables is that: the argument says what.

use wgpu::{Buffer, BufferUsages, Device, MapMode, PollType, Queue};

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    let (device, queue) = open();
    let sum = array(&device, 4000, BufferUsages::COPY_DST | BufferUsages::COPY_SRC);
    // Read by the program alone, and written by it: of these a checkpoint has the content by mapping them.
    let inbox = array(&device, 64, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let outbox = array(&device, 64, BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC);
    let copied = array(&device, 4000, BufferUsages::COPY_DST | BufferUsages::COPY_SRC);
    hold(&what, &device, &queue, &sum, &inbox);
    for step in 0..20_u32 {
        queue.write_buffer(&sum, u64::from(step) * 4, bytemuck::bytes_of(&(step * step)));
        let mut encoder = device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&sum, 0, &copied, 2000, 200);
        encoder.copy_buffer_to_buffer(&outbox, 0, &copied, 3000, 64);
        queue.submit([encoder.finish()]);
    }
    if what != "mapped" {
        println!(
            "sum {} {}",
            total(&device, &queue, &sum, 0, &inbox),
            total(&device, &queue, &copied, 2000, &inbox)
        );
    }
}

fn open() -> (Device, Queue) {
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
    pollster::block_on(adapter.request_device(&Default::default())).expect("a device")
}

fn array(device: &Device, size: u64, usage: BufferUsages) -> Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage,
        mapped_at_creation: false,
    })
}

fn hold(what: &str, device: &Device, queue: &Queue, sum: &Buffer, inbox: &Buffer) {
    match what {
        "hidden" => std::mem::forget(array(device, 40, BufferUsages::STORAGE)),
        "mapped" => {
            inbox.map_async(MapMode::Read, .., |mapped| mapped.expect("mapped"));
            device.poll(PollType::wait_indefinitely()).expect("done");
        }
        "commands" => {
            let mut encoder = device.create_command_encoder(&Default::default());
            encoder.clear_buffer(sum, 0, None);
            std::mem::forget(encoder);
        }
        "noted" => {
            let mut encoder = device.create_command_encoder(&Default::default());
            encoder.clear_buffer(sum, 0, None);
            std::mem::forget(encoder.finish());
        }
        "texture" => std::mem::forget(device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d {
                width: 16,
                height: 16,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        })),
        // They are done when the checkpoint is taken, and what they call has been called.
        "called" => queue.on_submitted_work_done(|| ()),
        _ => {}
    }
}

/// Of some of its bytes.
fn total(device: &Device, queue: &Queue, sum: &Buffer, from: u64, inbox: &Buffer) -> u32 {
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(sum, from, inbox, 0, 64);
    queue.submit([encoder.finish()]);
    inbox.map_async(MapMode::Read, .., |mapped| mapped.expect("mapped"));
    device.poll(PollType::wait_indefinitely()).expect("done");
    let numbers: Vec<u32> = bytemuck::pod_collect_to_vec(&inbox.get_mapped_range(..).expect("mapped"));
    inbox.unmap();
    numbers.iter().sum()
}
