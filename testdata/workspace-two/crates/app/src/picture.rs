use lattice::{Collision, Lattice, Node};
use std::io::{self, Write};

pub fn write<C: Collision>(path: &str, flow: &Lattice<C>) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(3 * flow.nx * flow.ny);
    let mut fastest = 1e-9;
    for k in 0..flow.nx * flow.ny {
        let m = flow.macroscopic(k % flow.nx, k / flow.nx);
        let speed = m.ux.hypot(m.uy);
        if speed > fastest && flow.node(k % flow.nx, k / flow.nx) == Node::Fluid {
            fastest = speed;
        }
    }
    for y in (0..flow.ny).rev() {
        for x in 0..flow.nx {
            let pixel = match flow.node(x, y) {
                Node::Wall | Node::Obstacle => [60, 60, 60],
                _ => {
                    let m = flow.macroscopic(x, y);
                    let s = (m.ux.hypot(m.uy) / fastest).min(1.0);
                    [(255.0 * s) as u8, (120.0 * s) as u8, (255.0 * (1.0 - s)) as u8]
                }
            };
            bytes.extend_from_slice(&pixel);
        }
    }
    let mut out = std::fs::File::create(path)?;
    write!(out, "P6\n{} {}\n255\n", flow.nx, flow.ny)?;
    out.write_all(&bytes)
}
