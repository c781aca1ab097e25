//! What only a bind group has any more when a checkpoint is due: the argument says what that is. Each array of random numbers
//! goes on from the last one.

use wgpu::util::DeviceExt;
use wgpu::{
    BindGroup, BindGroupEntry, BindingResource, Buffer, BufferUsages, ComputePipeline, Device, Queue,
};

const CELLS: u32 = 256;

const SHADER: &str = "
@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
@group(0) @binding(1) var<storage, read_write> seeds: array<u32>;
@group(0) @binding(2) var picture: texture_storage_2d<r32uint, write>;
@group(0) @binding(3) var<storage, read> factor: u32;
@compute @workgroup_size(64)
fn step(@builtin(global_invocation_id) at: vec3<u32>) {
    seeds[at.x] = seeds[at.x] * factor + 1u;
    sums[at.x] += seeds[at.x] >> 8u;
    textureStore(picture, vec2(at.x % 16u, at.x / 16u), vec4(sums[at.x]));
}
";

struct All {
    sums: Buffer,
    seeds: Buffer,
    picture: wgpu::Texture,
    factor: Buffer,
}

impl All {
    fn new(device: &Device) -> All {
        let picture = device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d {
                width: 16,
                height: 16,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::R32Uint,
            usage: wgpu::TextureUsages::STORAGE_BINDING,
            view_formats: &[],
        });
        All {
            sums: numbers(device, &[0; CELLS as usize], BufferUsages::STORAGE),
            seeds: numbers(device, &[7; CELLS as usize], BufferUsages::STORAGE),
            picture,
            factor: numbers(device, &[1_664_525], BufferUsages::STORAGE),
        }
    }

    fn group(&self, device: &Device, pipeline: &ComputePipeline) -> BindGroup {
        let view = self.picture.create_view(&Default::default());
        let resources = [
            self.sums.as_entire_binding(),
            self.seeds.as_entire_binding(),
            BindingResource::TextureView(&view),
            self.factor.as_entire_binding(),
        ];
        let entries: Vec<BindGroupEntry<'_>> = { (0..).zip(resources) }
            .map(|(binding, resource)| BindGroupEntry { binding, resource })
            .collect();
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        })
    }
}

/// The parameters alone.
struct Walk {
    sums: Buffer,
    seeds: Buffer,
    picture: wgpu::Texture,
    group: BindGroup,
}

/// The random numbers too.
struct Unseeded {
    sums: Buffer,
    picture: wgpu::Texture,
    group: BindGroup,
}

/// The texture too.
struct Unseen {
    sums: Buffer,
    seeds: Buffer,
    group: BindGroup,
}

impl Walk {
    fn new(device: &Device, pipeline: &ComputePipeline) -> Walk {
        let all = All::new(device);
        let group = all.group(device, pipeline);
        Walk {
            sums: all.sums,
            seeds: all.seeds,
            picture: all.picture,
            group,
        }
    }
}

impl Unseeded {
    fn new(device: &Device, pipeline: &ComputePipeline) -> Unseeded {
        let all = All::new(device);
        let group = all.group(device, pipeline);
        Unseeded {
            sums: all.sums,
            picture: all.picture,
            group,
        }
    }
}

impl Unseen {
    fn new(device: &Device, pipeline: &ComputePipeline) -> Unseen {
        let all = All::new(device);
        let group = all.group(device, pipeline);
        Unseen {
            sums: all.sums,
            seeds: all.seeds,
            group,
        }
    }
}

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    let (device, queue) = open();
    let pipeline = pipeline(&device);
    match what.as_str() {
        "random" => without_random_numbers(&device, &queue, &pipeline),
        "texture" => without_texture(&device, &queue, &pipeline),
        "given-back" => {
            // What no group has any more is nothing that a checkpoint needs.
            let all = All::new(&device);
            start(&device, &queue, &pipeline, &all.group(&device, &pipeline));
            println!("before: {}", sum(&device, &queue, &all.sums));
            drop(all);
            without_parameters(&device, &queue, &pipeline);
        }
        _ => without_parameters(&device, &queue, &pipeline),
    }
}

fn without_parameters(device: &Device, queue: &Queue, pipeline: &ComputePipeline) {
    let walk = Walk::new(device, pipeline);
    for _ in 0..20 {
        start(device, queue, pipeline, &walk.group);
    }
    let seeds = sum(device, queue, &walk.seeds);
    println!(
        "{} {seeds} {}",
        sum(device, queue, &walk.sums),
        walk.picture.width()
    );
}

fn without_random_numbers(device: &Device, queue: &Queue, pipeline: &ComputePipeline) {
    let walk = Unseeded::new(device, pipeline);
    for _ in 0..20 {
        start(device, queue, pipeline, &walk.group);
    }
    println!("{} {}", sum(device, queue, &walk.sums), walk.picture.width());
}

fn without_texture(device: &Device, queue: &Queue, pipeline: &ComputePipeline) {
    let walk = Unseen::new(device, pipeline);
    for _ in 0..20 {
        start(device, queue, pipeline, &walk.group);
    }
    let seeds = sum(device, queue, &walk.seeds);
    println!("{} {seeds}", sum(device, queue, &walk.sums));
}

fn open() -> (Device, Queue) {
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
    pollster::block_on(adapter.request_device(&Default::default())).expect("a device")
}

fn pipeline(device: &Device) -> ComputePipeline {
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

fn numbers(device: &Device, numbers: &[u32], usage: BufferUsages) -> Buffer {
    device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: None,
        contents: bytemuck::cast_slice(numbers),
        usage: usage | BufferUsages::COPY_SRC,
    })
}

fn start(device: &Device, queue: &Queue, pipeline: &ComputePipeline, group: &BindGroup) {
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, group, &[]);
    pass.dispatch_workgroups(CELLS / 64, 1, 1);
    drop(pass);
    queue.submit([encoder.finish()]);
}

fn sum(device: &Device, queue: &Queue, array: &Buffer) -> u32 {
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
    let numbers: Vec<u32> = bytemuck::pod_collect_to_vec(&copy.get_mapped_range(..).expect("mapped"));
    numbers.iter().fold(0, |sum, one| sum.wrapping_add(*one))
}
