//! A ring of numbers, each of which becomes a sum of its neighbours: two arrays that change roles from step to step, a third that
//! is filled by a copy from time to time, and a sum that comes back to the program without a wait of its own.

use std::sync::Arc;

use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::Ptx;

/// The kernels, as the driver of the tests takes them: it has functions of these names.
const MODULE: &str = ".visible .entry step() .visible .entry add()";

const COUNT: usize = 5000;

struct Device {
    stream: Arc<CudaStream>,
    step: CudaFunction,
    add: CudaFunction,
}

fn device(number: usize) -> Result<Device, DriverError> {
    let context = CudaContext::new(number)?;
    let module = context.load_module(Ptx::from_src(MODULE))?;
    Ok(Device {
        stream: context.default_stream(),
        step: module.load_function("step")?,
        add: module.load_function("add")?,
    })
}

fn start(
    device: &Device,
    kernel: &CudaFunction,
    to: &CudaSlice<u32>,
    from: &CudaSlice<u32>,
) -> Result<(), DriverError> {
    let count = COUNT as u32;
    let mut launch = device.stream.launch_builder(kernel);
    launch.arg(to).arg(from).arg(&count);
    // SAFETY: both arrays have so many elements.
    unsafe { launch.launch(LaunchConfig::for_num_elems(count)) }?;
    Ok(())
}

fn increase(device: &Device, array: &CudaSlice<u32>, by: u32) -> Result<(), DriverError> {
    let mut launch = device.stream.launch_builder(&device.add);
    launch.arg(array).arg(&by).arg(&COUNT);
    // SAFETY: the array has so many elements.
    unsafe { launch.launch(LaunchConfig::for_num_elems(COUNT as u32)) }?;
    Ok(())
}

fn sum(device: &Device, array: &CudaSlice<u32>) -> Result<u64, DriverError> {
    let numbers = device.stream.clone_dtoh(array)?;
    Ok(numbers.iter().fold(0, |sum: u64, one| {
        sum.wrapping_mul(31).wrapping_add(u64::from(*one))
    }))
}

fn main() -> Result<(), DriverError> {
    let steps = std::env::args()
        .nth(1)
        .map_or(24, |text| text.parse().expect("a number"));
    let device = device(0)?;
    let numbers: Vec<u32> = (0..COUNT as u32).collect();
    let even = device.stream.clone_htod(&numbers)?;
    let odd: CudaSlice<u32> = device.stream.alloc_zeros(COUNT)?;
    let mut kept = device.stream.alloc_zeros::<u32>(COUNT)?;
    let mut trail = 0_u64;
    for step in 0..steps {
        match step % 2 {
            0 => start(&device, &device.step, &odd, &even)?,
            _ => start(&device, &device.step, &even, &odd)?,
        }
        increase(&device, &even, step)?;
        if step % 5 == 4 {
            device.stream.memcpy_dtod(&even, &mut kept)?;
            trail = trail.wrapping_add(sum(&device, &kept)?);
        }
    }
    let last = sum(&device, &kept)?;
    let now = sum(&device, &even)?.wrapping_add(sum(&device, &odd)?);
    println!("checksum {now:016x} {last:016x} {trail:016x}");
    Ok(())
}
