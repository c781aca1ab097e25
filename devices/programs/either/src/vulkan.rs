//! The ring on a device of Vulkan.

use wgpu::util::DeviceExt;
use wgpu::{Buffer, BufferUsages, ComputePipeline, Device, Queue};

use crate::COUNT;

pub struct OnVulkan {
    device: Device,
    queue: Queue,
    pipeline: ComputePipeline,
    even: Buffer,
    odd: Buffer,
}

impl OnVulkan {
    pub fn new(begin: &[f32]) -> OnVulkan {
        let (device, queue) = open();
        let pipeline = pipeline(&device);
        let even = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("even"),
            contents: bytemuck::cast_slice(begin),
            usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC,
        });
        let odd = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("odd"),
            contents: bytemuck::cast_slice(begin),
            usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC,
        });
        OnVulkan {
            device,
            queue,
            pipeline,
            even,
            odd,
        }
    }

    pub fn step(&self, steps: u32) {
        let (now, next) = match steps % 2 {
            0 => (&self.even, &self.odd),
            _ => (&self.odd, &self.even),
        };
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: now.as_entire_binding(),
                },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: next.as_entire_binding(),
                },
            ],
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(COUNT as u32 / 60, 1, 1);
        }
        self.queue.submit([encoder.finish()]);
    }

    pub fn numbers(&self, steps: u32) -> Vec<f32> {
        let array = match steps % 2 {
            0 => &self.even,
            _ => &self.odd,
        };
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("copy"),
            size: array.size(),
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(array, 0, &copy, 0, array.size());
        self.queue.submit([encoder.finish()]);
        copy.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("mapped"));
        self.device
            .poll(wgpu::PollType::wait_indefinitely())
            .expect("done");
        let bytes = copy.get_mapped_range(..).expect("mapped");
        bytemuck::pod_collect_to_vec(&bytes)
    }
}

fn open() -> (Device, Queue) {
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
    pollster::block_on(adapter.request_device(&Default::default())).expect("a device")
}

fn pipeline(device: &Device) -> ComputePipeline {
    let module = device.create_shader_module(wgpu::include_wgsl!("next.wgsl"));
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("compute"),
        compilation_options: Default::default(),
        cache: None,
    })
}
