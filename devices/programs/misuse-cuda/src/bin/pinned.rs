//! Memory of the program's that the driver has locked.

use cudarc::driver::{CudaContext, DriverError};

fn main() -> Result<(), DriverError> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let array = stream.clone_htod(&[3_u32; 1000])?;
    // SAFETY: it is written before it is read.
    let mut host = unsafe { context.alloc_pinned::<u32>(1000) }?;
    let mut sum = 0;
    for step in 0..20_u32 {
        stream.memcpy_dtoh(&array, &mut host)?;
        sum += step * host.as_slice()?[7];
    }
    println!("{sum}");
    Ok(())
}
