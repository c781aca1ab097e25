//! A part of an array, in a variable of its own.

use cudarc::driver::{CudaContext, DriverError};

fn main() -> Result<(), DriverError> {
    let stream = CudaContext::new(0)?.default_stream();
    let array = stream.clone_htod(&[3_u32; 1000])?;
    let half = array.slice(0..500);
    let mut sum = 0;
    for step in 0..20_u32 {
        sum += step * stream.clone_dtoh(&half)?[7];
    }
    println!("{sum}");
    Ok(())
}
