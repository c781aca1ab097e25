//! Two textures change places after each step; two groups of both were made before.

#[path = "../common.rs"]
mod common;

use common::{open, pipeline, start, sum, texels};
use wgpu::{BindGroup, ComputePipeline, Device, Texture, TextureUsages};

const SHADER: &str = "
    @group(0) @binding(0) var before: texture_2d<f32>;
    @group(0) @binding(1) var behind: texture_storage_2d<rgba16float, write>;

    @compute @workgroup_size(4, 4)
    fn step(@builtin(global_invocation_id) id: vec3<u32>) {
        let at = vec2<i32>(id.xy);
        let left = textureLoad(before, (at + vec2<i32>(19, 1)) % 20, 0);
        textureStore(behind, at, fract(left.yzwx * 1.25 + 0.125 * f32(id.x % 5u)));
    }";

fn main() {
    let (device, queue) = open();
    let mut now = texture(&device);
    let mut next = texture(&device);
    let pipeline = pipeline(&device, SHADER, "step");
    let groups = [
        group(&device, &pipeline, &now, &next),
        group(&device, &pipeline, &next, &now),
    ];
    for step in 0..24 {
        start(&device, &queue, &pipeline, &groups[step % 2], (5, 5, 1));
        std::mem::swap(&mut now, &mut next);
    }
    for texture in [&now, &next] {
        println!("sum {:016x}", sum(&texels(&device, &queue, texture, 0)));
    }
}

fn texture(device: &Device) -> Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d {
            width: 20,
            height: 20,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba16Float,
        usage: TextureUsages::TEXTURE_BINDING | TextureUsages::STORAGE_BINDING | TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

fn group(device: &Device, pipeline: &ComputePipeline, before: &Texture, behind: &Texture) -> BindGroup {
    let views = [before, behind].map(|one| one.create_view(&Default::default()));
    let entries = [0, 1].map(|binding| wgpu::BindGroupEntry {
        binding,
        resource: wgpu::BindingResource::TextureView(&views[binding as usize]),
    });
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    })
}
