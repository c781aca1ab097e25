//! Heat that spreads on a graph: again and again a sparse matrix in compressed rows (CSR) times a vector, on a device. Each
//! kernel is made once, by a function that is lent the arrays.

use ocl::{Buffer, Context, Device, Kernel, MemFlags, OclPrm, Platform, Program, Queue};

const SOURCE: &str = r"
    __kernel void product(
        __global const uint *starts,
        __global const uint *columns,
        __global const double *weights,
        __global const double *from,
        __global double *to
    ) {
        size_t row = get_global_id(0);
        double sum = 0.0;
        for (uint at = starts[row]; at < starts[row + 1]; at++) {
            sum += weights[at] * from[columns[at]];
        }
        to[row] = sum;
    }
";

/// A matrix in compressed rows.
struct Matrix {
    starts: Vec<u32>,
    columns: Vec<u32>,
    weights: Vec<f64>,
}

fn main() -> ocl::Result<()> {
    let rows = argument(1, 20_000);
    let steps = argument(2, 60);
    println!("heat {:016x}", spread(rows, steps)?);
    Ok(())
}

fn spread(rows: usize, steps: usize) -> ocl::Result<u64> {
    let matrix = graph(rows);
    let heat: Vec<f64> = (0..rows).map(|row| (row % 17) as f64).collect();

    let platform = Platform::default();
    let device = Device::first(platform)?;
    let context = Context::builder().platform(platform).devices(device).build()?;
    let program = Program::builder().src(SOURCE).devices(device).build(&context)?;
    let queue = Queue::new(&context, device, None)?;

    let starts = on_device(&queue, &matrix.starts)?;
    let columns = on_device(&queue, &matrix.columns)?;
    let weights = on_device(&queue, &matrix.weights)?;
    let even = on_device(&queue, &heat)?;
    let odd = on_device(&queue, &vec![0.0; rows])?;
    let arrays = (&starts, &columns, &weights);
    let forth = product(&program, &queue, arrays, &even, &odd)?;
    let back = product(&program, &queue, arrays, &odd, &even)?;
    for _ in 0..steps {
        // SAFETY: the kernels stay in the arrays: one work item for each row.
        unsafe {
            forth.enq()?;
            back.enq()?;
        }
    }
    let mut found = vec![0.0; rows];
    even.read(&mut found).enq()?;
    verify(&matrix, &heat, &found, steps);
    Ok(found.iter().fold(0, |sum: u64, heat| {
        sum.wrapping_mul(31).wrapping_add(heat.to_bits())
    }))
}

/// The kernel that multiplies the matrix with one vector, and writes another.
fn product(
    program: &Program,
    queue: &Queue,
    (starts, columns, weights): (&Buffer<u32>, &Buffer<u32>, &Buffer<f64>),
    from: &Buffer<f64>,
    to: &Buffer<f64>,
) -> ocl::Result<Kernel> {
    Kernel::builder()
        .program(program)
        .name("product")
        .queue(queue.clone())
        .global_work_size(to.len())
        .arg(starts)
        .arg(columns)
        .arg(weights)
        .arg(from)
        .arg(to)
        .build()
}

fn on_device<T: OclPrm>(queue: &Queue, numbers: &[T]) -> ocl::Result<Buffer<T>> {
    Buffer::builder()
        .queue(queue.clone())
        .flags(MemFlags::new().read_write())
        .len(numbers.len())
        .copy_host_slice(numbers)
        .build()
}

/// Each place has a few neighbours, and takes a part of its heat from each. No heat is lost.
fn graph(rows: usize) -> Matrix {
    let mut matrix = Matrix {
        starts: vec![0],
        columns: Vec::new(),
        weights: Vec::new(),
    };
    for row in 0..rows {
        let neighbours = [row, row + 1, row + rows - 1, row + 7, row + rows - 7];
        for (at, neighbour) in neighbours.iter().enumerate() {
            matrix.columns.push((neighbour % rows) as u32);
            matrix.weights.push([0.5, 0.15, 0.15, 0.1, 0.1][at]);
        }
        matrix.starts.push(matrix.columns.len() as u32);
    }
    matrix
}

/// The same on the host, which may round otherwise.
fn verify(matrix: &Matrix, heat: &[f64], found: &[f64], steps: usize) {
    let mut now = heat.to_vec();
    for _ in 0..2 * steps {
        let row = |ends: &[u32]| {
            (ends[0] as usize..ends[1] as usize)
                .map(|at| matrix.weights[at] * now[matrix.columns[at] as usize])
                .sum()
        };
        now = matrix.starts.windows(2).map(row).collect();
    }
    for (row, (found, here)) in found.iter().zip(&now).enumerate() {
        assert!((found - here).abs() < 1e-9, "row {row}: {found}, not {here}");
    }
}

fn argument(at: usize, usual: usize) -> usize {
    std::env::args()
        .nth(at)
        .map_or(usual, |text| text.parse().expect("a number"))
}
