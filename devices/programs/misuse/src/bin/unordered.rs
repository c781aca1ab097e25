//! Two queues whose commands run in any order, but for the events that they wait for, with kernels that take their time: at each
//! site some are under way, in both queues.

use ocl::{Buffer, CommandQueueProperties, Context, Device, Event, Kernel, Platform, Program, Queue};

const SOURCE: &str = "
    __kernel void stir(__global const uint *from, __global uint *to, uint rounds) {
        size_t at = get_global_id(0);
        uint state = from[at];
        for (uint round = 0; round < rounds; round++) state = state * 1664525u + 1013904223u;
        to[at] = to[at] * 31u + state;
    }";

const COUNT: usize = 64;

fn main() -> ocl::Result<()> {
    let rounds: u32 = std::env::args()
        .nth(1)
        .map_or(2_000_000, |text| text.parse().expect("a number"));
    let platform = Platform::default();
    let context = Context::builder()
        .platform(platform)
        .devices(Device::first(platform)?)
        .build()?;
    let left = in_any_order(&context)?;
    let right = in_any_order(&context)?;
    let program = Program::builder()
        .src(SOURCE)
        .devices(context.devices()[0])
        .build(&context)?;
    let one = array(&left, 3)?;
    let other = array(&right, 5)?;
    let third = array(&right, 7)?;
    for step in 0..12_u32 {
        round(&program, [&left, &right], [&one, &other, &third], rounds + step)?;
    }
    left.finish()?;
    right.finish()?;
    for array in [&one, &other, &third] {
        let mut found = vec![0; COUNT];
        array.read(&mut found).enq()?;
        println!(
            "sum {:08x}",
            found
                .iter()
                .fold(0_u32, |sum, one| sum.wrapping_mul(31).wrapping_add(*one))
        );
    }
    Ok(())
}

fn in_any_order(context: &Context) -> ocl::Result<Queue> {
    let how = CommandQueueProperties::OUT_OF_ORDER_EXEC_MODE_ENABLE;
    Queue::new(context, context.devices()[0], Some(how))
}

/// What is of the step before is done when this begins; nothing of it is when it ends.
fn round(program: &Program, queues: [&Queue; 2], arrays: [&Buffer<u32>; 3], rounds: u32) -> ocl::Result<()> {
    queues[0].finish()?;
    queues[1].finish()?;
    let mut first = Event::empty();
    stir(
        program,
        queues[0],
        [arrays[0], arrays[1]],
        rounds,
        None,
        Some(&mut first),
    )?;
    stir(
        program,
        queues[1],
        [arrays[1], arrays[2]],
        rounds,
        Some(&first),
        None,
    )?;
    queues[0].flush()?;
    queues[1].flush()
}

fn stir(
    program: &Program,
    queue: &Queue,
    arrays: [&Buffer<u32>; 2],
    rounds: u32,
    after: Option<&Event>,
    done: Option<&mut Event>,
) -> ocl::Result<()> {
    let kernel = Kernel::builder()
        .program(program)
        .name("stir")
        .queue(queue.clone())
        .global_work_size(COUNT)
        .arg(arrays[0])
        .arg(arrays[1])
        .arg(rounds)
        .build()?;
    let mut command = kernel.cmd();
    if let Some(after) = after {
        command = command.ewait(after);
    }
    if let Some(done) = done {
        command = command.enew(done);
    }
    // SAFETY: the kernel stays in the arrays.
    unsafe { command.enq() }
}

fn array(queue: &Queue, factor: u32) -> ocl::Result<Buffer<u32>> {
    let numbers: Vec<u32> = (0..COUNT as u32).map(|at| at * factor).collect();
    Buffer::builder()
        .queue(queue.clone())
        .len(COUNT)
        .copy_host_slice(&numbers)
        .build()
}
