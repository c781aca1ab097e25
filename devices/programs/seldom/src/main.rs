//! Large arrays that are written seldom, each by other commands. Where a checkpoint in parts took one for unchanged that was
//! written, another sum would come of it after a restart.

use ocl::flags::MapFlags;
use ocl::{Buffer, Kernel, ProQue, Program};

const SOURCE: &str = "
    __kernel void stir(__constant uint *few, __global const uint *table, __global uint *state, uint more) {
        size_t at = get_global_id(0);
        state[at] = (state[at] ^ table[at]) * 1664525u + more + few[at % 4];
    }";

/// C takes this: the array is not constant, only the pointer to it says so.
const CAST: &str = "
    __kernel void count(__global const uint *seen) {
        __global uint *written = (__global uint *)seen;
        written[get_global_id(0)] += 3;
    }";

/// More than a megabyte of them.
const COUNT: usize = 300_000;

fn main() -> ocl::Result<()> {
    let device = ProQue::builder().src(SOURCE).dims(COUNT).build()?;
    let numbers: Vec<u32> = (0..COUNT as u32).map(|at| at ^ (at << 7)).collect();
    let few = array(&device, &numbers[..4])?;
    let table = array(&device, &numbers)?;
    let stirred = array(&device, &numbers)?;
    let put = array(&device, &numbers)?;
    let filled = array(&device, &numbers)?;
    let copied = array(&device, &numbers)?;
    let mapped = array(&device, &numbers)?;
    let stir = kernel_of(&device, &few, &table, &stirred)?;
    let counting = counting(&device)?;
    let counted = array(&device, &numbers)?;
    let count = counting.kernel_builder("count").arg(&counted).build()?;
    let mut ones = vec![1; COUNT];
    for step in 0..24_u32 {
        if step % 3 == 1 {
            // SAFETY: the kernel stays in the arrays.
            unsafe { stir.enq()? };
        }
        if step % 5 == 2 {
            ones[step as usize] = step;
            put.write(&ones).enq()?;
        }
        if step % 6 == 1 {
            filled.cmd().fill(step, None).enq()?;
        }
        if step % 7 == 3 {
            stirred.copy(&copied, None, None).enq()?;
        }
        if step % 8 == 4 {
            change(&mapped, step)?;
        }
        // SAFETY: the kernel stays in the array.
        unsafe { count.enq()? };
        counting.finish()?;
    }
    for array in [&table, &stirred, &put, &filled, &copied, &mapped, &counted] {
        let mut found = vec![0; COUNT];
        array.read(&mut found).enq()?;
        let sum = found
            .iter()
            .fold(0_u32, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
        println!("sum {sum:08x}");
    }
    Ok(())
}

/// With the library's help, the kernel is known to have `const`.
fn counting(device: &ProQue) -> ocl::Result<ProQue> {
    let mut program = Program::builder();
    program.src(CAST).cmplr_opt("-cl-kernel-arg-info");
    ProQue::builder()
        .context(device.context().clone())
        .prog_bldr(program)
        .dims(COUNT)
        .build()
}

fn array(device: &ProQue, numbers: &[u32]) -> ocl::Result<Buffer<u32>> {
    Buffer::builder()
        .queue(device.queue().clone())
        .len(numbers.len())
        .copy_host_slice(numbers)
        .build()
}

fn kernel_of(
    device: &ProQue,
    few: &Buffer<u32>,
    table: &Buffer<u32>,
    state: &Buffer<u32>,
) -> ocl::Result<Kernel> {
    device
        .kernel_builder("stir")
        .arg(few)
        .arg(table)
        .arg(state)
        .arg(7_u32)
        .build()
}

/// By the program's own hand.
fn change(array: &Buffer<u32>, step: u32) -> ocl::Result<()> {
    // SAFETY: nothing else uses the array.
    let mut numbers = unsafe { array.map().flags(MapFlags::new().read().write()).enq()? };
    numbers[step as usize] += step;
    numbers.unmap().enq()
}
