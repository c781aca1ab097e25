use fem::assembly::{assemble, load, Mass, Stiffness};
use fem::transient::{Problem, Scheme, StepInfo};
use fem::{Mesh, Real};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

struct Args {
    single: bool,
    cells: usize,
    steps: usize,
    scheme: Scheme,
}

fn args() -> Result<Args, Box<dyn Error>> {
    let mut a = Args { single: false, cells: 40, steps: 300, scheme: Scheme::CrankNicolson };
    let mut it = std::env::args().skip(1);
    while let Some(word) = it.next() {
        let mut value = || it.next().ok_or(format!("{word} wants a value"));
        match &word[..] {
            "--single" => a.single = true,
            "--cells" => a.cells = value()?.parse()?,
            "--steps" => a.steps = value()?.parse()?,
            "--scheme" => a.scheme = value()?.parse()?,
            _ => return Err(format!("unknown option {word}").into()),
        }
    }
    Ok(a)
}

fn heat<T: Real>(a: &Args) -> Result<(), Box<dyn Error>> {
    let mesh: Mesh<T> = Mesh::builder()
        .cells(2 * a.cells, a.cells)
        .size(T::of(2.0), T::ONE)
        .hole([T::of(0.8), T::of(0.45)], T::of(0.2))
        .grading(T::of(1.5))
        .build();
    println!("{} points, {} triangles, area {:.6}", mesh.points.len(), mesh.triangles.len(), mesh.total_area());

    let conductivity = |x: T, _y: T| if x < T::ONE { T::ONE } else { T::of(0.2) };
    let problem = Problem {
        mass: assemble(&mesh, &Mass(T::ONE)),
        stiffness: assemble(&mesh, &Stiffness(conductivity)),
        fixed: mesh.boundary.clone(),
    };
    let spot = load(&mesh, &|x, y| {
        let (dx, dy) = (x - T::of(1.5), y - T::of(0.5));
        if dx * dx + dy * dy < T::of(0.04) {
            T::of(10.0)
        } else {
            T::ZERO
        }
    });
    let u0: Vec<T> = mesh.points.iter().zip(&mesh.boundary).map(|(p, b)| if *b { p[1] } else { T::ZERO }).collect();

    let probe = mesh.points.len() / 2;
    let mut out = BufWriter::new(File::create("probe.dat")?);
    let mut total = 0;
    let mut failed = None;
    let u = problem.integrate(
        a.scheme,
        u0,
        T::of(0.002),
        a.steps,
        |t| {
            let k = if t < T::of(0.3) { T::ONE } else { T::of(0.1) };
            spot.iter().map(|s| k * *s).collect()
        },
        |StepInfo { step, time, u, iterations }| {
            total += iterations;
            if let Err(e) = writeln!(out, "{step} {time:.6} {:.9e} {iterations}", u[probe]) {
                failed = Some(e);
                return false;
            }
            if step % 50 == 0 {
                println!("step {step:4}: {:.7} at the probe, {iterations} iterations", u[probe]);
            }
            true
        },
    )?;
    if let Some(e) = failed {
        return Err(e.into());
    }
    out.flush()?;
    println!("{total} iterations in all");
    write_vtk("heat.vtk", &mesh, &u)?;
    Ok(())
}

fn write_vtk<T: Real>(path: &str, mesh: &Mesh<T>, u: &[T]) -> std::io::Result<()> {
    let mut w = BufWriter::new(File::create(path)?);
    writeln!(w, "# vtk DataFile Version 3.0\nheat\nASCII\nDATASET UNSTRUCTURED_GRID")?;
    writeln!(w, "POINTS {} double", mesh.points.len())?;
    for [x, y] in &mesh.points {
        writeln!(w, "{x:.6} {y:.6} 0")?;
    }
    writeln!(w, "CELLS {} {}", mesh.triangles.len(), 4 * mesh.triangles.len())?;
    for [a, b, c] in &mesh.triangles {
        writeln!(w, "3 {a} {b} {c}")?;
    }
    writeln!(w, "CELL_TYPES {}\n{}", mesh.triangles.len(), "5\n".repeat(mesh.triangles.len()).trim_end())?;
    writeln!(w, "POINT_DATA {}\nSCALARS u double 1\nLOOKUP_TABLE default", u.len())?;
    for v in u {
        writeln!(w, "{v:.9e}")?;
    }
    w.flush()
}

fn main() -> Result<(), Box<dyn Error>> {
    let a = args()?;
    if a.single {
        heat::<f32>(&a)
    } else {
        heat::<f64>(&a)
    }
}
