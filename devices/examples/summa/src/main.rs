//! The product of two matrices (SUMMA, van de Geijn and Watts, 1997), over MPI ranks with a device each: every rank has some rows of
//! all three. Step by step the rows of the second are sent to all, and each rank adds what comes of them to its rows of the
//! product, on its device.
//!
//! `summa SIZE WIDTH`: of the matrices, and how many rows are sent at once.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use ocl::{Buffer, Context, Device, Kernel, Platform, Program, Queue};

const SOURCE: &str = "
    __kernel void multiply(__global const double *left, __global const double *panel, __global double *product,
                           ulong size, ulong first, ulong width) {
        size_t row = get_global_id(0), column = get_global_id(1);
        double sum = 0.0;
        for (ulong at = 0; at < width; at++)
            sum += left[row * size + first + at] * panel[at * size + column];
        product[row * size + column] += sum;
    }";

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let size = argument(1, 96);
    let width = argument(2, 4);
    let sum = multiply(&world, size, width).expect("OpenCL");
    if world.rank() == 0 {
        println!("product {sum:016x}");
    }
}

/// A number that stands for all of the product.
fn multiply(world: &SimpleCommunicator, size: usize, width: usize) -> ocl::Result<u64> {
    let rows = size / world.size() as usize;
    assert!(
        rows * world.size() as usize == size && rows.is_multiple_of(width),
        "sizes do not fit"
    );
    let top = rows * world.rank() as usize;
    let right: Vec<f64> = (top * size..(top + rows) * size)
        .map(|at| element(at, 3))
        .collect();

    let platform = Platform::default();
    let devices = Device::list_all(platform)?;
    let device = devices[world.rank() as usize % devices.len()];
    let context = Context::builder().platform(platform).devices(device).build()?;
    let program = Program::builder().src(SOURCE).devices(device).build(&context)?;
    let queue = Queue::new(&context, device, None)?;
    let left = on_device(
        &queue,
        (top * size..(top + rows) * size)
            .map(|at| element(at, 7))
            .collect(),
    )?;
    let panel = on_device(&queue, vec![0.0; width * size])?;
    let product = on_device(&queue, vec![0.0; rows * size])?;

    for owner in 0..world.size() {
        for part in 0..rows / width {
            let mut sent = vec![0.0; width * size];
            if owner == world.rank() {
                let begin = part * width * size;
                sent.copy_from_slice(&right[begin..begin + width * size]);
            }
            world.process_at_rank(owner).broadcast_into(&mut sent[..]);
            panel.write(&sent).enq()?;
            let kernel = Kernel::builder()
                .program(&program)
                .name("multiply")
                .queue(queue.clone())
                .global_work_size((rows, size))
                .arg(&left)
                .arg(&panel)
                .arg(&product)
                .arg(size as u64)
                .arg((owner as usize * rows + part * width) as u64)
                .arg(width as u64)
                .build()?;
            // SAFETY: the kernel stays in the arrays, whose sizes it is told.
            unsafe { kernel.enq()? };
        }
    }
    let mut found = vec![0.0; rows * size];
    product.read(&mut found).enq()?;
    verify(world, size, top, &found);
    // The same for any number of ranks.
    let places = (top * size) as u64..;
    let own = places.zip(&found).fold(0, |sum: u64, (place, one)| {
        sum.wrapping_add(one.to_bits().wrapping_mul(2 * place + 1))
    });
    let mut all = 0;
    world.all_reduce_into(&own, &mut all, SystemOperation::sum());
    Ok(all)
}

/// The product applied to ones has to be what the first matrix makes of the second applied to them.
fn verify(world: &SimpleCommunicator, size: usize, top: usize, found: &[f64]) {
    let sums: Vec<f64> = (0..size)
        .map(|row| (0..size).map(|column| element(row * size + column, 3)).sum())
        .collect();
    for (row, found) in found.chunks(size).enumerate() {
        let expected: f64 = (0..size)
            .map(|at| element((top + row) * size + at, 7) * sums[at])
            .sum();
        let apart = (found.iter().sum::<f64>() - expected).abs();
        assert!(
            apart < 1e-9 * expected.abs().max(1.0),
            "rank {}: row {row} is off by {apart}",
            world.rank()
        );
    }
}

/// The element of this place, the same in every run.
fn element(at: usize, seed: usize) -> f64 {
    ((at * 2_654_435_761 + seed * 40_503) % 1009) as f64 / 1009.0
}

fn on_device(queue: &Queue, numbers: Vec<f64>) -> ocl::Result<Buffer<f64>> {
    Buffer::builder()
        .queue(queue.clone())
        .len(numbers.len())
        .copy_host_slice(&numbers)
        .build()
}

fn argument(at: usize, usual: usize) -> usize {
    std::env::args()
        .nth(at)
        .map_or(usual, |text| text.parse().expect("a number"))
}
