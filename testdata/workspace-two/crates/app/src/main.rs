//! Flow past a cylinder: `lbm [STEPS] [REYNOLDS] [bgk|trt]`.

use std::fs::File;
use std::io::{BufWriter, Write};

use lattice::{Bgk, Collision, Lattice, Node, Obstacle, Real, Trt};

mod picture;

struct Drag {
    file: BufWriter<File>,
    scale: Real,
    last: Vec<Real>,
}

impl Drag {
    fn new(path: &str, scale: Real) -> std::io::Result<Self> {
        Ok(Drag { file: BufWriter::new(File::create(path)?), scale, last: Vec::new() })
    }

    fn note<C: Collision>(&mut self, step: usize, flow: &Lattice<C>) -> std::io::Result<bool> {
        let (fx, fy) = flow.force();
        let (drag, lift) = (fx * self.scale, fy * self.scale);
        writeln!(self.file, "{step} {drag:.9} {lift:.9}")?;
        self.last.push(drag);
        if self.last.len() > 8 {
            self.last.remove(0);
        }
        let (lo, hi) = self.last.iter().fold((Real::MAX, Real::MIN), |(lo, hi), &d| (lo.min(d), hi.max(d)));
        Ok(self.last.len() == 8 && hi - lo < 1e-7 * hi.abs())
    }
}

fn simulate<C: Collision>(mut flow: Lattice<C>, steps: usize, scale: Real) -> std::io::Result<Lattice<C>> {
    let mut drag = Drag::new("drag.txt", scale)?;
    for step in 1..=steps {
        flow.step();
        if step % 10 == 0 && drag.note(step, &flow)? {
            println!("steady after {step} steps");
            break;
        }
        if step % 200 == 0 {
            let m = flow.macroscopic(3 * flow.nx / 4, flow.ny / 2);
            println!("step {step}: mass {:.9}, behind the cylinder u = ({:+.6}, {:+.6})", flow.mass(), m.ux, m.uy);
        }
    }
    drag.file.flush()?;
    Ok(flow)
}

fn finish<C: Collision>(flow: &Lattice<C>) -> std::io::Result<()> {
    let mut sum = 0.0;
    for y in 0..flow.ny {
        for x in 0..flow.nx {
            if flow.node(x, y) == Node::Fluid {
                let m = flow.macroscopic(x, y);
                sum += m.ux * m.ux + m.uy * m.uy;
            }
        }
    }
    println!("kinetic energy {:.12e}", 0.5 * sum);
    picture::write("velocity.ppm", flow)
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let steps = args.first().map_or(1200, |a| a.parse().expect("STEPS"));
    let reynolds: Real = args.get(1).map_or(60.0, |a| a.parse().expect("REYNOLDS"));
    let kind = args.get(2).map(String::as_str).unwrap_or("trt");

    let (nx, ny) = (160, 50);
    let radius = 5.5;
    let inflow = 0.08;
    let nu = inflow * 2.0 * radius / reynolds;
    let obstacles =
        vec![Obstacle::Cylinder { x: 35.0, y: 24.2, r: radius as f64 }, Obstacle::Plate { x: 110, from: 0, to: 6 }];
    let scale = 1.0 / (inflow * inflow * radius);

    let result = match kind {
        "bgk" => {
            let collision = Bgk { omega: 1.0 / (3.0 * nu + 0.5) };
            println!("BGK, viscosity {:.6}", collision.viscosity());
            simulate(Lattice::channel(nx, ny, &obstacles, inflow, collision), steps, scale).and_then(|f| finish(&f))
        }
        "trt" => {
            let collision = Trt::with_viscosity(nu);
            println!("TRT, viscosity {:.6}", collision.viscosity());
            simulate(Lattice::channel(nx, ny, &obstacles, inflow, collision), steps, scale).and_then(|f| finish(&f))
        }
        _ => {
            eprintln!("unknown collision {kind}");
            std::process::exit(2);
        }
    };
    if let Err(e) = result {
        eprintln!("lbm: {e}");
        std::process::exit(1);
    }
}
