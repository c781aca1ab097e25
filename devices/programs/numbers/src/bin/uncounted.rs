//! Four parts, on the devices in turn: nothing that is saved hangs on how many there are. It says how many it sees.

use ocl::{Buffer, Context, Device, Kernel, Platform, Program, Queue};

const SOURCE: &str = "
    __kernel void stir(__global uint *state, uint more) {
        size_t at = get_global_id(0);
        state[at] = (state[at] ^ more) * 1664525u + 1013904223u;
    }";

const COUNT: usize = 300;
const PARTS: usize = 4;

fn main() -> ocl::Result<()> {
    let platform = Platform::default();
    let devices = Device::list_all(platform)?;
    let context = Context::builder()
        .platform(platform)
        .devices(&devices[..])
        .build()?;
    let program = Program::builder()
        .src(SOURCE)
        .devices(&devices[..])
        .build(&context)?;
    let queues: Vec<Queue> = (0..PARTS)
        .map(|part| Queue::new(&context, devices[part % devices.len()], None))
        .collect::<ocl::Result<_>>()?;
    let arrays: Vec<Buffer<u32>> = (0..PARTS)
        .map(|part| array(&queues[part]))
        .collect::<ocl::Result<_>>()?;
    let mut sum = 0_u64;
    for step in 0..20_u32 {
        for part in 0..PARTS {
            stir(&program, &queues[part], &arrays[part], step)?;
        }
        let mut first = vec![0; COUNT];
        arrays[step as usize % PARTS].read(&mut first).enq()?;
        sum = first
            .iter()
            .fold(sum, |sum, one| sum.wrapping_mul(31).wrapping_add(u64::from(*one)));
    }
    eprintln!("{} devices", Device::list_all(platform)?.len());
    println!("sum {sum:016x}");
    Ok(())
}

fn array(queue: &Queue) -> ocl::Result<Buffer<u32>> {
    Buffer::builder()
        .queue(queue.clone())
        .len(COUNT)
        .copy_host_slice(&[7; COUNT])
        .build()
}

fn stir(program: &Program, queue: &Queue, state: &Buffer<u32>, more: u32) -> ocl::Result<()> {
    let kernel = Kernel::builder()
        .program(program)
        .name("stir")
        .queue(queue.clone())
        .global_work_size(COUNT)
        .arg(state)
        .arg(more)
        .build()?;
    // SAFETY: the kernel stays in the array.
    unsafe { kernel.enq() }
}
