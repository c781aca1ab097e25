//! Heat in a cube, after FT of the NAS benchmarks: a three-dimensional fast Fourier transform takes it into the space of
//! frequencies, where each step is a factor for each number, and each state is transformed back. All on a device, by three
//! kernels.

use std::ffi::c_void;
use std::ptr::null_mut;

use opencl3::Result;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

const SOURCE: &str = r"
    /* The numbers of a line change places: the bits of where they are, turned round. */
    __kernel void turn(__global double2 *cube, ulong side, ulong stride) {
        size_t line = get_global_id(0);
        size_t first = line / stride * stride * side + line % stride;
        for (size_t at = 0, turned = 0; at < side; at++) {
            if (at < turned) {
                double2 number = cube[first + at * stride];
                cube[first + at * stride] = cube[first + turned * stride];
                cube[first + turned * stride] = number;
            }
            size_t bit = side / 2;
            for (; bit > 0 && (turned & bit); bit /= 2) {
                turned ^= bit;
            }
            turned |= bit;
        }
    }

    /* Pairs of numbers that are `half` apart, in all lines. */
    __kernel void pairs(
        __global double2 *cube,
        __global const double2 *roots,
        ulong side,
        ulong stride,
        ulong half_of,
        double direction
    ) {
        size_t line = get_global_id(0), pair = get_global_id(1);
        size_t first = line / stride * stride * side + line % stride;
        size_t within = pair % half_of;
        size_t at = first + ((pair - within) * 2 + within) * stride;
        double2 root = roots[within * (side / 2 / half_of)];
        root.y *= direction;
        double2 low = cube[at], other = cube[at + half_of * stride];
        double2 high = (double2)(root.x * other.x - root.y * other.y, root.x * other.y + root.y * other.x);
        cube[at] = low + high;
        cube[at + half_of * stride] = low - high;
    }

    /* A step in the space of frequencies, and a copy of what there is then. */
    __kernel void evolve(__global double2 *waves, __global const double *factors, __global double2 *copy) {
        size_t at = get_global_id(0);
        waves[at] *= factors[at];
        copy[at] = waves[at];
    }
";

fn main() -> Result<()> {
    let side = argument(1, 32);
    let steps = argument(2, 12);
    assert!(
        side.is_power_of_two() && side > 1,
        "the side of the cube is a power of two"
    );
    println!("heat {:016x}", diffuse(side, steps)?);
    Ok(())
}

/// What is on the device for transforms.
struct Transform<'a> {
    queue: &'a CommandQueue,
    turn: &'a Kernel,
    pairs: &'a Kernel,
    roots: &'a Buffer<f64>,
    side: usize,
}

fn diffuse(side: usize, steps: usize) -> Result<u64> {
    let count = side * side * side;
    let hot = start(side);
    let device = Device::new(*get_all_devices(CL_DEVICE_TYPE_ALL)?.first().expect("a device"));
    let context = Context::from_device(&device)?;
    let queue = CommandQueue::create_default(&context, 0)?;
    let program =
        Program::create_and_build_from_source(&context, SOURCE, "").expect("the program is OpenCL C");
    let turn = Kernel::create(&program, "turn")?;
    let pairs = Kernel::create(&program, "pairs")?;
    let evolve = Kernel::create(&program, "evolve")?;

    let roots = constants(&context, &roots(side))?;
    let factors = constants(&context, &factors(side))?;
    let mut waves: Buffer<f64> =
        unsafe { Buffer::create(&context, CL_MEM_READ_WRITE, 2 * count, null_mut())? };
    let state: Buffer<f64> = unsafe { Buffer::create(&context, CL_MEM_READ_WRITE, 2 * count, null_mut())? };
    // SAFETY: the numbers are there until they are written.
    unsafe { queue.enqueue_write_buffer(&mut waves, CL_BLOCKING, 0, &hot, &[])? };
    let cube = Transform {
        queue: &queue,
        turn: &turn,
        pairs: &pairs,
        roots: &roots,
        side,
    };
    transform(&cube, &waves, 1.0)?;
    let mut sum = 0_u64;
    let mut found = vec![0.0; 2 * count];
    for step in 0..steps {
        // SAFETY: the kernel stays in the arrays.
        unsafe {
            ExecuteKernel::new(&evolve)
                .set_arg(&waves)
                .set_arg(&factors)
                .set_arg(&state)
                .set_global_work_size(count)
                .enqueue_nd_range(&queue)?;
        }
        transform(&cube, &state, -1.0)?;
        // SAFETY: the call returns when the numbers have been read.
        unsafe { queue.enqueue_read_buffer(&state, CL_BLOCKING, 0, &mut found, &[])? };
        sum = found
            .iter()
            .step_by(2)
            .fold(sum, |sum, heat| sum.wrapping_mul(31).wrapping_add(heat.to_bits()));
        verify(&hot, &found, side, step + 1);
    }
    Ok(sum)
}

/// Along each of the three axes, all lines.
fn transform(cube: &Transform<'_>, numbers: &Buffer<f64>, direction: f64) -> Result<()> {
    let side = cube.side;
    for stride in [1, side, side * side] {
        // SAFETY: the kernels stay in the arrays: each line in its numbers, each pair in its line.
        unsafe {
            ExecuteKernel::new(cube.turn)
                .set_arg(numbers)
                .set_arg(&(side as u64))
                .set_arg(&(stride as u64))
                .set_global_work_size(side * side)
                .enqueue_nd_range(cube.queue)?;
        }
        let mut half = 1;
        while half < side {
            // SAFETY: the same.
            unsafe {
                ExecuteKernel::new(cube.pairs)
                    .set_arg(numbers)
                    .set_arg(cube.roots)
                    .set_arg(&(side as u64))
                    .set_arg(&(stride as u64))
                    .set_arg(&(half as u64))
                    .set_arg(&direction)
                    .set_global_work_sizes(&[side * side, side / 2])
                    .enqueue_nd_range(cube.queue)?;
            }
            half *= 2;
        }
    }
    Ok(())
}

/// An array that the kernels only read.
fn constants(context: &Context, numbers: &[f64]) -> Result<Buffer<f64>> {
    let from = numbers.as_ptr().cast_mut().cast::<c_void>();
    // SAFETY: the numbers are copied before the call returns.
    unsafe {
        Buffer::create(
            context,
            CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
            numbers.len(),
            from,
        )
    }
}

/// Half of the roots of one, as complex numbers.
fn roots(side: usize) -> Vec<f64> {
    let angle = |at: usize| -std::f64::consts::TAU * at as f64 / side as f64;
    (0..side / 2)
        .flat_map(|at| [angle(at).cos(), angle(at).sin()])
        .collect()
}

/// By what a step makes each wave smaller. The first step takes the size of the transform out as well.
fn factors(side: usize) -> Vec<f64> {
    let wave = |at: usize| {
        if at > side / 2 {
            at as f64 - side as f64
        } else {
            at as f64
        }
    };
    let square = |at: usize| wave(at) * wave(at);
    let all = (0..side * side * side).map(|at| {
        let sum = square(at % side) + square(at / side % side) + square(at / side / side);
        (-4e-3 * sum).exp()
    });
    all.collect()
}

/// Complex numbers without an imaginary part, the same in every run.
fn start(side: usize) -> Vec<f64> {
    let mut state = 271_828_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24)
    };
    (0..side * side * side).flat_map(|_| [next(), 0.0]).collect()
}

/// Heat does not get lost, stays real, and is more even than it was.
fn verify(hot: &[f64], found: &[f64], side: usize, steps: usize) {
    let count = (side * side * side) as f64;
    let mean = |numbers: &[f64]| numbers.iter().step_by(2).sum::<f64>() / count;
    let spread = |numbers: &[f64], mean: f64| {
        numbers
            .iter()
            .step_by(2)
            .map(|one| (one - mean).powi(2))
            .sum::<f64>()
    };
    let found: Vec<f64> = found.iter().map(|number| number / count).collect();
    let (before, after) = (mean(hot), mean(&found));
    assert!(
        (before - after).abs() < 1e-9,
        "step {steps}: a mean of {after}, not {before}"
    );
    assert!(
        found.iter().skip(1).step_by(2).all(|one| one.abs() < 1e-9),
        "step {steps}: complex"
    );
    assert!(
        spread(&found, after) < spread(hot, before),
        "step {steps}: less even"
    );
}

fn argument(at: usize, usual: usize) -> usize {
    std::env::args()
        .nth(at)
        .map_or(usual, |text| text.parse().expect("a number"))
}
