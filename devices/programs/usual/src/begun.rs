//! A struct that gives its array, which it has made, its first content by a command.

use ocl::{Buffer, Kernel, ProQue};

use super::{COUNT, SOURCE, STEPS, added};

struct Stirred {
    pro: ProQue,
    state: Buffer<u32>,
    kernel: Kernel,
    steps: u32,
}

impl Stirred {
    fn new() -> ocl::Result<Self> {
        let pro = ProQue::builder().src(SOURCE).dims(COUNT).build()?;
        let state = pro.create_buffer::<u32>()?;
        let start: Vec<u32> = (0..COUNT as u32).map(|at| at ^ 5).collect();
        state.write(&start).enq()?;
        let kernel = pro.kernel_builder("stir").arg(&state).arg(7_u32).build()?;
        Ok(Stirred {
            pro,
            state,
            kernel,
            steps: 0,
        })
    }

    fn step(&mut self) -> ocl::Result<()> {
        // SAFETY: the kernel has these arguments.
        unsafe { self.kernel.enq()? };
        self.steps += 1;
        Ok(())
    }
}

pub fn run() -> ocl::Result<()> {
    let mut stirred = Stirred::new()?;
    for _ in 0..STEPS {
        stirred.step()?;
    }
    let mut numbers = vec![0; COUNT];
    stirred.state.read(&mut numbers).enq()?;
    stirred.pro.queue().finish()?;
    println!("{} steps, sum {:08x}", stirred.steps, added(0, &numbers));
    Ok(())
}
