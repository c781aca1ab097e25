//! A simulation that gives its arrays their first content by commands of its own when it is made.

#[path = "../common.rs"]
mod common;

use wgpu::{BindGroup, Buffer, BufferDescriptor, BufferUsages, ComputePipeline, Device, Queue};

const LENGTH: u32 = 1024;

struct Simulation {
    device: Device,
    queue: Queue,
    pipeline: ComputePipeline,
    groups: [BindGroup; 2],
    now: Buffer,
    before: Buffer,
    steps: u32,
}

impl Simulation {
    fn new() -> Self {
        let (device, queue) = common::open();
        let description = BufferDescriptor {
            label: None,
            size: 4 * u64::from(LENGTH),
            usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        };
        let (now, before) = (
            device.create_buffer(&description),
            device.create_buffer(&description),
        );
        let start: Vec<u32> = (0..LENGTH).map(|at| at * 3).collect();
        queue.write_buffer(&now, 0, bytemuck::cast_slice(&start));
        give(&queue, &before, &vec![7; LENGTH as usize]);
        let pipeline = common::pipeline(&device);
        Simulation {
            groups: [&now, &before].map(|array| common::group(&device, &pipeline, array)),
            device,
            queue,
            pipeline,
            now,
            before,
            steps: 0,
        }
    }

    fn step(&mut self) {
        let group = match self.steps % 3 {
            0 => &self.groups[1],
            _ => &self.groups[0],
        };
        common::start(&self.device, &self.queue, &self.pipeline, group);
        self.steps += 1;
    }
}

fn give(queue: &Queue, array: &Buffer, numbers: &[u32]) {
    queue.write_buffer(array, 0, bytemuck::cast_slice(numbers));
}

fn main() {
    let mut simulation = Simulation::new();
    for _ in 0..12 {
        simulation.step();
    }
    let Simulation { device, queue, .. } = &simulation;
    let sums = [&simulation.now, &simulation.before].map(|array| common::sum(device, queue, array));
    println!("{} steps, {sums:x?}", simulation.steps);
}
