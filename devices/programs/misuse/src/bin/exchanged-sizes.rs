//! Two arrays of different sizes change places.

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
    let mut next: Buffer<u32> = device.buffer_builder().len(2000).copy_host_slice(&ones).build()?;
    for _ in 0..20 {
        let kernel = device.kernel_builder("twice").arg(&now).arg(&next).build()?;
        // SAFETY: the kernel stays in the arrays.
        unsafe { kernel.enq()? };
        std::mem::swap(&mut now, &mut next);
    }
    let mut found = vec![0; now.len()];
    now.read(&mut found).enq()?;
    println!("{}", found[7]);
    Ok(())
}
