//! Textures that no device copies there and back: the argument says which one the program has at its site.

use wgpu::{Device, Extent3d, Queue, Texture, TextureDimension, TextureFormat, TextureUsages};

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    let (device, queue) = open();
    let kept = texture(&device, &what);
    let last = texture(&device, "usual");
    for step in 0..20_u8 {
        queue.write_texture(
            last.as_image_copy(),
            &[step, 1, 2, 3],
            wgpu::TexelCopyBufferLayout::default(),
            Extent3d {
                width: 1,
                height: 1,
                depth_or_array_layers: 1,
            },
        );
    }
    println!("{:?} {}", kept.size(), last.width());
}

fn open() -> (Device, Queue) {
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("an adapter");
    pollster::block_on(adapter.request_device(&Default::default())).expect("a device")
}

fn texture(device: &Device, what: &str) -> Texture {
    let is = |name: &str| what == name;
    let usage = TextureUsages::COPY_DST | TextureUsages::RENDER_ATTACHMENT;
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: Extent3d {
            width: 16,
            height: 16,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: if is("samples") { 4 } else { 1 },
        dimension: TextureDimension::D2,
        format: if is("depth") {
            TextureFormat::Depth32Float
        } else {
            TextureFormat::Rgba8Unorm
        },
        usage: if is("depth") {
            TextureUsages::RENDER_ATTACHMENT
        } else {
            usage
        },
        view_formats: &[],
    })
}
