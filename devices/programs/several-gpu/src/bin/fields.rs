//! Arrays in fields of a struct that change places, with the groups that were made from them, which do as well.

#[path = "../common.rs"]
mod common;

use wgpu::{BindGroup, Buffer, BufferDescriptor, BufferUsages, ComputePipeline, Device, Queue};

struct Gpu {
    device: Device,
    queue: Queue,
}

struct Simulation {
    gpu: Gpu,
    pipeline: ComputePipeline,
    now: Buffer,
    next: Buffer,
    of_now: BindGroup,
    of_next: BindGroup,
}

impl Simulation {
    fn new() -> Simulation {
        let (device, queue) = common::open();
        let pipeline = common::pipeline(&device);
        let [now, next] = [array(&device), array(&device)];
        let (of_now, of_next) = (
            common::group(&device, &pipeline, &now),
            common::group(&device, &pipeline, &next),
        );
        Simulation {
            gpu: Gpu { device, queue },
            pipeline,
            now,
            next,
            of_now,
            of_next,
        }
    }

    fn step(&mut self) {
        common::start(&self.gpu.device, &self.gpu.queue, &self.pipeline, &self.of_now);
        std::mem::swap(&mut self.now, &mut self.next);
        std::mem::swap(&mut self.of_now, &mut self.of_next);
    }
}

fn array(device: &Device) -> Buffer {
    device.create_buffer(&BufferDescriptor {
        label: None,
        size: 4096,
        usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

fn main() {
    let mut simulation = Simulation::new();
    for step in 0..15 {
        simulation.step();
        if step % 4 == 1 {
            std::mem::swap(&mut simulation.of_now, &mut simulation.of_next);
        }
    }
    let Simulation { gpu, now, next, .. } = &simulation;
    let sums = [now, next].map(|array| common::sum(&gpu.device, &gpu.queue, array));
    println!("{sums:x?}");
}
