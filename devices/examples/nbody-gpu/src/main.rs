//! Bodies that attract each other, on a device: two shaders in each step, which take turns at the same arrays. The layout of what
//! they are given is written out, the speeds are written while their array is mapped, and the time is written before each step.
//! The middle of all bodies moves as the pull from outside alone would have it.

use wgpu::util::DeviceExt;
use wgpu::{
    BindGroupLayout, Buffer, BufferUsages, ComputePipeline, Device, PipelineLayout, Queue, ShaderModule,
};

const LENGTH: f32 = 0.002;

fn main() {
    let bodies: usize = argument(1, 512);
    let steps: u32 = argument(2, 300);
    let begin = bodies_at_rest(bodies);
    let end = moved(&begin, steps);
    let apart = middle(&end)[0] - middle(&begin)[0] - expected(steps);
    assert!(apart.abs() < 1e-4, "the middle of all bodies is off by {apart}");
    let sum = end.iter().flatten().fold(0u64, |sum, number| {
        sum.wrapping_mul(31).wrapping_add(number.to_bits().into())
    });
    println!("bodies {bodies} steps {steps} places {sum:016x}");
}

/// Where the bodies are after so many steps, on a device.
fn moved(begin: &[[f32; 4]], steps: u32) -> Vec<[f32; 4]> {
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))
        .expect("an adapter");
    let (device, queue) =
        pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default())).expect("a device");
    let places = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: Some("places"),
        contents: bytemuck::cast_slice(begin),
        usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC,
    });
    let speeds = at_rest(&device, places.size());
    let step = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("step"),
        size: 8,
        usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let shaders = device.create_shader_module(wgpu::include_wgsl!("nbody.wgsl"));
    let given = given(&device);
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&given)],
        immediate_size: 0,
    });
    let pull = pipeline(&device, &layout, &shaders, "pull");
    let move_on = pipeline(&device, &layout, &shaders, "move_on");
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &given,
        entries: &[entry(0, &step), entry(1, &places), entry(2, &speeds)],
    });
    let groups = begin.len().div_ceil(64) as u32;
    for number in 0..steps {
        queue.write_buffer(&step, 0, bytemuck::cast_slice(&[number as f32 * LENGTH, LENGTH]));
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_bind_group(0, &group, &[]);
        for pipeline in [&pull, &move_on] {
            pass.set_pipeline(pipeline);
            pass.dispatch_workgroups(groups, 1, 1);
        }
        drop(pass);
        queue.submit([encoder.finish()]);
    }
    read(&device, &queue, &places)
}

/// Zeros, written into the array while it is mapped.
fn at_rest(device: &Device, bytes: u64) -> Buffer {
    let speeds = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("speeds"),
        size: bytes,
        usage: BufferUsages::STORAGE,
        mapped_at_creation: true,
    });
    let mut view = speeds.get_mapped_range_mut(..).expect("mapped");
    view.copy_from_slice(&vec![0; bytes as usize]);
    drop(view);
    speeds.unmap();
    speeds
}

fn given(device: &Device) -> BindGroupLayout {
    let array = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let written = wgpu::BufferBindingType::Storage { read_only: false };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[
            array(0, wgpu::BufferBindingType::Uniform),
            array(1, written),
            array(2, written),
        ],
    })
}

fn pipeline(device: &Device, layout: &PipelineLayout, module: &ShaderModule, name: &str) -> ComputePipeline {
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(name),
        layout: Some(layout),
        module,
        entry_point: Some(name),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    })
}

fn entry(binding: u32, array: &Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding,
        resource: array.as_entire_binding(),
    }
}

fn read(device: &Device, queue: &Queue, places: &Buffer) -> Vec<[f32; 4]> {
    let copy = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("copy"),
        size: places.size(),
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(places, 0, &copy, 0, places.size());
    queue.submit([encoder.finish()]);
    copy.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("done");
    let bytes = copy.get_mapped_range(..).expect("mapped");
    bytemuck::pod_collect_to_vec(&bytes)
}

/// In a ball, all of the same mass, which is one together; the same in every run.
fn bodies_at_rest(count: usize) -> Vec<[f32; 4]> {
    let mut state = 12345_u32;
    let mut number = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut bodies = Vec::new();
    while bodies.len() < count {
        let [x, y, z] = [number(), number(), number()];
        if x * x + y * y + z * z < 1.0 {
            bodies.push([x, y, z, 1.0 / count as f32]);
        }
    }
    bodies
}

fn middle(bodies: &[[f32; 4]]) -> [f32; 3] {
    [0, 1, 2].map(|axis| bodies.iter().map(|body| body[axis] * body[3]).sum())
}

/// How far the pull from outside moves what nothing else pulls at.
fn expected(steps: u32) -> f32 {
    let (mut place, mut speed) = (0.0, 0.0);
    for number in 0..steps {
        speed += LENGTH * 0.001 * (number as f32 * LENGTH).sin();
        place += LENGTH * speed;
    }
    place
}

fn argument<T: std::str::FromStr>(at: usize, usual: T) -> T {
    let given = std::env::args().nth(at);
    given.map_or(usual, |text| text.parse().ok().expect("a number"))
}
