//! Shallow water with a pollutant in it (after shwa of Viñas and others, 2013), on a torus that is cut into three parts. Each
//! part is on a device, the first again where there are fewer; their edges go from one to the other through the host.

use ocl::{Buffer, Context, Device, MemFlags, Platform, Program, Queue};

const SOURCE: &str = r"
    /* Height of the water, its momentum along both axes, and what is in it; a row of a neighbour above and below. */
    #define AT(field, row, column) ((field) * (rows + 2) + (row)) * width + (column)

    void flows(__global const double *now, ulong rows, ulong width, ulong row, ulong column, double4 *along, double4 *across) {
        double height = now[AT(0, row, column)];
        double x = now[AT(1, row, column)], y = now[AT(2, row, column)];
        double dirt = now[AT(3, row, column)];
        double pressure = 0.5 * 9.81 * height * height;
        *along = (double4)(x, x * x / height + pressure, x * y / height, x * dirt / height);
        *across = (double4)(y, x * y / height, y * y / height + pressure, y * dirt / height);
    }

    /* A step of Lax and Friedrichs. */
    __kernel void flow(__global const double *now, __global double *next, ulong rows, ulong width, double ratio) {
        size_t row = get_global_id(0) + 1, column = get_global_id(1);
        size_t left = (column + width - 1) % width, right = (column + 1) % width;
        double4 west, east, north, south, unused;
        flows(now, rows, width, row, left, &west, &unused);
        flows(now, rows, width, row, right, &east, &unused);
        flows(now, rows, width, row - 1, column, &unused, &north);
        flows(now, rows, width, row + 1, column, &unused, &south);
        double4 change = 0.5 * ratio * (east - west + south - north);
        double changes[4] = {change.x, change.y, change.z, change.w};
        for (int field = 0; field < 4; field++) {
            double mean = 0.25 * (now[AT(field, row, left)] + now[AT(field, row, right)]
                + now[AT(field, row - 1, column)] + now[AT(field, row + 1, column)]);
            next[AT(field, row, column)] = mean - changes[field];
        }
    }
";

const PARTS: usize = 3;
const FIELDS: usize = 4;

/// How large a part is.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    width: usize,
}

impl Shape {
    /// Where a row of a field begins.
    fn at(self, field: usize, row: usize) -> usize {
        (field * (self.rows + 2) + row) * self.width
    }

    fn len(self) -> usize {
        self.at(FIELDS, 0)
    }
}

fn main() -> ocl::Result<()> {
    let rows = argument(1, 96);
    let steps = argument(2, 60);
    let shape = Shape {
        rows,
        width: PARTS * rows,
    };
    println!("water {:016x}", flow(shape, steps)?);
    Ok(())
}

fn flow(shape: Shape, steps: usize) -> ocl::Result<u64> {
    let start: Vec<Vec<f64>> = (0..PARTS).map(|part| start(shape, part)).collect();
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
    let first = Queue::new(&context, devices[0], None)?;
    let second = Queue::new(&context, devices[1 % devices.len()], None)?;
    let third = Queue::new(&context, devices[2 % devices.len()], None)?;

    let first_now = on_device(&first, &start[0])?;
    let second_now = on_device(&second, &start[1])?;
    let third_now = on_device(&third, &start[2])?;
    let first_next = on_device(&first, &start[0])?;
    let second_next = on_device(&second, &start[1])?;
    let third_next = on_device(&third, &start[2])?;
    for _ in 0..steps {
        step(&program, &first, shape, &first_now, &first_next)?;
        step(&program, &second, shape, &second_now, &second_next)?;
        step(&program, &third, shape, &third_now, &third_next)?;
        exchange([&first_next, &second_next, &third_next], shape)?;
        step(&program, &first, shape, &first_next, &first_now)?;
        step(&program, &second, shape, &second_next, &second_now)?;
        step(&program, &third, shape, &third_next, &third_now)?;
        exchange([&first_now, &second_now, &third_now], shape)?;
    }
    let mut found = start.clone();
    for (part, to) in [&first_now, &second_now, &third_now].iter().zip(&mut found) {
        part.read(to).enq()?;
    }
    verify(&start, &found, shape);
    let numbers = found.iter().flatten();
    Ok(numbers.fold(0, |sum: u64, number| {
        sum.wrapping_mul(31).wrapping_add(number.to_bits())
    }))
}

fn step(
    program: &Program,
    queue: &Queue,
    shape: Shape,
    now: &Buffer<f64>,
    next: &Buffer<f64>,
) -> ocl::Result<()> {
    let kernel = ocl::Kernel::builder()
        .program(program)
        .name("flow")
        .queue(queue.clone())
        .global_work_size((shape.rows, shape.width))
        .arg(now)
        .arg(next)
        .arg(shape.rows as u64)
        .arg(shape.width as u64)
        .arg(0.1)
        .build()?;
    // SAFETY: the kernel stays in the arrays, whose sizes it is told.
    unsafe { kernel.enq() }
}

/// The first and the last row of each part go to its neighbours.
fn exchange(parts: [&Buffer<f64>; PARTS], shape: Shape) -> ocl::Result<()> {
    let mut row = vec![0.0; shape.width];
    for (part, from) in parts.iter().enumerate() {
        let (before, behind) = (parts[(part + PARTS - 1) % PARTS], parts[(part + 1) % PARTS]);
        for field in 0..FIELDS {
            for (own, to, place) in [(1, before, shape.rows + 1), (shape.rows, behind, 0)] {
                from.read(&mut row).offset(shape.at(field, own)).enq()?;
                to.write(&row).offset(shape.at(field, place)).enq()?;
            }
        }
    }
    Ok(())
}

fn on_device(queue: &Queue, numbers: &[f64]) -> ocl::Result<Buffer<f64>> {
    Buffer::builder()
        .queue(queue.clone())
        .flags(MemFlags::new().read_write())
        .len(numbers.len())
        .copy_host_slice(numbers)
        .build()
}

/// A hill of water that comes down, with dirt at one side of it.
fn start(shape: Shape, part: usize) -> Vec<f64> {
    let mut state = vec![0.0; shape.len()];
    let side = (PARTS * shape.rows) as f64;
    for row in 0..shape.rows + 2 {
        for column in 0..shape.width {
            let here = (part * shape.rows + row + PARTS * shape.rows - 1) % (PARTS * shape.rows);
            let (down, right) = (here as f64 / side - 0.5, column as f64 / side - 0.4);
            state[shape.at(0, row) + column] = 1.0 + 0.5 * (-40.0 * (down * down + right * right)).exp();
            state[shape.at(3, row) + column] = if right > 0.1 { 0.2 } else { 0.0 };
        }
    }
    state
}

/// Neither water nor dirt gets lost, and all of it has moved.
fn verify(start: &[Vec<f64>], found: &[Vec<f64>], shape: Shape) {
    let sum = |parts: &[Vec<f64>], field: usize| -> f64 {
        let inner = |part: &Vec<f64>| -> f64 {
            part[shape.at(field, 1)..shape.at(field, shape.rows + 1)]
                .iter()
                .sum()
        };
        parts.iter().map(inner).sum()
    };
    for field in [0, 3] {
        let (before, after) = (sum(start, field), sum(found, field));
        assert!(
            (before - after).abs() < 1e-9 * before,
            "field {field}: {after}, not {before}"
        );
    }
    assert!(found.iter().flatten().all(|number| number.is_finite()));
    assert!(start != found, "nothing has moved");
}

fn argument(at: usize, usual: usize) -> usize {
    std::env::args()
        .nth(at)
        .map_or(usual, |text| text.parse().expect("a number"))
}
