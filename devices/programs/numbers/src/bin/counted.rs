//! As many parts as there are devices: their number is in a variable, and each has a queue and an array in a list. It looks
//! at each step that they are what they were, and that no two are the same.

use ocl::enums::{ContextInfo, ContextInfoResult, ProgramInfo, ProgramInfoResult};
use ocl::{Buffer, Context, Device, Kernel, Platform, Program, Queue};

const SOURCE: &str = "
    __kernel void stir(__global uint *state, uint more) {
        size_t at = get_global_id(0);
        state[at] = (state[at] ^ more) * 1664525u + 1013904223u;
    }";

const COUNT: usize = 300;

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
    let queues: Vec<Queue> = devices
        .iter()
        .map(|device| Queue::new(&context, *device, None))
        .collect::<ocl::Result<_>>()?;
    let parts = devices.len();
    let arrays: Vec<Buffer<u32>> = queues.iter().map(array).collect::<ocl::Result<_>>()?;
    let mut sum = 0_u64;
    for step in 0..20_u32 {
        are_what_they_were(parts, &context, &program, &queues)?;
        for (queue, state) in queues.iter().zip(&arrays) {
            stir(&program, queue, state, step * parts as u32)?;
        }
        let mut first = vec![0; COUNT];
        arrays[step as usize % parts].read(&mut first).enq()?;
        sum = first
            .iter()
            .fold(sum, |sum, one| sum.wrapping_mul(31).wrapping_add(u64::from(*one)));
    }
    println!("sum {sum:016x} of {parts} parts");
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

fn are_what_they_were(
    parts: usize,
    context: &Context,
    program: &Program,
    queues: &[Queue],
) -> ocl::Result<()> {
    let devices = context.devices();
    assert_eq!(devices.len(), parts, "of the context");
    let number = context.info(ContextInfo::NumDevices)?;
    assert!(matches!(number, ContextInfoResult::NumDevices(count) if count as usize == parts));
    for (at, (device, queue)) in devices.iter().zip(queues).enumerate() {
        assert!(!devices[..at].contains(device), "two devices are one");
        assert_eq!(*device, queue.device(), "the device of a queue");
        assert!(!device.name()?.is_empty() && device.max_wg_size()? > 0);
    }
    let Ok(ProgramInfoResult::BinarySizes(sizes)) = program.info(ProgramInfo::BinarySizes) else {
        panic!("no sizes of binaries");
    };
    assert!(
        sizes.len() == parts && sizes.iter().all(|size| *size > 0),
        "{sizes:?}"
    );
    Ok(())
}
