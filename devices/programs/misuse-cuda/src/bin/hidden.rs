//! An array behind a trait, which does not say that there is one.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DriverError};

trait Step {
    fn step(&mut self, number: u32) -> Result<u32, DriverError>;
}

struct OnDevice {
    stream: Arc<CudaStream>,
    array: CudaSlice<u32>,
}

impl Step for OnDevice {
    fn step(&mut self, number: u32) -> Result<u32, DriverError> {
        let before = self.stream.clone_dtoh(&self.array)?;
        self.stream
            .memcpy_htod(&[before[7] + number; 1000], &mut self.array)?;
        Ok(before[7])
    }
}

fn made() -> Result<Box<dyn Step>, DriverError> {
    let stream = CudaContext::new(0)?.default_stream();
    let array = stream.alloc_zeros(1000)?;
    Ok(Box::new(OnDevice { stream, array }))
}

fn main() -> Result<(), DriverError> {
    let mut hidden = made()?;
    let mut sum = 0;
    for step in 0..20 {
        sum += hidden.step(step)?;
    }
    println!("{sum}");
    Ok(())
}
