//! Arrays of several kinds in several queues: kernels that are made before the loop, arrays that the program never reads from
//! its side, that are lent to functions, or that are done with.

use ocl::core::CommandQueueProperties;
use ocl::{Buffer, Context, Device, Kernel, MemFlags, Platform, Program, Queue};

const SOURCE: &str = "
    __kernel void stir(__global const uint *seed, __global uint *state, uint more) {
        size_t at = get_global_id(0);
        state[at] = (state[at] ^ seed[at]) * 1664525u + more;
    }
    __kernel void add(__global const uint *state, __global double *sum) {
        size_t at = get_global_id(0);
        sum[at] = sum[at] * 0.5 + state[at];
    }";

const COUNT: usize = 5000;

fn main() -> ocl::Result<()> {
    let platform = Platform::default();
    let device = Device::first(platform)?;
    let context = Context::builder().platform(platform).devices(device).build()?;
    let program = Program::builder().src(SOURCE).devices(device).build(&context)?;
    let queue = Queue::new(&context, device, None)?;
    let other = Queue::new(
        &context,
        device,
        Some(CommandQueueProperties::new().out_of_order()),
    )?;
    let numbers: Vec<u32> = (0..COUNT as u32).map(|at| at * at).collect();
    let seed = array(&queue, &numbers)?;
    // The program never sees it.
    let state: Buffer<u32> = Buffer::builder()
        .queue(queue.clone())
        .flags(MemFlags::new().read_write().host_no_access())
        .len(COUNT)
        .fill_val(7)
        .build()?;
    let sum: Buffer<f64> = Buffer::builder()
        .queue(other.clone())
        .len(COUNT)
        .fill_val(0.5)
        .build()?;
    let unused: Buffer<u8> = Buffer::builder()
        .queue(other.clone())
        .len(10)
        .fill_val(1)
        .build()?;
    drop(unused);
    let add = kernel(&program, &queue, "add").arg(&state).arg(&sum).build()?;
    for step in 0..30_u32 {
        advance(&program, &queue, &seed, &state, step)?;
        // SAFETY: the kernel stays in the arrays.
        unsafe { add.enq()? };
        // Its commands are under way when it goes.
        let short = Queue::new(&context, device, None)?;
        queue.finish()?;
        let twice = kernel(&program, &short, "stir")
            .arg(&seed)
            .arg(&state)
            .arg(step)
            .build()?;
        // SAFETY: the same.
        unsafe { twice.enq()? };
        short.finish()?;
    }
    let mut found = vec![0.0; COUNT];
    sum.read(&mut found).enq()?;
    println!("sum {:?}", found.iter().sum::<f64>());
    Ok(())
}

fn array(queue: &Queue, numbers: &[u32]) -> ocl::Result<Buffer<u32>> {
    Buffer::builder()
        .queue(queue.clone())
        .len(numbers.len())
        .copy_host_slice(numbers)
        .build()
}

fn kernel<'b>(program: &'b Program, queue: &Queue, name: &'b str) -> ocl::builders::KernelBuilder<'b> {
    let mut kernel = Kernel::builder();
    kernel
        .program(program)
        .name(name)
        .queue(queue.clone())
        .global_work_size(COUNT);
    kernel
}

/// Several steps, of which each makes its kernel.
fn advance(
    program: &Program,
    queue: &Queue,
    seed: &Buffer<u32>,
    state: &Buffer<u32>,
    step: u32,
) -> ocl::Result<()> {
    for more in 0..4 {
        let stir = kernel(program, queue, "stir")
            .arg(seed)
            .arg(state)
            .arg(step * 4 + more)
            .build()?;
        // SAFETY: the kernel stays in the arrays.
        unsafe { stir.enq()? };
    }
    Ok(())
}
