//! The shortest paths between all pairs of a graph's vertices (Floyd and Warshall), on a device: a kernel for each vertex
//! that paths may lead through.

use ocl::{Buffer, MemFlags, ProQue, Queue};

const SOURCE: &str = r"
    __kernel void through(__global uint *distance, uint vertices, uint middle) {
        size_t from = get_global_id(0), to = get_global_id(1);
        uint around = distance[from * vertices + middle] + distance[middle * vertices + to];
        if (around < distance[from * vertices + to]) {
            distance[from * vertices + to] = around;
        }
    }
";

/// Where there is no edge: twice that is still a number.
const FAR: u32 = 1 << 30;

fn main() -> ocl::Result<()> {
    let vertices: usize = argument(1, 192);
    println!("checksum {:016x}", paths(vertices)?);
    Ok(())
}

fn paths(vertices: usize) -> ocl::Result<u64> {
    let edges = graph(vertices);
    let device = ProQue::builder().src(SOURCE).dims((vertices, vertices)).build()?;
    let distance: Buffer<u32> = on_device(device.queue(), &edges)?;
    for middle in 0..vertices {
        let kernel = device
            .kernel_builder("through")
            .arg(&distance)
            .arg(vertices as u32)
            .arg(middle as u32)
            .build()?;
        // SAFETY: the kernel stays in the array, whose size it is told.
        unsafe { kernel.enq()? };
    }
    let mut found = vec![0; vertices * vertices];
    distance.read(&mut found).enq()?;
    verify(&edges, &found, vertices);
    Ok(found.iter().fold(0u64, |sum, &length| {
        sum.wrapping_mul(31).wrapping_add(length.into())
    }))
}

fn on_device(queue: &Queue, numbers: &[u32]) -> ocl::Result<Buffer<u32>> {
    Buffer::builder()
        .queue(queue.clone())
        .flags(MemFlags::new().read_write())
        .len(numbers.len())
        .copy_host_slice(numbers)
        .build()
}

/// A few edges from each vertex, the same in every run.
fn graph(vertices: usize) -> Vec<u32> {
    let mut edges = vec![FAR; vertices * vertices];
    let mut state = 12345_u32;
    for from in 0..vertices {
        edges[from * vertices + from] = 0;
        for _ in 0..4 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let to = (state >> 8) as usize % vertices;
            if to != from {
                edges[from * vertices + to] = 1 + (state >> 24);
            }
        }
    }
    edges
}

/// No edge makes a path shorter, and each path ends with an edge.
fn verify(edges: &[u32], found: &[u32], vertices: usize) {
    for from in 0..vertices {
        for to in 0..vertices {
            let by_edge = |last: usize| found[from * vertices + last] + edges[last * vertices + to];
            let best = (0..vertices).filter(|&last| last != to).map(by_edge).min();
            let best = if from == to {
                0
            } else {
                best.unwrap_or(FAR).min(FAR)
            };
            assert_eq!(found[from * vertices + to].min(FAR), best, "from {from} to {to}");
        }
    }
}

fn argument(at: usize, usual: usize) -> usize {
    std::env::args()
        .nth(at)
        .map_or(usual, |text| text.parse().expect("a number"))
}
