//! A large table that a shader reads, numbers that say how, and a small state that it writes: of the first two a checkpoint in parts
//! has nothing that the one before has not. The state is in a struct, with what computes on it.

use std::borrow::Cow;
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{BindGroup, Buffer, BufferUsages, ComputePipeline, Device, Queue};

const SHADER: &str = "
    @group(0) @binding(0) var<uniform> factor: vec4<u32>;
    @group(0) @binding(1) var<storage, read> table: array<u32>;
    @group(0) @binding(2) var<storage, read_write> state: array<u32>;

    @compute @workgroup_size(64)
    fn step(@builtin(global_invocation_id) id: vec3<u32>) {
        let at = id.x;
        let place = (state[at] ^ (at * 977u)) % arrayLength(&table);
        state[at] = state[at] * factor.x + table[place] + factor.y;
    }";

const STATE: usize = 1024;
/// More than a megabyte of them.
const TABLE: usize = 300_000;

fn main() {
    let (device, queue) = open();
    let numbers: Vec<u32> = (0..TABLE as u32).map(|at| at ^ (at << 7)).collect();
    let factor = array(&device, &[1_664_525, 9, 0, 0], BufferUsages::UNIFORM);
    let table = array(&device, &numbers, BufferUsages::STORAGE);
    let mut steps = Steps::new(&device, &factor, &table, &numbers[..STATE]);
    for _ in 0..24 {
        steps.go_on(&device, &queue);
    }
    assert_eq!(steps.count, 24);
    let found = read(&device, &queue, &steps.state);
    let sum = found
        .iter()
        .fold(0_u32, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
    println!("sum {sum:08x}");
}

struct Steps {
    state: Buffer,
    pipeline: ComputePipeline,
    group: BindGroup,
    count: u32,
}

impl Steps {
    fn new(device: &Device, factor: &Buffer, table: &Buffer, begin: &[u32]) -> Self {
        let state = array(device, begin, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
        let pipeline = pipeline(device);
        let arrays = [factor, table, &state];
        let entries = [0, 1, 2].map(|binding| wgpu::BindGroupEntry {
            binding,
            resource: arrays[binding as usize].as_entire_binding(),
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Steps {
            state,
            pipeline,
            group,
            count: 0,
        }
    }

    fn go_on(&mut self, device: &Device, queue: &Queue) {
        let mut encoder = device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.group, &[]);
            pass.dispatch_workgroups(STATE as u32 / 64, 1, 1);
        }
        queue.submit([encoder.finish()]);
        self.count += 1;
    }
}

fn open() -> (Device, Queue) {
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
    pollster::block_on(adapter.request_device(&Default::default())).expect("a device")
}

fn array(device: &Device, numbers: &[u32], usage: BufferUsages) -> Buffer {
    device.create_buffer_init(&BufferInitDescriptor {
        label: None,
        contents: bytemuck::cast_slice(numbers),
        usage,
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
