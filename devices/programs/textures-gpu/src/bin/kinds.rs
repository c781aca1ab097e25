//! Textures of one and three dimensions, and one with three layers of two levels each; in a variable, a list and a struct.

#[path = "../common.rs"]
mod common;

use common::{open, pipeline, start, sum, texels};
use wgpu::{
    BindGroup, ComputePipeline, Device, Extent3d, Origin3d, Texture, TextureAspect, TextureDimension,
    TextureFormat, TextureUsages, TextureView, TextureViewDescriptor,
};

const LINES: &str = "
    @group(0) @binding(0) var line: texture_storage_1d<r32float, read_write>;
    @group(0) @binding(1) var volume: texture_storage_3d<r32sint, read_write>;

    @compute @workgroup_size(1)
    fn mixed(@builtin(global_invocation_id) id: vec3<u32>) {
        let at = vec3<i32>(id);
        let was = textureLoad(volume, at).r;
        textureStore(volume, at, vec4<i32>(was * 1103515245 + 12345 + at.x + 9 * at.y - 45 * at.z, 0, 0, 0));
        if (at.y == 0 && at.z == 0) {
            let left = textureLoad(line, at.x).r;
            textureStore(line, at.x, vec4<f32>(fract(left * 1.7 + f32(at.x) * 0.01), 0.0, 0.0, 0.0));
        }
    }";

const PAGES: &str = "
    @group(0) @binding(0) var source: texture_2d_array<f32>;
    @group(0) @binding(1) var drawn: texture_storage_2d_array<rgba8unorm, write>;

    @compute @workgroup_size(1)
    fn levelled(@builtin(global_invocation_id) id: vec3<u32>) {
        let size = textureDimensions(source);
        let at = (id.xy * 7u + id.z) % size;
        let texel = textureLoad(source, vec2<i32>(at), i32(id.z), 0);
        textureStore(drawn, vec2<i32>(id.xy), i32(id.z), fract(texel.yzwx * 1.5 + 0.07 * f32(id.x + id.y)));
    }";

struct Pages {
    all: Texture,
    steps: u32,
}

impl Pages {
    fn new(device: &Device) -> Pages {
        Pages {
            all: texture(
                device,
                TextureDimension::D2,
                TextureFormat::Rgba8Unorm,
                (10, 6, 3),
                2,
            ),
            steps: 0,
        }
    }

    fn level(&self, level: u32) -> TextureView {
        self.all.create_view(&TextureViewDescriptor {
            dimension: Some(wgpu::TextureViewDimension::D2Array),
            base_mip_level: level,
            mip_level_count: Some(1),
            ..Default::default()
        })
    }
}

fn main() {
    let (device, queue) = open();
    let line = texture(
        &device,
        TextureDimension::D1,
        TextureFormat::R32Float,
        (33, 1, 1),
        1,
    );
    let volumes: Vec<Texture> = (0..2).map(|_| volume(&device)).collect();
    let mut pages = Pages::new(&device);
    let mixed = pipeline(&device, LINES, "mixed");
    let levelled = pipeline(&device, PAGES, "levelled");
    let whole = |texture: &Texture| texture.create_view(&Default::default());
    for step in 0..16_u32 {
        let volume = &volumes[step as usize % 3 % 2];
        let both = group(&device, &mixed, &[whole(&line), whole(volume)]);
        start(&device, &queue, &mixed, &both, (33, 5, 7));
        queue.write_texture(
            wgpu::TexelCopyTextureInfo {
                texture: &pages.all,
                mip_level: 0,
                origin: Origin3d {
                    x: step % 10,
                    y: 3,
                    z: 1,
                },
                aspect: TextureAspect::All,
            },
            &[step as u8, 200, 3, 40],
            wgpu::TexelCopyBufferLayout::default(),
            Extent3d {
                width: 1,
                height: 1,
                depth_or_array_layers: 1,
            },
        );
        let down = group(&device, &levelled, &[pages.level(0), pages.level(1)]);
        start(&device, &queue, &levelled, &down, (5, 3, 3));
        let up = group(&device, &levelled, &[pages.level(1), pages.level(0)]);
        start(&device, &queue, &levelled, &up, (10, 6, 3));
        pages.steps += step;
    }
    let all = [
        (&line, 0),
        (&volumes[0], 0),
        (&volumes[1], 0),
        (&pages.all, 0),
        (&pages.all, 1),
    ];
    for (texture, level) in all {
        println!("sum {:016x}", sum(&texels(&device, &queue, texture, level)));
    }
    println!("steps {}", pages.steps);
}

fn volume(device: &Device) -> Texture {
    texture(
        device,
        TextureDimension::D3,
        TextureFormat::R32Sint,
        (33, 5, 7),
        1,
    )
}

fn texture(
    device: &Device,
    dimension: TextureDimension,
    format: TextureFormat,
    size: (u32, u32, u32),
    levels: u32,
) -> Texture {
    let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::STORAGE_BINDING | TextureUsages::COPY_SRC;
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: Extent3d {
            width: size.0,
            height: size.1,
            depth_or_array_layers: size.2,
        },
        mip_level_count: levels,
        sample_count: 1,
        dimension,
        format,
        usage: usage | TextureUsages::COPY_DST,
        view_formats: &[],
    })
}

fn group(device: &Device, pipeline: &ComputePipeline, views: &[TextureView; 2]) -> BindGroup {
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
