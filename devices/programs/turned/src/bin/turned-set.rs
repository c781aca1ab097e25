//! Two arrays that change places after each step: a kernel is given the one and the other again, in every second step.

use ocl::{Buffer, ProQue};

const SOURCE: &str = "
    __kernel void stir(__global const uint *from, __global uint *to) {
        size_t at = get_global_id(0);
        to[at] = from[at] * 1664525u + (to[at] >> 3) + (uint)at;
    }";

const COUNT: usize = 1000;

fn main() -> ocl::Result<()> {
    let device = ProQue::builder().src(SOURCE).dims(COUNT).build()?;
    let mut now = array(&device, 3)?;
    let mut next = array(&device, 5)?;
    let stir = device.kernel_builder("stir").arg(&now).arg(&next).build()?;
    for step in 0..30 {
        if step % 2 == 0 {
            stir.set_arg(0, &now)?;
            stir.set_arg(1, &next)?;
        }
        // SAFETY: the kernel stays in the arrays.
        unsafe { stir.enq()? };
        std::mem::swap(&mut now, &mut next);
    }
    for array in [&now, &next] {
        let mut found = vec![0; COUNT];
        array.read(&mut found).enq()?;
        let sum = found
            .iter()
            .fold(0_u32, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
        println!("sum {sum:08x}");
    }
    Ok(())
}

fn array(device: &ProQue, factor: u32) -> ocl::Result<Buffer<u32>> {
    let numbers: Vec<u32> = (0..COUNT as u32).map(|at| at * factor).collect();
    Buffer::builder()
        .queue(device.queue().clone())
        .len(COUNT)
        .copy_host_slice(&numbers)
        .build()
}
