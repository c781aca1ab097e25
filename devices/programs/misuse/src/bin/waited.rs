//! An event of one step, which is waited for in the next.

use ocl::{Buffer, Event, ProQue};

const SOURCE: &str = "__kernel void add(__global uint *sum, uint more) { sum[get_global_id(0)] += more; }";

fn main() -> ocl::Result<()> {
    let device = ProQue::builder().src(SOURCE).dims(1000).build()?;
    let sum: Buffer<u32> = device.create_buffer()?;
    let mut done = Event::empty();
    for step in 0..20_u32 {
        let kernel = device.kernel_builder("add").arg(&sum).arg(step).build()?;
        // SAFETY: the kernel stays in the array.
        unsafe { kernel.cmd().enew(&mut done).enq()? };
        if step % 10 == 9 {
            done.wait_for()?;
        }
    }
    let mut found = vec![0; 1000];
    sum.read(&mut found).enq()?;
    println!("sum {}", found[7]);
    Ok(())
}
