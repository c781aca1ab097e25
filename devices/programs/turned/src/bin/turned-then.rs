//! As `turned`: the arrays change places in a loop that is over early, and stay where they are in the long one that follows, with the
//! kernels that were made before both.

use ocl::{Buffer, Kernel, ProQue};

const SOURCE: &str = "
    __kernel void stir(__global const uint *from, __global uint *to, uint factor) {
        size_t at = get_global_id(0);
        to[at] = from[at] * factor + (to[at] >> 3) + (uint)at;
    }";

const COUNT: usize = 1000;

fn main() -> ocl::Result<()> {
    let steps: u32 = std::env::args()
        .nth(1)
        .map_or(7, |text| text.parse().expect("a number"));
    let device = ProQue::builder().src(SOURCE).dims(COUNT).build()?;
    let mut now = array(&device, 3)?;
    let mut next = array(&device, 5)?;
    let (mut first, mut second, mut third) = three(&device)?;
    let there = kernel_of(&device, &now, &next)?;
    let back = kernel_of(&device, &next, &now)?;
    let around = kernel_of(&device, &first, &third)?;
    for step in 0..steps {
        let whole = if step % 2 == 0 { &there } else { &back };
        start(whole)?;
        start(&kernel_of(&device, &first, &now)?)?;
        start(&kernel_of(&device, &next, &second)?)?;
        start(&around)?;
        std::mem::swap(&mut now, &mut next);
        if step % 3 == 1 {
            (first, second, third) = (second, third, first);
        }
    }
    // They stay where they are from here on.
    for step in 0..60 {
        start(if step % 2 == 0 { &there } else { &back })?;
        start(&kernel_of(&device, &first, &second)?)?;
        start(&around)?;
    }
    for array in [&now, &next, &first, &second, &third] {
        let mut found = vec![0; COUNT];
        array.read(&mut found).enq()?;
        let sum = found
            .iter()
            .fold(0_u32, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
        println!("sum {sum:08x}");
    }
    Ok(())
}

fn three(device: &ProQue) -> ocl::Result<(Buffer<u32>, Buffer<u32>, Buffer<u32>)> {
    Ok((array(device, 7)?, array(device, 11)?, array(device, 13)?))
}

fn array(device: &ProQue, factor: u32) -> ocl::Result<Buffer<u32>> {
    let numbers: Vec<u32> = (0..COUNT as u32).map(|at| at * factor).collect();
    Buffer::builder()
        .queue(device.queue().clone())
        .len(COUNT)
        .copy_host_slice(&numbers)
        .build()
}

fn kernel_of(device: &ProQue, from: &Buffer<u32>, to: &Buffer<u32>) -> ocl::Result<Kernel> {
    device
        .kernel_builder("stir")
        .arg(from)
        .arg(to)
        .arg(1_664_525_u32)
        .build()
}

fn start(kernel: &Kernel) -> ocl::Result<()> {
    // SAFETY: the kernel stays in the arrays.
    unsafe { kernel.enq() }
}
