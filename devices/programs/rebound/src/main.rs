//! A kernel that is made once: of its arguments one changes in each step, two arrays change places in every fifth, and the
//! others it has from before.

use ocl::{Buffer, Kernel, ProQue};

const SOURCE: &str = "
    __kernel void stir(__global const uint *from, __global uint *to, uint more, __local uint *own, uint factor) {
        size_t at = get_global_id(0);
        own[get_local_id(0)] = from[at] * factor;
        to[at] += own[get_local_id(0)] + more;
    }";

const COUNT: usize = 1000;

fn main() -> ocl::Result<()> {
    let device = ProQue::builder().src(SOURCE).dims(COUNT).build()?;
    let numbers: Vec<u32> = (0..COUNT as u32).collect();
    let one = array(&device, &numbers)?;
    let other = array(&device, &numbers)?;
    let third = array(&device, &numbers)?;
    let stir = kernel_of(&device, &one, &other)?;
    for step in 0..30_u32 {
        stir.set_arg(2, step * step)?;
        if step % 5 == 3 {
            turn(&stir, step, [&one, &other, &third])?;
        }
        // SAFETY: the kernel stays in the arrays.
        unsafe { stir.enq()? };
    }
    for array in [&one, &other, &third] {
        let mut found = vec![0; COUNT];
        array.read(&mut found).enq()?;
        let sum = found
            .iter()
            .fold(0_u32, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
        println!("sum {sum:08x}");
    }
    Ok(())
}

fn array(device: &ProQue, numbers: &[u32]) -> ocl::Result<Buffer<u32>> {
    Buffer::builder()
        .queue(device.queue().clone())
        .len(numbers.len())
        .copy_host_slice(numbers)
        .build()
}

fn kernel_of(device: &ProQue, from: &Buffer<u32>, to: &Buffer<u32>) -> ocl::Result<Kernel> {
    device
        .kernel_builder("stir")
        .local_work_size(10)
        .arg(from)
        .arg(to)
        .arg(0_u32)
        .arg_local::<u32>(10)
        .arg(3_u32)
        .build()
}

/// From one of the arrays to the next.
fn turn(stir: &Kernel, step: u32, arrays: [&Buffer<u32>; 3]) -> ocl::Result<()> {
    let first = step as usize / 5;
    stir.set_arg(0, arrays[first % 3])?;
    stir.set_arg(1, arrays[(first + 1) % 3])
}
