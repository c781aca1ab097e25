//! Arrays in fields that change places: of a struct, of one in it, and of those in a list, with kernels that were made before; and
//! lists of arrays that do. The function with the loop knows the struct by a trait alone.

use ocl::{Buffer, Kernel, ProQue};
use std::mem;

const SOURCE: &str = "
    __kernel void advance(__global const uint *now, __global uint *next, uint salt) {
        uint at = get_global_id(0);
        next[at] = now[at] * 1664525u + (next[at] >> 3) + at + salt;
    }";

const COUNT: usize = 1000;

struct Pair {
    now: Buffer<u32>,
    next: Buffer<u32>,
    /// Made from the arrays where they were at first.
    there: Kernel,
    back: Kernel,
    steps: u32,
}

impl Pair {
    fn new(device: &ProQue) -> ocl::Result<Pair> {
        let now = device.create_buffer()?;
        let next = device.create_buffer()?;
        let there = device
            .kernel_builder("advance")
            .arg(&now)
            .arg(&next)
            .arg(3u32)
            .build()?;
        let back = device
            .kernel_builder("advance")
            .arg(&next)
            .arg(&now)
            .arg(5u32)
            .build()?;
        Ok(Pair {
            now,
            next,
            there,
            back,
            steps: 0,
        })
    }

    fn step(&mut self) -> ocl::Result<()> {
        let kernel = match self.steps % 2 {
            0 => &self.there,
            _ => &self.back,
        };
        // SAFETY: the kernel stays in the arrays.
        unsafe { kernel.enq()? };
        mem::swap(&mut self.now, &mut self.next);
        self.steps += 1;
        Ok(())
    }
}

struct All {
    device: ProQue,
    one: Pair,
    several: Vec<Pair>,
    old: Vec<Buffer<u32>>,
    new: Vec<Buffer<u32>>,
}

impl All {
    fn new() -> ocl::Result<All> {
        let device = ProQue::builder().src(SOURCE).dims(COUNT).build()?;
        let one = Pair::new(&device)?;
        let several = (0..3)
            .map(|_| Pair::new(&device))
            .collect::<ocl::Result<Vec<_>>>()?;
        let old = (0..2)
            .map(|_| device.create_buffer())
            .collect::<ocl::Result<Vec<_>>>()?;
        let new = (0..2)
            .map(|_| device.create_buffer())
            .collect::<ocl::Result<Vec<_>>>()?;
        Ok(All {
            device,
            one,
            several,
            old,
            new,
        })
    }
}

trait Steps {
    fn step(&mut self, step: u32) -> ocl::Result<()>;
}

impl Steps for All {
    fn step(&mut self, step: u32) -> ocl::Result<()> {
        self.one.step()?;
        for (number, pair) in self.several.iter_mut().enumerate() {
            if (step as usize).is_multiple_of(number + 1) {
                pair.step()?;
            }
        }
        for (old, new) in self.old.iter().zip(&self.new) {
            let kernel = self
                .device
                .kernel_builder("advance")
                .arg(old)
                .arg(new)
                .arg(step)
                .build()?;
            // SAFETY: the kernel stays in the arrays.
            unsafe { kernel.enq()? };
        }
        if step % 5 != 2 {
            mem::swap(&mut self.old, &mut self.new);
        }
        Ok(())
    }
}

fn run<S: Steps>(steps: &mut S, count: u32) -> ocl::Result<()> {
    for step in 0..count {
        steps.step(step)?;
    }
    Ok(())
}

fn main() -> ocl::Result<()> {
    let mut all = All::new()?;
    run(&mut all, 30)?;
    let pairs = [&all.one].into_iter().chain(&all.several);
    let of_pairs = pairs.flat_map(|pair| [&pair.now, &pair.next]);
    for array in of_pairs.chain(&all.old).chain(&all.new) {
        let mut found = vec![0; COUNT];
        array.read(&mut found).enq()?;
        let sum = found
            .iter()
            .fold(0_u32, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
        println!("sum {sum:08x}");
    }
    Ok(())
}
