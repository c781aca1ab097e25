//! Arrays whose descriptions are given to a macro, and one whose description calls what describes another.

#![allow(
    clippy::useless_vec,
    reason = "what is given to a macro is what this is about"
)]

#[path = "../common.rs"]
mod common;

use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{BufferDescriptor, BufferUsages, Device};

/// More than a megabyte of them.
const LENGTH: u32 = 1 << 19;

fn main() {
    let (device, queue) = common::open();
    let pipeline = common::pipeline(&device);
    let pair = vec![
        device.create_buffer(&BufferDescriptor {
            label: None,
            size: 4096,
            usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        }),
        device.create_buffer(&BufferDescriptor {
            label: None,
            size: 4096,
            usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        }),
    ];
    let written = device.create_buffer_init(&BufferInitDescriptor {
        label: None,
        usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
        contents: bytemuck::cast_slice(&numbers(&device)),
    });
    let groups = vec![
        common::group(&device, &pipeline, &pair[0]),
        common::group(&device, &pipeline, &pair[1]),
    ];
    for step in 0..12_u32 {
        common::start(&device, &queue, &pipeline, &groups[step as usize % 2]);
        queue.write_buffer(&written, u64::from(step) * 256, bytemuck::cast_slice(&[step; 64]));
    }
    let sums = [&pair[0], &pair[1], &written].map(|array| common::sum(&device, &queue, array));
    println!("{sums:x?}");
}

fn numbers(device: &Device) -> Vec<u32> {
    let description = BufferDescriptor {
        label: None,
        size: 64,
        usage: BufferUsages::STORAGE,
        mapped_at_creation: false,
    };
    let other = device.create_buffer(&description);
    (0..LENGTH).map(|at| at ^ other.size() as u32).collect()
}
