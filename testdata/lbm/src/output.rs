//! Frames as PPM pictures.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::solver::Lbm;

fn colour(t: f64) -> [u8; 3] {
    let t = t.clamp(0.0, 1.0);
    let ramp = |centre: f64| ((1.5 - (4.0 * t - centre).abs()).clamp(0.0, 1.0) * 255.0) as u8;
    [ramp(3.0), ramp(2.0), ramp(1.0)]
}

pub fn write_frame(path: impl AsRef<Path>, lbm: &Lbm) -> io::Result<()> {
    let (nx, ny) = (lbm.params().nx, lbm.params().ny);
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "P6\n{nx} {ny}\n255")?;
    let scale = 2.5 * lbm.params().u_in;
    for y in (0..ny).rev() {
        for x in 0..nx {
            let rgb = if lbm.is_solid(x, y) {
                [40, 40, 40]
            } else {
                colour(lbm.speed(x, y) / scale)
            };
            out.write_all(&rgb)?;
        }
    }
    out.flush()
}
