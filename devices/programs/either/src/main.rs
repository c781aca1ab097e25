//! A ring of numbers that is computed by OpenCL or by Vulkan, as the variable `RING_BY` says (`opencl`, `vulkan`). All numbers are
//! whole and small, so that both compute the same.

mod opencl;
mod vulkan;

use opencl::OnOpenCl;
use vulkan::OnVulkan;

const COUNT: usize = 600;

/// The one or the other is there.
struct Ring {
    opencl: Option<OnOpenCl>,
    vulkan: Option<OnVulkan>,
    steps: u32,
}

impl Ring {
    fn new() -> Ring {
        let begin: Vec<f32> = (0..COUNT).map(|at| (at * at % 61) as f32).collect();
        let opencl = match is_by_opencl() {
            true => Some(OnOpenCl::new(&begin).expect("a device of OpenCL")),
            false => None,
        };
        let vulkan = match is_by_opencl() {
            true => None,
            false => Some(OnVulkan::new(&begin)),
        };
        Ring {
            opencl,
            vulkan,
            steps: 0,
        }
    }

    fn step(&mut self) {
        if let Some(ring) = &self.opencl {
            ring.step(self.steps).expect("a step");
        }
        if let Some(ring) = &self.vulkan {
            ring.step(self.steps);
        }
        self.steps += 1;
    }

    fn numbers(&self) -> Vec<f32> {
        match (&self.opencl, &self.vulkan) {
            (Some(ring), _) => ring.numbers(self.steps).expect("numbers"),
            (_, Some(ring)) => ring.numbers(self.steps),
            _ => Vec::new(),
        }
    }
}

fn is_by_opencl() -> bool {
    std::env::var("RING_BY").as_deref() != Ok("vulkan")
}

fn main() {
    let mut ring = Ring::new();
    let mut sums = Vec::new();
    for step in 0..30_u32 {
        ring.step();
        if step % 5 == 4 {
            sums.push(ring.numbers().iter().sum::<f32>());
        }
    }
    let sum = ring
        .numbers()
        .iter()
        .fold(0_u32, |sum, one| sum.wrapping_mul(31).wrapping_add(*one as u32));
    println!("{sums:?} {sum:08x} after {}", ring.steps);
}
