//! The smallest use of the library: -div grad u = 1 on the unit square.

use fem::assembly::{assemble, load, Stiffness};
use fem::linalg::Cg;
use fem::Mesh;

fn main() {
    for n in [4, 8, 16, 32] {
        let mesh = Mesh::<f64>::builder().cells(n, n).build();
        let mut k = assemble(&mesh, &Stiffness(|_, _| 1.0));
        let mut b = load(&mesh, &|_, _| 1.0);
        for (b, fixed) in b.iter_mut().zip(&mesh.boundary) {
            if *fixed {
                *b = 0.0;
            }
        }
        k.fix(&mesh.boundary);
        let mut u = vec![0.0; b.len()];
        let outcome = Cg::new(&k, 1e-12).solve(&b, &mut u).unwrap();
        let top = u.iter().copied().fold(0.0, f64::max);
        println!("{n:3} cells: max {top:.8} after {} iterations", outcome.iterations);
    }
}
