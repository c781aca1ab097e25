//! Arrays of CUDA whose elements are arrays of numbers, and structs. The kernels see numbers.

use std::sync::Arc;

use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DeviceRepr, DriverError, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::Ptx;

/// The kernels, as the driver of the tests takes them: it has functions of these names.
const MODULE: &str = ".visible .entry step() .visible .entry add()";

const COUNT: usize = 1000;

#[repr(C)]
#[derive(Clone, Copy)]
struct Cell {
    kind: u32,
    sums: [u32; 3],
}

// SAFETY: numbers alone, without bytes between them.
unsafe impl DeviceRepr for Cell {}

fn main() -> Result<(), DriverError> {
    let context = CudaContext::new(0)?;
    let module = context.load_module(Ptx::from_src(MODULE))?;
    let stream = context.default_stream();
    let step = module.load_function("step")?;
    let add = module.load_function("add")?;
    let pairs: Vec<[u32; 4]> = (0..COUNT as u32).map(|at| [at, at + 1, at * at, 7]).collect();
    let vectors = stream.clone_htod(&pairs)?;
    let cells = cells(&stream)?;
    let count = COUNT as u32 * 4;
    for number in 0..24_u32 {
        start(&stream, &step, &cells, &vectors, count)?;
        let mut launch = stream.launch_builder(&add);
        let all = count as usize;
        launch.arg(&vectors).arg(&number).arg(&all);
        // SAFETY: the array has so many numbers.
        unsafe { launch.launch(LaunchConfig::for_num_elems(count)) }?;
    }
    let vectors = stream.clone_dtoh(&vectors)?;
    let cells = stream.clone_dtoh(&cells)?;
    let vectors = sum(vectors.into_iter().flatten());
    let cells = sum(cells
        .into_iter()
        .flat_map(|cell| [cell.kind, cell.sums[0], cell.sums[1], cell.sums[2]]));
    println!("checksum {vectors:08x} {cells:08x}");
    Ok(())
}

fn cells(stream: &Arc<CudaStream>) -> Result<CudaSlice<Cell>, DriverError> {
    let cell = |at: u32| Cell {
        kind: at,
        sums: [at; 3],
    };
    let cells: Vec<Cell> = (0..COUNT as u32).map(cell).collect();
    stream.clone_htod(&cells)
}

fn start(
    stream: &Arc<CudaStream>,
    kernel: &CudaFunction,
    to: &CudaSlice<Cell>,
    from: &CudaSlice<[u32; 4]>,
    count: u32,
) -> Result<(), DriverError> {
    let mut launch = stream.launch_builder(kernel);
    launch.arg(to).arg(from).arg(&count);
    // SAFETY: both arrays have so many numbers.
    unsafe { launch.launch(LaunchConfig::for_num_elems(count)) }?;
    Ok(())
}

fn sum(numbers: impl Iterator<Item = u32>) -> u32 {
    numbers.fold(0, |sum: u32, one| sum.wrapping_mul(31).wrapping_add(one))
}
