//! What is done with arrays on devices.

use super::{analysed, program};
use crate::DeviceArray;
use crate::decisions::device_arrays::device_arrays;
use crate::items::MAIN;

/// Of each array in `main`: what writes to it, kernels with `?` where that is not known, and whether all was seen.
fn written(text: &str) -> Vec<String> {
    let files = [("main.rs", text)];
    let (program, analysis) = (program(&files), analysed(&files));
    let main = analysis.items.functions.iter().find(|one| one.name == MAIN);
    let arrays = device_arrays(&program, &analysis, main.expect("a main").id);
    arrays.iter().map(said).collect()
}

fn said(array: &DeviceArray) -> String {
    let kernels = array.kernels.iter().map(|(name, access)| {
        let name = name.as_deref().unwrap_or("a kernel");
        format!("{name} {}", access.word())
    });
    let all: Vec<String> = kernels.chain(array.commands.iter().cloned()).collect();
    let others = if array.is_followed { "" } else { " and others" };
    let bytes = array.elements.are_bytes().then_some("bytes");
    let elements = array.elements.word().or(bytes);
    let elements = elements.map_or_else(String::new, |one| format!(" ({one})"));
    format!(
        "{}{}: {}{others}{elements}",
        array.variable,
        array.part,
        all.join(", ")
    )
}

const OCL: &str = r#"
    use ocl::{Buffer, Kernel, ProQue, Queue};
    const SOURCE: &str = "__kernel void stir(__global const uint *seed, __global uint *state, uint more) {}";
    fn on_device(queue: &Queue, numbers: &[u32]) -> ocl::Result<Buffer<u32>> {
        let array = Buffer::builder().queue(queue.clone()).copy_host_slice(numbers).build()?;
        Ok(array)
    }
    fn stirring(device: &ProQue, (seed, state): (&Buffer<u32>, &Buffer<u32>)) -> ocl::Result<Kernel> {
        device.kernel_builder("stir").arg(seed).arg(state).arg(3_u32).build()
    }
"#;

#[test]
fn kernels_are_found_through_the_functions_of_the_program() {
    let text = format!(
        "{OCL} fn main() -> ocl::Result<()> {{
            let device = ProQue::builder().src(SOURCE).dims(9).build()?;
            let seed = on_device(device.queue(), &[1])?;
            let state: Buffer<u32> = device.create_buffer()?;
            let idle = device.buffer_builder().len(3).build()?;
            let arrays = (&seed, &state);
            let stir = stirring(&device, arrays)?;
            for _ in 0..9 {{ unsafe {{ stir.enq()?; }} }}
            println!(\"{{}} {{}}\", idle.len(), state.len());
            Ok(())
        }}"
    );
    // That of `on_device` is its own.
    assert_eq!(
        written(&text),
        ["array: ", "seed: stir reads", "state: stir writes", "idle: "]
    );
}

#[test]
fn commands_write_and_where_an_array_goes_elsewhere_nothing_is_known() {
    let text = format!(
        "{OCL} fn main() -> ocl::Result<()> {{
            let device = ProQue::builder().src(SOURCE).dims(9).build()?;
            let put: Buffer<u32> = device.create_buffer()?;
            let filled: Buffer<u32> = device.create_buffer()?;
            let copied: Buffer<u32> = device.create_buffer()?;
            let given: Buffer<u32> = device.create_buffer()?;
            let other: Buffer<u32> = device.create_buffer()?;
            put.write(&[1]).enq()?;
            filled.cmd().fill(1, None).enq()?;
            put.copy(&copied, None, None).enq()?;
            library::takes(&given, 1);
            let kernel = device.kernel_builder(name()).arg(&other).build()?;
            let later = device.kernel_builder(\"stir\").arg(&copied).arg(&copied).arg(1).build()?;
            later.set_arg(1, &other)?;
            Ok(())
        }}"
    );
    assert_eq!(
        written(&text),
        [
            "put: write",
            "filled: fill",
            "copied: stir writes, copy",
            "given:  and others",
            "other: a kernel not known, stir writes"
        ]
    );
}

#[test]
fn kernels_and_arrays_in_structs_are_followed() {
    let text = r#"
        use opencl3::{kernel::{ExecuteKernel, Kernel}, memory::Buffer};
        const SOURCE: &str = "kernel void turn(global double2 *cube, ulong side) {}
            kernel void pairs(global double2 *cube, global const double2 *roots) {}";
        struct Transform<'a> { queue: &'a Queue, turn: &'a Kernel, pairs: &'a Kernel, roots: &'a Buffer<f64> }
        fn transform(cube: &Transform<'_>, numbers: &Buffer<f64>) -> Result<()> {
            for stride in [1, 2, 3] {
                ExecuteKernel::new(cube.turn).set_arg(numbers).set_arg(&1).enqueue_nd_range(cube.queue)?;
                ExecuteKernel::new(cube.pairs).set_arg(numbers).set_arg(cube.roots).enqueue_nd_range(cube.queue)?;
            }
            Ok(())
        }
        fn main() -> Result<()> {
            let turn = Kernel::create(&program, "turn")?;
            let pairs = Kernel::create(&program, "pairs")?;
            let roots = unsafe { Buffer::<f64>::create(&context, 1, 2, null_mut())? };
            let mut waves: Buffer<f64> = unsafe { Buffer::create(&context, 1, 2, null_mut())? };
            let state: Buffer<f64> = unsafe { Buffer::create(&context, 1, 2, null_mut())? };
            queue.enqueue_write_buffer(&mut waves, 1, 0, &hot, &[])?;
            queue.enqueue_read_buffer(&state, 1, 0, &mut found, &[])?;
            let cube = Transform { queue: &queue, turn: &turn, pairs: &pairs, roots: &roots };
            println!("{:?}", transform(&cube, &waves)?);
            Ok(())
        }"#;
    assert_eq!(
        written(text),
        [
            "roots: pairs reads",
            "waves: pairs writes, turn writes, enqueue_write_buffer",
            "state: "
        ]
    );
}

#[test]
fn images_are_followed_as_arrays_are() {
    let text = r#"
        use ocl::{Image, Kernel, ProQue, Sampler};
        const SOURCE: &str = "__kernel void spread(read_only image2d_t from, write_only image2d_t to, sampler_t how, image3d_t table) {}";
        fn plane(device: &ProQue, texels: &[f32]) -> ocl::Result<Image<f32>> {
            let plane = Image::builder().dims((9, 9)).queue(device.queue().clone()).copy_host_slice(texels).build()?;
            Ok(plane)
        }
        fn spread(device: &ProQue, from: &Image<f32>, to: &Image<f32>, how: &Sampler, table: &Image<i32>) -> ocl::Result<Kernel> {
            device.kernel_builder("spread").arg(from).arg(to).arg_sampler(how).arg(table).build()
        }
        fn main() -> ocl::Result<()> {
            let device = ProQue::builder().src(SOURCE).dims((9, 9)).build()?;
            let how = Sampler::new(device.context(), false, AddressingMode::None, FilterMode::Nearest)?;
            let now = plane(&device, &[1.0; 81])?;
            let next = plane(&device, &[1.0; 81])?;
            let copied: Image<f32> = plane(&device, &[1.0; 81])?;
            let table = Image::<i32>::builder().dims((3, 3, 3)).queue(device.queue().clone()).build()?;
            let there = spread(&device, &now, &next, &how, &table)?;
            for step in 0..9 {
                unsafe { there.enq()?; }
                table.cmd().write(&[step; 9]).region((3, 3, 1)).enq()?;
                next.cmd().copy(&copied, [0, 0, 0]).enq()?;
                let back = spread(&device, &next, &now, &how, &table)?;
                unsafe { back.enq()?; }
            }
            Ok(())
        }"#;
    assert_eq!(
        written(text),
        [
            "plane: ",
            "now: spread writes",
            "next: spread writes",
            "copied: copy",
            "table: spread reads, write",
        ]
    );
    let text = r#"
        use opencl3::memory::Image;
        fn made(context: &Context) -> Result<Image> { unsafe { Image::create(context, 0, &FORMAT, &DESCRIBED, null_mut()) } }
        fn main() -> Result<()> {
            let mut line = made(&context)?;
            let mut lines = made(&context)?;
            let other = unsafe { Image::create(&context, 0, &FORMAT, &DESCRIBED, null_mut())? };
            for step in 0..9 {
                queue.enqueue_write_image(&mut line, CL_BLOCKING, at, size, 0, 0, from, &[])?;
                queue.enqueue_copy_image(&other, &mut lines, at, at, size, &[])?;
            }
            queue.enqueue_read_image(&lines, CL_BLOCKING, at, size, 0, 0, to, &[])?;
            Ok(())
        }"#;
    assert_eq!(
        written(text),
        [
            "line: enqueue_write_image",
            "lines: enqueue_copy_image",
            "other: "
        ]
    );
}

#[test]
fn shaders_say_what_they_do_with_what_is_bound_and_what_that_is() {
    let text = r#"
        use wgpu::{BindGroup, Buffer, Device};
        const SHADERS: &str = "
            @group(0) @binding(0) var<uniform> size: vec2<u32>;
            @group(0) @binding(1) var<storage, read> now: array<vec4<f32>>;
            @group(0) @binding(2) var<storage, read_write> next: array<vec4<f32>>;
            @compute @workgroup_size(8) fn step(@builtin(global_invocation_id) id: vec3<u32>) { next[id.x] = now[id.x + size.x]; }
            @compute @workgroup_size(8) fn look() { let a = now[0]; }";
        fn group(device: &Device, pipeline: &ComputePipeline, size: &Buffer, now: &Buffer, next: &Buffer) -> BindGroup {
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
        fn entry(binding: u32, array: &Buffer) -> wgpu::BindGroupEntry<'_> {
            let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: array, offset: 0, size: None });
            wgpu::BindGroupEntry { binding, resource }
        }
        fn main() {
            let size = device.create_buffer_init(&wgpu::util::BufferInitDescriptor { usage: BufferUsages::UNIFORM });
            let even = device.create_buffer(&wgpu::BufferDescriptor { size: 9 });
            let odd = device.create_buffer(&wgpu::BufferDescriptor { size: even.size() });
            let table: Buffer = device.create_buffer(&wgpu::BufferDescriptor { size: even.size() });
            let copy = device.create_buffer(&wgpu::BufferDescriptor { size: even.size() });
            let groups = [group(&device, &p, &size, &even, &odd), group(&device, &p, &size, &odd, &even)];
            let other = device.create_bind_group(&wgpu::BindGroupDescriptor { layout: &given, entries: &[entry(1, &table)] });
            for step in 0..9 {
                queue.write_buffer(&copy, 0, bytes);
                encoder.copy_buffer_to_buffer(&table, 0, &copy, 0, 9);
                copy.slice(..).map_async(wgpu::MapMode::Read, |_| ());
            }
        }"#;
    assert_eq!(
        written(text),
        [
            "size: step reads (u32)",
            "even: look reads, step writes (f32)",
            "odd: look reads, step writes (f32)",
            "table: look reads, step reads (f32)",
            "copy: copy_buffer_to_buffer, write_buffer (bytes)"
        ]
    );
}

#[test]
fn bindings_that_are_counted_are_known_or_those_of_any_shader() {
    let found = |entries: &str| {
        let text = format!(
            r##"
            use wgpu::{{BindGroup, Buffer, Device}};
            const SHADERS: &str = "
                @group(0) @binding(0) var<storage, read_write> now: array<u32>;
                @group(0) @binding(1) var<storage, read> table: array<u32>;
                @compute @workgroup_size(8) fn step() {{ now[0] = table[0]; }}";
            fn group(device: &Device, pipeline: &ComputePipeline, arrays: &[&Buffer]) -> BindGroup {{
                let entries: Vec<wgpu::BindGroupEntry> = {entries};
                device.create_bind_group(&wgpu::BindGroupDescriptor {{
                    layout: &pipeline.get_bind_group_layout(0), entries: &entries }})
            }}
            fn main() {{
                let now = device.create_buffer(&wgpu::BufferDescriptor {{ size: 9 }});
                let table = device.create_buffer(&wgpu::BufferDescriptor {{ size: 9 }});
                let group = group(&device, &pipeline, LIST);
            }}"##
        );
        ["&[&now, &table]", "&vec![&now, &table]"].map(|list| written(&text.replace("LIST", list)))
    };
    let entry = |number: &str| {
        format!(
            "map(|(i, b)| wgpu::BindGroupEntry {{ binding: {number}, resource: b.as_entire_binding() }}).collect()"
        )
    };
    let known = ["now: step writes (u32)", "table: step reads (u32)"].map(str::to_owned);
    let any = ["now: step writes (u32)", "table: step writes (u32)"].map(str::to_owned);
    for all in found(&format!("arrays.iter().enumerate().{}", entry("i as u32"))) {
        assert_eq!(all, known);
    }
    for all in found(&format!("arrays.iter().rev().enumerate().{}", entry("i as u32"))) {
        assert_eq!(all, any);
    }
    for all in found(&format!(
        "arrays.iter().zip(0..).{}",
        entry("b").replace("b.as", "i.as")
    )) {
        assert_eq!(all, any);
    }
}

#[test]
fn what_a_function_has_bound_is_bound_still_in_the_struct_that_it_gives() {
    let text = r#"
        use wgpu::{Buffer, Device};
        const SHADERS: &str = "
            @group(0) @binding(0) var<storage, read_write> now: array<u32>;
            @compute @workgroup_size(8) fn step() { now[0] = 1; }";
        struct Life { arrays: [Buffer; 2], frame: usize }
        impl Life {
            fn new(device: &Device) -> Life {
                let arrays = [device.create_buffer(&described()), device.create_buffer(&described())];
                let bound = |which: usize| device.create_bind_group(&wgpu::BindGroupDescriptor {
                    layout: &pipeline.get_bind_group_layout(0),
                    entries: &[wgpu::BindGroupEntry { binding: 0, resource: arrays[which].as_entire_binding() }],
                });
                let groups = [bound(0), bound(1)];
                Life { arrays, frame: 0 }
            }
        }
        fn main() { let life = Life::new(&device); }"#;
    let found = written(text);
    let of_main: Vec<&String> = found.iter().filter(|one| one.starts_with("life")).collect();
    assert_eq!(of_main.len(), 2, "{found:?}");
    assert!(of_main.iter().all(|one| one.contains("step writes")), "{found:?}");
}

#[test]
fn textures_are_followed_through_their_views_and_descriptions() {
    let text = r#"
        use wgpu::{BindGroup, Device, Texture, TextureView};
        const SHADERS: &str = "
            @group(0) @binding(0) var now: texture_2d<u32>;
            @group(0) @binding(1) var next: texture_storage_2d<r32uint, write>;
            @compute @workgroup_size(8) fn step() { var all = 0u; textureStore(next, vec2(0), textureLoad(now, vec2(0), 0)); }";
        fn texture(device: &Device) -> Texture { device.create_texture(&described()) }
        fn group(device: &Device, pipeline: &ComputePipeline, now: &Texture, next: &TextureView) -> BindGroup {
            let now = now.create_view(&Default::default());
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                layout: &pipeline.get_bind_group_layout(0),
                entries: &[
                    wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&now) },
                    wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(next) },
                ],
            })
        }
        fn main() {
            let now = device.create_texture_with_data(&queue, &described(), Default::default(), bytes);
            let next = texture(&device);
            let copy = device.create_buffer(&wgpu::BufferDescriptor { size: 9 });
            let view = next.create_view(&Default::default());
            let group = group(&device, &pipeline, &now, &view);
            for step in 0..9 {
                queue.write_texture(wgpu::TexelCopyTextureInfo { texture: &now, mip_level: 0 }, bytes, layout, now.size());
                encoder.copy_texture_to_buffer(next.as_image_copy(), wgpu::TexelCopyBufferInfo { buffer: &copy, layout }, next.size());
            }
        }"#;
    assert_eq!(
        written(text),
        [
            "now: step reads, write_texture",
            "next: step writes",
            "copy: copy_texture_to_buffer (bytes)"
        ]
    );
}

#[test]
fn arrays_in_structs_tuples_and_parameters_are_those_of_their_variables() {
    let text = format!(
        "{OCL} struct Field {{ queue: Queue, now: Buffer<u32>, next: Buffer<u32>, steps: u32 }}
        struct Pair {{ left: Field, border: Option<Buffer<u32>> }}
        impl Field {{
            fn new(queue: &Queue) -> ocl::Result<Field> {{
                let now = on_device(queue, &[1])?;
                let next = on_device(queue, &[2])?;
                Ok(Field {{ queue: queue.clone(), now, next, steps: 0 }})
            }}
            fn step(&mut self, device: &ProQue) -> ocl::Result<()> {{
                let (from, to) = (&self.now, &self.next);
                stirring(device, (from, to))?;
                Ok(())
            }}
        }}
        fn both(queue: &Queue) -> ocl::Result<(Buffer<u32>, Buffer<u32>)> {{
            Ok((on_device(queue, &[5])?, on_device(queue, &[6])?))
        }}
        fn run(mut pair: Pair, total: Buffer<u32>, device: ProQue) -> ocl::Result<()> {{
            for _ in 0..9 {{ pair.left.step(&device)?; total.write(&[1]).enq()?; }}
            Ok(())
        }}
        fn main() -> ocl::Result<()> {{
            let device = ProQue::builder().src(SOURCE).dims(9).build()?;
            let mut field = Field::new(device.queue())?;
            let (first, last) = both(device.queue())?;
            let two = both(device.queue())?;
            first.write(&[3]).enq()?;
            two.1.write(&[4]).enq()?;
            field.step(&device)?;
            let pair = Pair {{ left: Field::new(device.queue())?, border: Some(on_device(device.queue(), &[1])?) }};
            run(pair, last, device)
        }}"
    );
    let of = written(&text);
    for expected in [
        "field.now: stir reads",
        "field.next: stir writes",
        "first: write",
        "last: write",
        "total: write",
        "two.0: ",
        "two.1: write",
        "pair.left.now: stir reads",
        "pair.left.next: stir writes",
        "pair.border: ",
    ] {
        assert!(of.iter().any(|one| one == expected), "{expected}: {of:?}");
    }
    assert!(!of.iter().any(|one| one.starts_with("from")), "{of:?}");
}

#[test]
fn elements_that_are_structs_of_the_program_are_bytes() {
    let text = format!(
        "{OCL} struct Cell {{ kind: u32 }}
        struct Cells {{ array: Buffer<Cell>, other: Buffer<Float4> }}
        fn array<T: OclPrm>(queue: &Queue, elements: &[T]) -> ocl::Result<Buffer<T>> {{
            Buffer::builder().queue(queue.clone()).copy_host_slice(elements).build()
        }}
        fn of_cells(queue: &Queue) -> ocl::Result<Buffer<Cell>> {{
            Buffer::builder().queue(queue.clone()).copy_host_slice(&cells()).build()
        }}
        fn both(queue: &Queue) -> ocl::Result<Cells> {{
            let inner = array(queue, &cells())?;
            let vectors = array(queue, &vectors())?;
            Ok(Cells {{ array: inner, other: vectors }})
        }}
        fn look(one: &Buffer<Cell>, two: &Buffer<Int2>) {{ println!(\"{{}}\", one.len() + two.len()); }}
        fn main() -> ocl::Result<()> {{
            let device = ProQue::builder().src(SOURCE).dims(9).build()?;
            let queue = device.queue();
            let written: Buffer<Cell> = array(queue, &cells())?;
            let made = of_cells(queue)?;
            let named = Buffer::<Cell>::builder().queue(queue.clone()).len(3).build()?;
            let lent = array(queue, &cells())?;
            let pairs = array(queue, &pairs())?;
            let held = both(queue)?;
            look(&lent, &pairs);
            for _ in 0..9 {{ println!(\"{{}}\", held.array.len()); }}
            Ok(())
        }}"
    );
    assert_eq!(
        written(&text),
        [
            "inner:  (bytes)",
            "vectors: ",
            "written:  (bytes)",
            "made:  (bytes)",
            "named:  (bytes)",
            "lent:  (bytes)",
            "pairs: ",
            "held.array:  (bytes)",
            "held.other: "
        ]
    );
}
