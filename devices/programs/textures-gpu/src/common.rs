//! What the programs have in common: a device, a pipeline, one dispatch, and the bytes of a texture.

use wgpu::{BindGroup, ComputePipeline, Device, Queue, Texture};

pub fn open() -> (Device, Queue) {
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
    pollster::block_on(adapter.request_device(&Default::default())).expect("a device")
}

pub fn pipeline(device: &Device, text: &str, entry: &str) -> ComputePipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(text.into()),
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some(entry),
        compilation_options: Default::default(),
        cache: None,
    })
}

pub fn start(
    device: &Device,
    queue: &Queue,
    pipeline: &ComputePipeline,
    group: &BindGroup,
    size: (u32, u32, u32),
) {
    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(size.0, size.1, size.2);
    }
    queue.submit([encoder.finish()]);
}

/// The texels of a level of a texture, row by row, without what is between the rows.
pub fn texels(device: &Device, queue: &Queue, texture: &Texture, level: u32) -> Vec<u8> {
    let size = texture.size().mip_level_size(level, texture.dimension());
    let texel = texture
        .format()
        .block_copy_size(None)
        .expect("texels of one size");
    let row = (size.width * texel).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let copy = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(row * size.height * size.depth_or_array_layers),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_texture_to_buffer(
        wgpu::TexelCopyTextureInfo {
            texture,
            mip_level: level,
            origin: wgpu::Origin3d::ZERO,
            aspect: wgpu::TextureAspect::All,
        },
        wgpu::TexelCopyBufferInfo {
            buffer: &copy,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row),
                rows_per_image: Some(size.height),
            },
        },
        size,
    );
    queue.submit([encoder.finish()]);
    copy.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("done");
    let bytes = copy.get_mapped_range(..).expect("mapped");
    { bytes.chunks(row as usize) }
        .flat_map(|bytes| bytes[..(size.width * texel) as usize].to_vec())
        .collect()
}

pub fn sum(bytes: &[u8]) -> u64 {
    let next = |sum: u64, byte: &u8| sum.wrapping_mul(31).wrapping_add((*byte).into());
    bytes.iter().fold(7, next)
}
