//! The ring on a device of OpenCL.

use ocl::{Buffer, Context, Device, Kernel, Platform, Program, Queue};

use crate::COUNT;

const SOURCE: &str = "
    __kernel void next(__global const float *now, __global float *next, uint count) {
        uint at = get_global_id(0);
        float sum = now[at] + now[(at + 1) % count] + now[(at + count - 1) % count] + 1.0f;
        next[at] = sum - 64.0f * floor(sum / 64.0f);
    }";

pub struct OnOpenCl {
    queue: Queue,
    program: Program,
    even: Buffer<f32>,
    odd: Buffer<f32>,
}

impl OnOpenCl {
    pub fn new(begin: &[f32]) -> ocl::Result<OnOpenCl> {
        let platform = Platform::default();
        let device = Device::first(platform)?;
        let context = Context::builder().platform(platform).devices(device).build()?;
        let queue = Queue::new(&context, device, None)?;
        let program = Program::builder().src(SOURCE).devices(device).build(&context)?;
        let even = array(&queue, begin)?;
        let odd = array(&queue, begin)?;
        Ok(OnOpenCl {
            queue,
            program,
            even,
            odd,
        })
    }

    pub fn step(&self, steps: u32) -> ocl::Result<()> {
        let (now, next) = match steps % 2 {
            0 => (&self.even, &self.odd),
            _ => (&self.odd, &self.even),
        };
        let kernel = Kernel::builder()
            .program(&self.program)
            .name("next")
            .queue(self.queue.clone())
            .global_work_size(COUNT)
            .arg(now)
            .arg(next)
            .arg(COUNT as u32)
            .build()?;
        // SAFETY: the kernel stays in the arrays.
        unsafe { kernel.enq()? };
        Ok(())
    }

    pub fn numbers(&self, steps: u32) -> ocl::Result<Vec<f32>> {
        let array = match steps % 2 {
            0 => &self.even,
            _ => &self.odd,
        };
        let mut found = vec![0.0; COUNT];
        array.read(&mut found).enq()?;
        Ok(found)
    }
}

fn array(queue: &Queue, numbers: &[f32]) -> ocl::Result<Buffer<f32>> {
    Buffer::builder()
        .queue(queue.clone())
        .len(COUNT)
        .copy_host_slice(numbers)
        .build()
}
