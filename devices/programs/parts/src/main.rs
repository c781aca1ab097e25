//! Arrays in a list, one for each part of what is computed, and in a struct, with the queue that they are reached by and how often it
//! has done something. Two threads share the device in each step.

use ocl::{Buffer, Context, Device, Kernel, Platform, Program, Queue};

const SOURCE: &str = "
    __kernel void stir(__global const uint *seed, __global uint *state, uint more) {
        size_t at = get_global_id(0);
        state[at] = (state[at] ^ seed[at]) * 1664525u + more;
    }";

const COUNT: usize = 500;

struct Mixer {
    queue: Queue,
    program: Program,
    seed: Buffer<u32>,
    sums: [Buffer<u32>; 2],
    rounds: u32,
}

impl Mixer {
    fn new(context: &Context) -> ocl::Result<Mixer> {
        let device = context.devices()[0];
        let queue = Queue::new(context, device, None)?;
        let program = Program::builder().src(SOURCE).devices(device).build(context)?;
        let seed = array(&queue, 3)?;
        let sums = [array(&queue, 5)?, array(&queue, 7)?];
        Ok(Mixer {
            queue,
            program,
            seed,
            sums,
            rounds: 0,
        })
    }

    fn mix(&mut self, into: &Buffer<u32>) -> ocl::Result<()> {
        let which = self.rounds as usize % 2;
        self.stir(&self.seed, &self.sums[which])?;
        self.stir(&self.sums[which], into)?;
        self.rounds += 1;
        Ok(())
    }

    fn stir(&self, from: &Buffer<u32>, to: &Buffer<u32>) -> ocl::Result<()> {
        let kernel = Kernel::builder()
            .program(&self.program)
            .name("stir")
            .queue(self.queue.clone())
            .global_work_size(COUNT)
            .arg(from)
            .arg(to)
            .arg(self.rounds)
            .build()?;
        // SAFETY: the kernel stays in the arrays.
        unsafe { kernel.enq() }
    }
}

fn main() -> ocl::Result<()> {
    let platform = Platform::default();
    let context = Context::builder()
        .platform(platform)
        .devices(Device::first(platform)?)
        .build()?;
    let queue = Queue::new(&context, context.devices()[0], None)?;
    let parts: Vec<Buffer<u32>> = (0..4)
        .map(|part| array(&queue, part))
        .collect::<ocl::Result<_>>()?;
    let mut mixer = Mixer::new(&context)?;
    for step in 0..30_usize {
        mixer.mix(&parts[step % parts.len()])?;
        shared(&mixer, &parts)?;
        mixer.queue.finish()?;
    }
    let mut sum = 0_u32;
    for array in parts.iter().chain(&mixer.sums) {
        let mut found = vec![0; COUNT];
        array.read(&mut found).enq()?;
        sum = found
            .iter()
            .fold(sum, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
    }
    println!("sum {sum:08x} rounds {}", mixer.rounds);
    Ok(())
}

/// Each thread has two of the parts.
fn shared(mixer: &Mixer, parts: &[Buffer<u32>]) -> ocl::Result<()> {
    std::thread::scope(|scope| {
        let pairs = parts.chunks(2);
        let threads: Vec<_> = pairs
            .map(|pair| scope.spawn(move || mixer.stir(&pair[0], &pair[1])))
            .collect();
        let mut ended = threads.into_iter().map(|thread| thread.join().expect("a thread"));
        ended.try_for_each(|ended| ended)
    })
}

fn array(queue: &Queue, factor: u32) -> ocl::Result<Buffer<u32>> {
    let numbers: Vec<u32> = (0..COUNT as u32).map(|at| at * factor).collect();
    Buffer::builder()
        .queue(queue.clone())
        .len(COUNT)
        .copy_host_slice(&numbers)
        .build()
}
