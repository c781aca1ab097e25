//! Kernels are made from what changes later: through a program for the device that nothing uses any more, or from one of two
//! numbers that change places.

use ocl::{Buffer, Context, Device, Kernel, Platform, Program, Queue};

const COUNT: usize = 1000;

struct Opened {
    context: Context,
    device: Device,
    queue: Queue,
}

fn main() -> ocl::Result<()> {
    let platform = Platform::first()?;
    let device = Device::first(platform)?;
    let context = Context::builder().platform(platform).devices(device).build()?;
    let queue = Queue::new(&context, device, None)?;
    let opened = Opened {
        context,
        device,
        queue,
    };
    match std::env::args().nth(1).as_deref() {
        Some("exchanged") => exchanged(&opened),
        _ => cooled(&opened),
    }
}

fn program_of(opened: &Opened, weight: f32) -> ocl::Result<Program> {
    let source = "__kernel void step(__global float *now, float more) { now[get_global_id(0)] = now[get_global_id(0)] * WEIGHT + more; }";
    Program::builder()
        .src(source.replace("WEIGHT", &format!("{weight:?}f")))
        .devices(opened.device)
        .build(&opened.context)
}

fn kernel_of(opened: &Opened, program: &Program, now: &Buffer<f32>, more: f32) -> ocl::Result<Kernel> {
    Kernel::builder()
        .program(program)
        .name("step")
        .queue(opened.queue.clone())
        .global_work_size(COUNT)
        .arg(now)
        .arg(more)
        .build()
}

fn array_of(opened: &Opened) -> ocl::Result<Buffer<f32>> {
    Buffer::builder().queue(opened.queue.clone()).len(COUNT).build()
}

fn cooled(opened: &Opened) -> ocl::Result<()> {
    let mut weight = 0.5;
    let now = array_of(opened)?;
    let program = program_of(opened, weight)?;
    let kernel = kernel_of(opened, &program, &now, 1.0)?;
    for _ in 0..20 {
        // SAFETY: the kernel stays in the array.
        unsafe { kernel.enq()? };
        weight *= 0.5;
    }
    let mut found = vec![0.0; COUNT];
    now.read(&mut found).enq()?;
    println!("{} {weight}", found[7]);
    Ok(())
}

fn exchanged(opened: &Opened) -> ocl::Result<()> {
    let (mut more, mut less) = (1.0, 0.25);
    let now = array_of(opened)?;
    let program = program_of(opened, 0.5)?;
    let kernel = kernel_of(opened, &program, &now, more)?;
    for step in 0..20 {
        // SAFETY: the kernel stays in the array.
        unsafe { kernel.enq()? };
        if step % 10 == 9 {
            std::mem::swap(&mut more, &mut less);
        }
    }
    let mut found = vec![0.0; COUNT];
    now.read(&mut found).enq()?;
    println!("{} {more} {less}", found[7]);
    Ok(())
}
