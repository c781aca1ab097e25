//! Commands that are noted in one step, and submitted in a later one.

use wgpu::{Buffer, BufferUsages, CommandEncoder, Device};

fn main() {
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default())).expect("a device");
    let from = array(&device, BufferUsages::COPY_SRC);
    let to = array(&device, BufferUsages::COPY_DST);
    let mut encoder = noted(&device);
    for step in 0..1000_u64 {
        encoder.copy_buffer_to_buffer(&from, 0, &to, 2000, 4 + step % 10 * 4);
        if step % 10 == 9 {
            queue.submit([encoder.finish()]);
            encoder = noted(&device);
        }
    }
    println!("done");
}

fn array(device: &Device, usage: BufferUsages) -> Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 4000,
        usage,
        mapped_at_creation: false,
    })
}

fn noted(device: &Device) -> CommandEncoder {
    device.create_command_encoder(&Default::default())
}
