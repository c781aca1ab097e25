//! Conway's game of life on a torus, on a device: a generation is read from one array and written to the other, in turn.
//! The processor plays the last one, too, and both have to agree.

use wgpu::util::DeviceExt;
use wgpu::{BindGroup, Buffer, BufferUsages, ComputePipeline, Device, Queue};

fn main() {
    let width: u32 = argument(1, 256);
    let generations: u32 = argument(2, 200);
    let height = width / 2 + 3;
    let (before, found) = played(&cells(width, height), width, height, generations);
    let expected = next_of(&before, width as usize, height as usize);
    assert!(found == expected, "the device and the processor do not agree");
    let sum = found
        .iter()
        .fold(0u64, |sum, &cell| sum.wrapping_mul(31).wrapping_add(cell.into()));
    let alive: u32 = found.iter().sum();
    println!("alive {alive} checksum {sum:016x}");
}

/// The cells of the last two of so many generations, on a device.
fn played(begin: &[u32], width: u32, height: u32, generations: u32) -> (Vec<u32>, Vec<u32>) {
    let (device, queue) = open();
    let size = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: Some("size"),
        contents: bytemuck::cast_slice(&[width, height]),
        usage: BufferUsages::UNIFORM,
    });
    let even = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: Some("even"),
        contents: bytemuck::cast_slice(begin),
        usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC,
    });
    let odd = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("odd"),
        size: even.size(),
        usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    let pipeline = pipeline(&device);
    let groups = [
        group(&device, &pipeline, &size, &even, &odd),
        group(&device, &pipeline, &size, &odd, &even),
    ];
    for generation in 0..generations {
        let mut encoder = device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &groups[generation as usize % 2], &[]);
            pass.dispatch_workgroups(width.div_ceil(8), height.div_ceil(8), 1);
        }
        queue.submit([encoder.finish()]);
    }
    let (even, odd) = (read(&device, &queue, &even), read(&device, &queue, &odd));
    if generations.is_multiple_of(2) {
        (odd, even)
    } else {
        (even, odd)
    }
}

fn open() -> (Device, Queue) {
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
    pollster::block_on(adapter.request_device(&Default::default())).expect("a device")
}

fn pipeline(device: &Device) -> ComputePipeline {
    let module = device.create_shader_module(wgpu::include_wgsl!("life.wgsl"));
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("generation"),
        compilation_options: Default::default(),
        cache: None,
    })
}

/// What a generation is read from, and what it is written to.
fn group(
    device: &Device,
    pipeline: &ComputePipeline,
    size: &Buffer,
    now: &Buffer,
    next: &Buffer,
) -> BindGroup {
    let entries = [size, now, next];
    let entries = [0, 1, 2].map(|binding| wgpu::BindGroupEntry {
        binding,
        resource: entries[binding as usize].as_entire_binding(),
    });
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    })
}

fn read(device: &Device, queue: &Queue, cells: &Buffer) -> Vec<u32> {
    let copy = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("copy"),
        size: cells.size(),
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(cells, 0, &copy, 0, cells.size());
    queue.submit([encoder.finish()]);
    copy.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("done");
    let bytes = copy.get_mapped_range(..).expect("mapped");
    bytemuck::pod_collect_to_vec(&bytes)
}

/// A third of the cells live, the same in every run.
fn cells(width: u32, height: u32) -> Vec<u32> {
    let mut state = 12345_u32;
    let mut cell = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u32::from((state >> 16).is_multiple_of(3))
    };
    (0..width * height).map(|_| cell()).collect()
}

fn next_of(now: &[u32], width: usize, height: usize) -> Vec<u32> {
    let cell = |x: usize, y: usize| now[y % height * width + x % width];
    let next = |at: usize| {
        let (x, y) = (at % width + width, at / width + height);
        let rows = [y - 1, y, y + 1];
        let all: u32 = rows
            .iter()
            .map(|&y| cell(x - 1, y) + cell(x, y) + cell(x + 1, y))
            .sum();
        let is = cell(x, y);
        u32::from(all == 3 || all == 4 && is == 1)
    };
    (0..now.len()).map(next).collect()
}

fn argument(at: usize, usual: u32) -> u32 {
    std::env::args()
        .nth(at)
        .map_or(usual, |text| text.parse().expect("a number"))
}
