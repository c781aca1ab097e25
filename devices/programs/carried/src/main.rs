//! Arrays that belong to something larger: a tuple, an option, structs in a struct and in a list. All of it is passed by value to
//! the function that computes, with the device and the queue.

use ocl::{Buffer, Context, Device, Kernel, Platform, Program, Queue};

const SOURCE: &str = "
    __kernel void stir(__global const uint *from, __global uint *to, uint more) {
        size_t at = get_global_id(0);
        to[at] = (to[at] ^ from[at]) * 1664525u + more;
    }";

const COUNT: usize = 300;

/// Two arrays that take turns.
struct Field {
    queue: Queue,
    now: Buffer<u32>,
    next: Buffer<u32>,
    steps: u32,
}

impl Field {
    fn new(queue: &Queue, seed: u32) -> ocl::Result<Field> {
        let now = array(queue, seed)?;
        let next = array(queue, seed + 1)?;
        Ok(Field {
            queue: queue.clone(),
            now,
            next,
            steps: seed,
        })
    }

    fn step(&mut self, program: &Program) -> ocl::Result<()> {
        let (from, to) = match self.steps % 2 {
            0 => (&self.now, &self.next),
            _ => (&self.next, &self.now),
        };
        stir(program, &self.queue, from, to, self.steps)?;
        self.steps += 1;
        Ok(())
    }

    fn sum(&self) -> ocl::Result<u32> {
        Ok(sum(&self.now)?.wrapping_mul(31).wrapping_add(sum(&self.next)?) ^ self.steps)
    }
}

/// Two fields, and what is between them.
struct Pair {
    left: Field,
    right: Field,
    border: Option<Buffer<u32>>,
}

struct World {
    pair: Pair,
    rounds: u32,
}

impl World {
    fn new(queue: &Queue) -> ocl::Result<World> {
        let left = Field::new(queue, 10)?;
        let right = Field::new(queue, 20)?;
        let border = Some(array(queue, 30)?);
        Ok(World {
            pair: Pair { left, right, border },
            rounds: 0,
        })
    }

    fn step(&mut self, program: &Program) -> ocl::Result<()> {
        self.pair.left.step(program)?;
        self.pair.right.step(program)?;
        if let Some(border) = &self.pair.border {
            stir(
                program,
                &self.pair.left.queue,
                &self.pair.left.now,
                border,
                self.rounds,
            )?;
            stir(
                program,
                &self.pair.left.queue,
                border,
                &self.pair.right.now,
                self.rounds,
            )?;
        }
        self.rounds += 1;
        Ok(())
    }
}

fn main() -> ocl::Result<()> {
    let platform = Platform::default();
    let device = Device::first(platform)?;
    let context = Context::builder().platform(platform).devices(device).build()?;
    let queue = Queue::new(&context, device, None)?;
    let world = World::new(&queue)?;
    let fields: Vec<Field> = (0..3)
        .map(|part| Field::new(&queue, part))
        .collect::<ocl::Result<_>>()?;
    let total = array(&queue, 40)?;
    let (parts, sum) = run(context, device, queue, world, fields, total)?;
    println!("sum {sum:08x} of {parts}");
    Ok(())
}

/// Everything is this function's own.
fn run(
    context: Context,
    device: Device,
    queue: Queue,
    mut world: World,
    mut fields: Vec<Field>,
    total: Buffer<u32>,
) -> ocl::Result<(usize, u32)> {
    let program = Program::builder().src(SOURCE).devices(device).build(&context)?;
    let (first, last) = both(&queue)?;
    let (other, mine) = with_queue(&context, device)?;
    let pair = both(&queue)?;
    for step in 0..20_u32 {
        world.step(&program)?;
        for field in &mut fields {
            field.step(&program)?;
        }
        stir(&program, &queue, &fields[step as usize % 3].now, &first, step)?;
        stir(&program, &queue, &first, &last, step)?;
        stir(&program, &queue, &pair.0, &pair.1, step)?;
        queue.finish()?;
        stir(&program, &other, &pair.1, &mine, step)?;
        other.finish()?;
        stir(&program, &queue, &mine, &total, step)?;
        queue.finish()?;
    }
    let arrays = [&first, &last, &pair.0, &pair.1, &mine, &total];
    let mut found = world.pair.left.sum()? ^ world.pair.right.sum()? ^ world.rounds;
    for array in arrays {
        found = found.wrapping_mul(31).wrapping_add(sum(array)?);
    }
    for field in &fields {
        found = found.wrapping_mul(31).wrapping_add(field.sum()?);
    }
    Ok((fields.len() + arrays.len(), found))
}

fn both(queue: &Queue) -> ocl::Result<(Buffer<u32>, Buffer<u32>)> {
    Ok((array(queue, 50)?, array(queue, 60)?))
}

fn with_queue(context: &Context, device: Device) -> ocl::Result<(Queue, Buffer<u32>)> {
    let queue = Queue::new(context, device, None)?;
    let array = array(&queue, 70)?;
    Ok((queue, array))
}

fn stir(
    program: &Program,
    queue: &Queue,
    from: &Buffer<u32>,
    to: &Buffer<u32>,
    more: u32,
) -> ocl::Result<()> {
    let kernel = Kernel::builder()
        .program(program)
        .name("stir")
        .queue(queue.clone())
        .global_work_size(COUNT)
        .arg(from)
        .arg(to)
        .arg(more)
        .build()?;
    // SAFETY: the kernel stays in the arrays.
    unsafe { kernel.enq() }
}

fn sum(array: &Buffer<u32>) -> ocl::Result<u32> {
    let mut found = vec![0; array.len()];
    array.read(&mut found).enq()?;
    Ok(found
        .iter()
        .fold(0, |sum, one| sum.wrapping_mul(31).wrapping_add(*one)))
}

fn array(queue: &Queue, factor: u32) -> ocl::Result<Buffer<u32>> {
    let numbers: Vec<u32> = (0..COUNT as u32).map(|at| at * factor).collect();
    Buffer::builder()
        .queue(queue.clone())
        .len(COUNT)
        .copy_host_slice(&numbers)
        .build()
}
