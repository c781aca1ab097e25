//! A kernel gets another argument for each step.

use ocl::{Buffer, ProQue};

const SOURCE: &str = "__kernel void add(__global uint *sum, uint more) { sum[get_global_id(0)] += more; }";

fn main() -> ocl::Result<()> {
    let device = ProQue::builder().src(SOURCE).dims(1000).build()?;
    let sum: Buffer<u32> = device.create_buffer()?;
    let kernel = device.kernel_builder("add").arg(&sum).arg(0_u32).build()?;
    for step in 0..20_u32 {
        kernel.set_arg(1, step)?;
        // SAFETY: the kernel stays in the array.
        unsafe { kernel.enq()? };
    }
    let mut found = vec![0; 1000];
    sum.read(&mut found).enq()?;
    println!("sum {}", found[7]);
    Ok(())
}
