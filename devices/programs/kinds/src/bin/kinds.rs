//! Arrays whose elements are no plain numbers: vectors, of three numbers as well, a list of arrays of them, structs with bytes in
//! them that belong to no field, and structs that another one holds.

use ocl::prm::{Float3, Float4, Int2};
use ocl::{Buffer, Context, Device, Kernel, OclPrm, Platform, Program, Queue};

const SOURCE: &str = "
    typedef struct { float4 at; uint kind; uchar mark; ulong age; } Cell;
    __kernel void stir(__global float4 *points, __global float3 *colours, __global int2 *left, __global int2 *right,
                       __global Cell *cells, int step) {
        size_t at = get_global_id(0);
        points[at] = points[at] * 0.5f + (float4)(step, at, 1.0f, 2.0f);
        colours[at] = colours[at] * 0.25f + points[at].xyz;
        left[at] += right[at] * step;
        right[at].x ^= left[at].y;
        cells[at].at += points[at];
        cells[at].kind = cells[at].kind * 1664525u + step;
        cells[at].mark += 1;
        cells[at].age += cells[at].kind;
    }";

const COUNT: usize = 400;

/// As the kernel has it: there are bytes between `mark` and `age`.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Cell {
    at: [f32; 4],
    kind: u32,
    mark: u8,
    age: u64,
}

// SAFETY: the struct is laid out as that of the kernel.
unsafe impl OclPrm for Cell {}

struct Cells {
    array: Buffer<Cell>,
    steps: u32,
}

impl Cells {
    fn new(queue: &Queue) -> ocl::Result<Cells> {
        let cell = |at: usize| Cell {
            at: [at as f32; 4],
            kind: at as u32,
            mark: at as u8,
            age: 7,
        };
        let cells: Vec<Cell> = (0..COUNT).map(cell).collect();
        let array = array(queue, &cells)?;
        Ok(Cells { array, steps: 0 })
    }
}

fn main() -> ocl::Result<()> {
    let platform = Platform::default();
    let device = Device::first(platform)?;
    let context = Context::builder().platform(platform).devices(device).build()?;
    let program = Program::builder().src(SOURCE).devices(device).build(&context)?;
    let queue = Queue::new(&context, device, None)?;
    let points = array(&queue, &vec![Float4::new(1.0, 2.0, 3.0, 4.0); COUNT])?;
    let colours: Buffer<Float3> = Buffer::builder()
        .queue(queue.clone())
        .len(COUNT)
        .fill_val(Float3::new(0.5, 0.25, 0.125))
        .build()?;
    let pairs: Vec<Buffer<Int2>> = (1..3)
        .map(|side| array(&queue, &vec![Int2::new(side, -side); COUNT]))
        .collect::<ocl::Result<_>>()?;
    let mut cells = Cells::new(&queue)?;
    for step in 0..24_i32 {
        let stir = Kernel::builder()
            .program(&program)
            .name("stir")
            .queue(queue.clone())
            .global_work_size(COUNT)
            .arg(&points)
            .arg(&colours)
            .arg(&pairs[0])
            .arg(&pairs[1])
            .arg(&cells.array)
            .arg(step)
            .build()?;
        // SAFETY: the kernel stays in the arrays.
        unsafe { stir.enq()? };
        cells.steps += 1;
    }
    queue.finish()?;
    println!("points {:016x}", sum(&points)?);
    println!("colours {:016x}", sum(&colours)?);
    println!("pairs {:016x} {:016x}", sum(&pairs[0])?, sum(&pairs[1])?);
    println!("cells {:016x} after {}", sum(&cells.array)?, cells.steps);
    Ok(())
}

fn array<T: OclPrm>(queue: &Queue, elements: &[T]) -> ocl::Result<Buffer<T>> {
    Buffer::builder()
        .queue(queue.clone())
        .len(elements.len())
        .copy_host_slice(elements)
        .build()
}

fn sum<T: OclPrm>(array: &Buffer<T>) -> ocl::Result<u64> {
    let mut found = vec![T::default(); array.len()];
    array.read(&mut found).enq()?;
    let text = format!("{found:?}");
    Ok(text.bytes().fold(0, |sum: u64, one| {
        sum.wrapping_mul(31).wrapping_add(u64::from(one))
    }))
}
