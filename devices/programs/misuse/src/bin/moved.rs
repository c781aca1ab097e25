//! Settings change before they are moved to what a kernel is made from: made again they would be as they were.

use ocl::{Buffer, ProQue};

const COUNT: usize = 1000;

struct Settings {
    weight: f32,
    names: Vec<String>,
}

struct Simulation {
    device: ProQue,
    now: Buffer<f32>,
    settings: Settings,
}

impl Simulation {
    fn new(settings: Settings) -> ocl::Result<Simulation> {
        let source = "__kernel void step(__global float *now) { now[get_global_id(0)] = now[get_global_id(0)] * WEIGHT + 1.0f; }";
        let device = ProQue::builder()
            .src(source.replace("WEIGHT", &format!("{:?}f", settings.weight)))
            .dims(COUNT)
            .build()?;
        let now = device.create_buffer()?;
        Ok(Simulation {
            device,
            now,
            settings,
        })
    }
}

fn main() -> ocl::Result<()> {
    let mut settings = Settings {
        weight: 0.5,
        names: vec!["one".into()],
    };
    settings.weight *= 0.5;
    settings.names.push("two".into());
    let simulation = Simulation::new(settings)?;
    for _ in 0..20 {
        let kernel = simulation
            .device
            .kernel_builder("step")
            .arg(&simulation.now)
            .build()?;
        // SAFETY: the kernel stays in the array.
        unsafe { kernel.enq()? };
    }
    let mut found = vec![0.0; COUNT];
    simulation.now.read(&mut found).enq()?;
    println!("{} {:?}", found[7], simulation.settings.names);
    Ok(())
}
