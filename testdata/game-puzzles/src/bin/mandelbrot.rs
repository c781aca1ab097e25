// The Computer Language Benchmarks Game: mandelbrot
// as a PBM bitmap on standard output

use std::io::{self, BufWriter, StdoutLock, Write};

const ITER: usize = 50;
const LIMIT: f64 = 4.0;

fn inside(cr: f64, ci: f64) -> bool {
    let (mut zr, mut zi, mut tr, mut ti) = (0.0, 0.0, 0.0, 0.0);
    for _ in 0..ITER {
        zi = 2.0 * zr * zi + ci;
        zr = tr - ti + cr;
        tr = zr * zr;
        ti = zi * zi;
        if tr + ti > LIMIT {
            return false;
        }
    }
    true
}

fn row(y: usize, n: usize, out: &mut BufWriter<StdoutLock<'static>>) -> io::Result<u32> {
    let ci = 2.0 * y as f64 / n as f64 - 1.0;
    let mut black = 0;
    let mut byte = 0u8;
    let mut filled = 0;
    for x in 0..n {
        let cr = 2.0 * x as f64 / n as f64 - 1.5;
        let bit = inside(cr, ci);
        black += u32::from(bit);
        byte = byte << 1 | u8::from(bit);
        filled += 1;
        if filled == 8 {
            out.write_all(&[byte])?;
            byte = 0;
            filled = 0;
        }
    }
    if filled > 0 {
        out.write_all(&[byte << (8 - filled)])?;
    }
    Ok(black)
}

fn main() -> io::Result<()> {
    let n = std::env::args().nth(1).map_or(3000, |s| s.parse().unwrap());
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "P4\n{n} {n}")?;
    let mut black = 0u64;
    for y in 0..n {
        black += u64::from(row(y, n, &mut out)?);
    }
    out.flush()?;
    eprintln!("{black} of {} points are inside", n * n);
    Ok(())
}
