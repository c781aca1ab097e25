//! A function of the program has two fields change places that it is lent: nobody follows which has which array.

use wgpu::{BindGroup, Buffer, BufferUsages, ComputePipeline, Device, Queue};

const SHADER: &str = "
    @group(0) @binding(0) var<storage, read> before: array<u32>;
    @group(0) @binding(1) var<storage, read_write> behind: array<u32>;

    @compute @workgroup_size(64)
    fn step(@builtin(global_invocation_id) id: vec3<u32>) {
        let at = id.x;
        behind[at] = before[at] * 1664525u + (behind[at] >> 3) + at;
    }";

const COUNT: usize = 1024;

struct Simulation {
    device: Device,
    queue: Queue,
    pipeline: ComputePipeline,
    now: Buffer,
    next: Buffer,
    steps: u32,
}

impl Simulation {
    fn new() -> Self {
        let instance = wgpu::Instance::default();
        let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
        let (device, queue) =
            pollster::block_on(adapter.request_device(&Default::default())).expect("a device");
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let now = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("now"),
            size: 4 * COUNT as u64,
            usage,
            mapped_at_creation: false,
        });
        let next = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("next"),
            size: 4 * COUNT as u64,
            usage,
            mapped_at_creation: false,
        });
        let start: Vec<u32> = (0..COUNT as u32).map(|at| at * 3).collect();
        queue.write_buffer(&now, 0, bytemuck::cast_slice(&start));
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("step"),
            compilation_options: Default::default(),
            cache: None,
        });
        Simulation {
            device,
            queue,
            pipeline,
            now,
            next,
            steps: 0,
        }
    }

    fn group(&self) -> BindGroup {
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: self.now.as_entire_binding(),
                },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: self.next.as_entire_binding(),
                },
            ],
        })
    }

    fn step(&mut self) {
        let group = self.group();
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(COUNT as u32 / 64, 1, 1);
        }
        self.queue.submit([encoder.finish()]);
        turn(&mut self.now, &mut self.next);
        self.steps += 1;
    }

    fn sum(&self) -> u32 {
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 4 * COUNT as u64,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&self.now, 0, &copy, 0, self.now.size());
        self.queue.submit([encoder.finish()]);
        copy.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("mapped"));
        self.device
            .poll(wgpu::PollType::wait_indefinitely())
            .expect("done");
        let bytes = copy.get_mapped_range(..).expect("mapped");
        let numbers: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
        numbers
            .iter()
            .fold(7, |sum, one| sum.wrapping_mul(31).wrapping_add(*one))
    }
}

fn turn(now: &mut Buffer, next: &mut Buffer) {
    std::mem::swap(now, next);
}

fn main() {
    let mut simulation = Simulation::new();
    for _ in 0..40 {
        simulation.step();
    }
    println!("{} steps, sum {:08x}", simulation.steps, simulation.sum());
}
