//! Conway's game of life on a torus, in two textures: a generation is read from one and written to the other, in turn. The
//! processor plays the last one, too, and both have to agree.

#[path = "../common.rs"]
mod common;

use common::{open, pipeline, start, sum, texels};
use wgpu::util::DeviceExt;
use wgpu::{BindGroup, ComputePipeline, Device, Texture, TextureUsages};

const SHADER: &str = "
    @group(0) @binding(0) var now: texture_2d<u32>;
    @group(0) @binding(1) var next: texture_storage_2d<r32uint, write>;

    fn cell(at: vec2<i32>) -> u32 {
        let size = vec2<i32>(textureDimensions(now));
        return textureLoad(now, (at + size) % size, 0).r;
    }

    @compute @workgroup_size(8, 8)
    fn generation(@builtin(global_invocation_id) id: vec3<u32>) {
        let at = vec2<i32>(id.xy);
        if (any(at >= vec2<i32>(textureDimensions(now)))) { return; }
        var all = 0u;
        for (var y = -1; y <= 1; y++) {
            for (var x = -1; x <= 1; x++) { all += cell(at + vec2<i32>(x, y)); }
        }
        let is = all == 3u || (all == 4u && cell(at) == 1u);
        textureStore(next, at, vec4<u32>(u32(is), 0u, 0u, 0u));
    }";

/// A row has 280 bytes, and is copied by 512.
const WIDTH: u32 = 70;
const HEIGHT: u32 = 38;

fn main() {
    let generations: u32 = argument(1, 30);
    let (device, queue) = open();
    let even = device.create_texture_with_data(
        &queue,
        &described(TextureUsages::TEXTURE_BINDING | TextureUsages::STORAGE_BINDING),
        Default::default(),
        bytemuck::cast_slice(&cells()),
    );
    let odd = texture(&device);
    let pipeline = pipeline(&device, SHADER, "generation");
    let groups = [
        group(&device, &pipeline, &even, &odd),
        group(&device, &pipeline, &odd, &even),
    ];
    let size = (WIDTH.div_ceil(8), HEIGHT.div_ceil(8), 1);
    for generation in 0..generations {
        start(&device, &queue, &pipeline, &groups[generation as usize % 2], size);
    }
    let [even, odd] = [&even, &odd].map(|one| texels(&device, &queue, one, 0));
    let (before, found) = match generations.is_multiple_of(2) {
        true => (odd, even),
        false => (even, odd),
    };
    let expected = next_of(bytemuck::cast_slice(&before), WIDTH as usize, HEIGHT as usize);
    assert!(
        bytemuck::cast_slice::<u8, u32>(&found) == expected,
        "the device and the processor do not agree"
    );
    let alive: u32 = expected.iter().sum();
    println!("alive {alive} sum {:016x}", sum(&found));
}

fn described(usage: TextureUsages) -> wgpu::TextureDescriptor<'static> {
    wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d {
            width: WIDTH,
            height: HEIGHT,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::R32Uint,
        usage: usage | TextureUsages::COPY_SRC,
        view_formats: &[],
    }
}

fn texture(device: &Device) -> Texture {
    device.create_texture(&described(
        TextureUsages::TEXTURE_BINDING | TextureUsages::STORAGE_BINDING,
    ))
}

/// What a generation is read from, and what it is written to.
fn group(device: &Device, pipeline: &ComputePipeline, now: &Texture, next: &Texture) -> BindGroup {
    let now = now.create_view(&Default::default());
    let next = next.create_view(&Default::default());
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry {
                binding: 0,
                resource: wgpu::BindingResource::TextureView(&now),
            },
            wgpu::BindGroupEntry {
                binding: 1,
                resource: wgpu::BindingResource::TextureView(&next),
            },
        ],
    })
}

/// A third of the cells live, the same in every run.
fn cells() -> Vec<u32> {
    let mut state = 12345_u32;
    let mut cell = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u32::from((state >> 16).is_multiple_of(3))
    };
    (0..WIDTH * HEIGHT).map(|_| cell()).collect()
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
