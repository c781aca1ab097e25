//! As `turned`, with wgpu: two groups that were made before have the one array and the other, for both directions; the arrays
//! change places after each step, and a third one with the first in every third.

use std::borrow::Cow;
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{BindGroup, Buffer, BufferUsages, ComputePipeline, Device, Queue};

const SHADER: &str = "
    @group(0) @binding(0) var<storage, read_write> before: array<u32>;
    @group(0) @binding(1) var<storage, read_write> behind: array<u32>;

    @compute @workgroup_size(64)
    fn step(@builtin(global_invocation_id) id: vec3<u32>) {
        let at = id.x;
        behind[at] = before[at] * 1664525u + (behind[at] >> 3) + at;
    }";

const COUNT: usize = 1024;

fn main() {
    let (device, queue) = open();
    let mut now = array(&device, 3);
    let mut next = array(&device, 5);
    let mut third = array(&device, 7);
    let pipeline = pipeline(&device);
    let groups = [
        group(&device, &pipeline, &now, &next),
        group(&device, &pipeline, &next, &now),
        group(&device, &pipeline, &third, &now),
    ];
    for step in 0..30 {
        start(&device, &queue, &pipeline, &groups[step % 2]);
        start(&device, &queue, &pipeline, &groups[2]);
        start(
            &device,
            &queue,
            &pipeline,
            &group(&device, &pipeline, &now, &third),
        );
        std::mem::swap(&mut now, &mut next);
        if step % 3 == 1 {
            (third, now) = (now, third);
        }
    }
    for array in [&now, &next, &third] {
        let sum = read(&device, &queue, array)
            .iter()
            .fold(0_u32, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
        println!("sum {sum:08x}");
    }
}

fn start(device: &Device, queue: &Queue, pipeline: &ComputePipeline, group: &BindGroup) {
    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(COUNT as u32 / 64, 1, 1);
    }
    queue.submit([encoder.finish()]);
}

fn open() -> (Device, Queue) {
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
    pollster::block_on(adapter.request_device(&Default::default())).expect("a device")
}

fn array(device: &Device, factor: u32) -> Buffer {
    let numbers: Vec<u32> = (0..COUNT as u32).map(|at| at * factor).collect();
    device.create_buffer_init(&BufferInitDescriptor {
        label: None,
        contents: bytemuck::cast_slice(&numbers),
        usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC,
    })
}

fn pipeline(device: &Device) -> ComputePipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(SHADER)),
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

fn group(device: &Device, pipeline: &ComputePipeline, before: &Buffer, behind: &Buffer) -> BindGroup {
    let arrays = [before, behind];
    let entries = [0, 1].map(|binding| wgpu::BindGroupEntry {
        binding,
        resource: arrays[binding as usize].as_entire_binding(),
    });
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    })
}

fn read(device: &Device, queue: &Queue, array: &Buffer) -> Vec<u32> {
    let copy = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: array.size(),
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(array, 0, &copy, 0, array.size());
    queue.submit([encoder.finish()]);
    copy.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("done");
    let bytes = copy.get_mapped_range(..).expect("mapped");
    bytemuck::pod_collect_to_vec(&bytes)
}
