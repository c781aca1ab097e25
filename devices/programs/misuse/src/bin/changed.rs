//! A program for a device is made from settings that change later: made again it would be another one.

use ocl::{Buffer, ProQue};

const COUNT: usize = 1000;

struct Settings {
    weight: f32,
    steps: u32,
}

fn open(settings: &Settings) -> ocl::Result<ProQue> {
    let source = "__kernel void step(__global float *now) { now[get_global_id(0)] = now[get_global_id(0)] * WEIGHT + 1.0f; }";
    ProQue::builder()
        .src(source.replace("WEIGHT", &format!("{:?}f", settings.weight)))
        .dims(COUNT)
        .build()
}

fn main() -> ocl::Result<()> {
    let mut settings = Settings {
        weight: 0.5,
        steps: 0,
    };
    let device = open(&settings)?;
    let now: Buffer<f32> = device.create_buffer()?;
    while settings.steps < 20 {
        let kernel = device.kernel_builder("step").arg(&now).build()?;
        // SAFETY: the kernel stays in the array.
        unsafe { kernel.enq()? };
        settings.weight *= 0.5;
        settings.steps += 1;
    }
    let mut found = vec![0.0; COUNT];
    now.read(&mut found).enq()?;
    println!("{} {}", found[7], settings.weight);
    Ok(())
}
