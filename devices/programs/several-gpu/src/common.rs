//! What the programs have in common: an array, a device that computes on it, and what is in it.

#![allow(dead_code, reason = "each program uses a part of it")]

use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{BindGroup, Buffer, BufferUsages, ComputePipeline, Device, Instance, Queue};

const SHADER: &str = "
    /* One array: /* its numbers */ // */ @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;

    @compute @workgroup_size(64)
    fn step(@builtin(global_invocation_id) id: vec3<u32>) {
        numbers[id.x] = numbers[id.x] * 1664525u + id.x;
    }";

/// A device of an instance of its own.
pub fn open() -> (Device, Queue) {
    device_of(&Instance::default())
}

/// A device of the first adapter: each call gives another one.
pub fn device_of(instance: &Instance) -> (Device, Queue) {
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
    pollster::block_on(adapter.request_device(&Default::default())).expect("a device")
}

pub fn array(device: &Device, length: u32, factor: u32) -> Buffer {
    let numbers: Vec<u32> = (0..length).map(|at| at.wrapping_mul(factor)).collect();
    device.create_buffer_init(&BufferInitDescriptor {
        label: None,
        contents: bytemuck::cast_slice(&numbers),
        usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC,
    })
}

pub fn pipeline(device: &Device) -> ComputePipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("step"),
        compilation_options: Default::default(),
        cache: None,
    })
}

pub fn group(device: &Device, pipeline: &ComputePipeline, array: &Buffer) -> BindGroup {
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry {
            binding: 0,
            resource: array.as_entire_binding(),
        }],
    })
}

/// One step of the first 1024 numbers.
pub fn start(device: &Device, queue: &Queue, pipeline: &ComputePipeline, group: &BindGroup) {
    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(16, 1, 1);
    }
    queue.submit([encoder.finish()]);
}

/// Memory that an array of so many bytes is copied to, to be mapped.
pub fn staging(device: &Device, size: u64) -> Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

/// A number for what is in an array, by way of memory that is mapped.
pub fn sum_by(device: &Device, queue: &Queue, array: &Buffer, staging: &Buffer) -> u64 {
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(array, 0, staging, 0, array.size());
    queue.submit([encoder.finish()]);
    sum_of_mapped(device, staging)
}

/// The same of what has been copied there.
pub fn sum_of_mapped(device: &Device, staging: &Buffer) -> u64 {
    staging.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("done");
    let numbers: Vec<u32> = {
        let bytes = staging.get_mapped_range(..).expect("mapped");
        bytemuck::pod_collect_to_vec(&bytes)
    };
    staging.unmap();
    let next = |sum: u64, number: &u32| sum.wrapping_mul(31).wrapping_add((*number).into());
    numbers.iter().fold(7, next)
}

pub fn sum(device: &Device, queue: &Queue, array: &Buffer) -> u64 {
    sum_by(device, queue, array, &staging(device, array.size()))
}
