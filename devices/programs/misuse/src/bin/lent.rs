//! What makes a struct with an array also fills another one, which was there before.

use ocl::{Buffer, ProQue};

const COUNT: usize = 1000;

struct Sums {
    parts: Buffer<u32>,
    steps: u32,
}

impl Sums {
    fn new(device: &ProQue, now: &Buffer<u32>) -> ocl::Result<Sums> {
        let parts = device.buffer_builder().len(COUNT).fill_val(0).build()?;
        now.write(&vec![7; COUNT]).enq()?;
        Ok(Sums { parts, steps: 0 })
    }

    fn step(&mut self) -> ocl::Result<()> {
        self.steps += 1;
        self.parts.cmd().fill(self.steps, Some(10)).enq()
    }
}

fn main() -> ocl::Result<()> {
    let device = ProQue::builder()
        .src("__kernel void none(uint more) {}")
        .dims(COUNT)
        .build()?;
    let now: Buffer<u32> = device.create_buffer()?;
    let mut sums = Sums::new(&device, &now)?;
    for _ in 0..20 {
        sums.step()?;
    }
    let mut found = vec![0; COUNT];
    for array in [&now, &sums.parts] {
        array.read(&mut found).enq()?;
        println!("{} {}", found[7], found[77]);
    }
    Ok(())
}
