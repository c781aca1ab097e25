//! A variable of the kernels outside of their functions, with content that the program has given it.

use cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::compile_ptx;

const KERNELS: &str = r#"
__constant__ float factor[1];
extern "C" __global__ void grow(float *all, int count) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) all[at] *= factor[0];
}
"#;

fn main() -> Result<(), DriverError> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let module = context.load_module(compile_ptx(KERNELS).expect("it compiles"))?;
    {
        let mut factor = module.get_global("factor", &stream)?;
        stream.memcpy_htod(&1.01_f32.to_ne_bytes(), &mut factor)?;
    }
    let grow = module.load_function("grow")?;
    let mut all = stream.clone_htod(&[1_f32; 1000])?;
    for _ in 0..20 {
        let mut launch = stream.launch_builder(&grow);
        launch.arg(&mut all).arg(&1000_i32);
        // SAFETY: the array has so many numbers.
        unsafe { launch.launch(LaunchConfig::for_num_elems(1000)) }?;
    }
    println!("{:?}", stream.clone_dtoh(&all)?[7]);
    Ok(())
}
