//! An event that is recorded in one step and waited for in the next.

use cudarc::driver::{CudaContext, DriverError};

fn main() -> Result<(), DriverError> {
    let stream = CudaContext::new(0)?.default_stream();
    let mut array = stream.alloc_zeros::<u32>(1000)?;
    let done = stream.record_event(None)?;
    let mut sum = 0;
    for step in 0..20_u32 {
        stream.wait(&done)?;
        stream.memcpy_htod(&[step; 1000], &mut array)?;
        done.record(&stream)?;
        sum += stream.clone_dtoh(&array)?[7];
    }
    println!("{sum}");
    Ok(())
}
