//! A table that shaders only read, filled by a copy in front of the loop, and that only a bind group has when a checkpoint is due.

use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{
    BindGroup, BindGroupEntry, Buffer, BufferDescriptor, BufferUsages, ComputePipeline, Device, Queue,
};

const CELLS: usize = 256;

const WALK: &str = "
@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
@group(0) @binding(1) var<storage, read> factors: array<u32>;
@compute @workgroup_size(64)
fn step(@builtin(global_invocation_id) at: vec3<u32>) {
    sums[at.x] = sums[at.x] * factors[at.x] + 1u;
}
";

trait Bound {
    fn table(&self) -> &Buffer;
}

impl Bound for Buffer {
    fn table(&self) -> &Buffer {
        self
    }
}

struct Walk {
    sums: Buffer,
    group: BindGroup,
}

impl Walk {
    /// The table ends here.
    fn of(device: &Device, pipeline: &ComputePipeline, sums: Buffer, table: impl Bound) -> Walk {
        let group = group(device, pipeline, [&sums, table.table()]);
        Walk { sums, group }
    }
}

fn main() {
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default())).expect("a device");
    let pipeline = pipeline(&device);
    let factors: Vec<u32> = (0..CELLS as u32).map(|at| 2 * at + 1).collect();
    let start = made(&device, &factors, BufferUsages::COPY_SRC);
    let sums = made(
        &device,
        &[1; CELLS],
        BufferUsages::STORAGE | BufferUsages::COPY_SRC,
    );
    let table = zeros(&device);
    copy(&device, &queue, [&start, &table]);
    let walk = Walk::of(&device, &pipeline, sums, table);
    for _ in 0..20 {
        start_step(&device, &queue, &pipeline, &walk.group);
    }
    println!("{}", sum(&device, &queue, &walk.sums));
}

fn pipeline(device: &Device) -> ComputePipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(WALK.into()),
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

fn made(device: &Device, numbers: &[u32], usage: BufferUsages) -> Buffer {
    device.create_buffer_init(&BufferInitDescriptor {
        label: None,
        contents: bytemuck::cast_slice(numbers),
        usage,
    })
}

fn zeros(device: &Device) -> Buffer {
    device.create_buffer(&BufferDescriptor {
        label: None,
        size: 4 * CELLS as u64,
        usage: BufferUsages::STORAGE | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

fn group(device: &Device, pipeline: &ComputePipeline, arrays: [&Buffer; 2]) -> BindGroup {
    let entries: Vec<BindGroupEntry<'_>> = { (0..).zip(arrays) }
        .map(|(binding, array)| BindGroupEntry {
            binding,
            resource: array.as_entire_binding(),
        })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    })
}

fn start_step(device: &Device, queue: &Queue, pipeline: &ComputePipeline, group: &BindGroup) {
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, group, &[]);
    pass.dispatch_workgroups(CELLS as u32 / 64, 1, 1);
    drop(pass);
    queue.submit([encoder.finish()]);
}

fn copy(device: &Device, queue: &Queue, [from, to]: [&Buffer; 2]) {
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
    queue.submit([encoder.finish()]);
}

fn sum(device: &Device, queue: &Queue, array: &Buffer) -> u32 {
    let copy = device.create_buffer(&BufferDescriptor {
        label: None,
        size: array.size(),
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    self::copy(device, queue, [array, &copy]);
    copy.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("done");
    let numbers: Vec<u32> = bytemuck::pod_collect_to_vec(&copy.get_mapped_range(..).expect("mapped"));
    numbers.iter().fold(0, |sum, one| sum.wrapping_add(*one))
}
