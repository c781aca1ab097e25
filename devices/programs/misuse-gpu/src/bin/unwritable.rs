//! An array whose description is a constant: it is read, and nothing could write it.

use wgpu::{BufferDescriptor, BufferUsages};

const DESCRIPTION: BufferDescriptor<'_> = BufferDescriptor {
    label: None,
    size: 4000,
    usage: BufferUsages::STORAGE.union(BufferUsages::COPY_SRC),
    mapped_at_creation: false,
};

fn main() {
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
    let (device, _queue) = pollster::block_on(adapter.request_device(&Default::default())).expect("a device");
    let array = device.create_buffer(&DESCRIPTION);
    let mut sum = 0;
    for step in 0..6 {
        sum += array.size() * step;
    }
    println!("{sum}");
}
