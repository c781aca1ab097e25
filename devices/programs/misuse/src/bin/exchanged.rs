//! A function of the program has two arrays change places that it is lent: nobody follows which variable has which.

use ocl::{Buffer, ProQue};

const SOURCE: &str = "
    __kernel void twice(__global const uint *from, __global uint *to) {
        size_t at = get_global_id(0);
        to[at] = 2 * from[at] + 1;
    }";

fn main() -> ocl::Result<()> {
    let device = ProQue::builder().src(SOURCE).dims(1000).build()?;
    let ones = vec![1; 2000];
    let mut now: Buffer<u32> = device.buffer_builder().copy_host_slice(&ones[..1000]).build()?;
    let mut next: Buffer<u32> = device.buffer_builder().copy_host_slice(&ones[..1000]).build()?;
    for _ in 0..20 {
        let kernel = device.kernel_builder("twice").arg(&now).arg(&next).build()?;
        // SAFETY: the kernel stays in the arrays.
        unsafe { kernel.enq()? };
        turn(&mut now, &mut next);
    }
    let mut found = vec![0; 1000];
    now.read(&mut found).enq()?;
    println!("{}", found[7]);
    Ok(())
}

fn turn(now: &mut Buffer<u32>, next: &mut Buffer<u32>) {
    std::mem::swap(now, next);
}
