// the four operators, borders and norms; every grid is m x m x m with one layer of ghosts

pub fn cube(m: usize) -> usize { m * m * m }

macro_rules! at {
    ($m:expr; $i:expr, $j:expr, $k:expr) => {
        (($k) * $m + ($j)) * $m + ($i)
    };
}

/// comm3 organizes the communication on all borders
pub fn comm3(u: &mut [f64], m: usize) {
    // axis = 1
    for i3 in 1..m - 1 {
        for i2 in 1..m - 1 {
            u[at!(m; 0, i2, i3)] = u[at!(m; m - 2, i2, i3)];
            u[at!(m; m - 1, i2, i3)] = u[at!(m; 1, i2, i3)];
        }
    }
    // axis = 2
    for i3 in 1..m - 1 {
        for i1 in 0..m {
            u[at!(m; i1, 0, i3)] = u[at!(m; i1, m - 2, i3)];
            u[at!(m; i1, m - 1, i3)] = u[at!(m; i1, 1, i3)];
        }
    }
    // axis = 3
    for i2 in 0..m {
        for i1 in 0..m {
            u[at!(m; i1, i2, 0)] = u[at!(m; i1, i2, m - 2)];
            u[at!(m; i1, i2, m - 1)] = u[at!(m; i1, i2, 1)];
        }
    }
}

pub fn zero3(z: &mut [f64], m: usize) {
    for value in &mut z[..cube(m)] { *value = 0.0; }
}

/// resid computes the residual:  r = v - Au
pub fn resid(u: &[f64], v: &[f64], r: &mut [f64], m: usize, a: &[f64; 4]) {
    let mut u1 = vec![0.0; m];
    let mut u2 = vec![0.0; m];
    for i3 in 1..m - 1 {
        for i2 in 1..m - 1 {
            for i1 in 0..m {
                u1[i1] = u[at!(m; i1, i2 - 1, i3)] + u[at!(m; i1, i2 + 1, i3)]
                       + u[at!(m; i1, i2, i3 - 1)] + u[at!(m; i1, i2, i3 + 1)];
                u2[i1] = u[at!(m; i1, i2 - 1, i3 - 1)] + u[at!(m; i1, i2 + 1, i3 - 1)]
                       + u[at!(m; i1, i2 - 1, i3 + 1)] + u[at!(m; i1, i2 + 1, i3 + 1)];
            }
            for i1 in 1..m - 1 {
                // assume a(1) = 0, i.e. the term a(1) * (u(i1-1) + u(i1+1) + u1(i1)) is gone
                r[at!(m; i1, i2, i3)] = v[at!(m; i1, i2, i3)]
                    - a[0] * u[at!(m; i1, i2, i3)]
                    - a[2] * (u2[i1] + u1[i1 - 1] + u1[i1 + 1])
                    - a[3] * (u2[i1 - 1] + u2[i1 + 1]);
            }
        }
    }
    // exchange boundary data
    comm3(r, m);
}

/// psinv applies an approximate inverse as smoother:  u = u + Cr
pub fn psinv(r: &[f64], u: &mut [f64], m: usize, c: &[f64; 4]) {
    let mut r1 = vec![0.0; m];
    let mut r2 = vec![0.0; m];
    for i3 in 1..m - 1 {
        for i2 in 1..m - 1 {
            for i1 in 0..m {
                r1[i1] = r[at!(m; i1, i2 - 1, i3)] + r[at!(m; i1, i2 + 1, i3)]
                       + r[at!(m; i1, i2, i3 - 1)] + r[at!(m; i1, i2, i3 + 1)];
                r2[i1] = r[at!(m; i1, i2 - 1, i3 - 1)] + r[at!(m; i1, i2 + 1, i3 - 1)]
                       + r[at!(m; i1, i2 - 1, i3 + 1)] + r[at!(m; i1, i2 + 1, i3 + 1)];
            }
            for i1 in 1..m - 1 {
                // assume c(3) = 0
                u[at!(m; i1, i2, i3)] += c[0] * r[at!(m; i1, i2, i3)]
                    + c[1] * (r[at!(m; i1 - 1, i2, i3)] + r[at!(m; i1 + 1, i2, i3)] + r1[i1])
                    + c[2] * (r2[i1] + r1[i1 - 1] + r1[i1 + 1]);
            }
        }
    }
    comm3(u, m);
}

/// rprj3 projects onto the next coarser grid, using a trilinear finite element projection:  s = P r
pub fn rprj3(r: &[f64], mk: usize, s: &mut [f64], mj: usize) {
    let mut x1 = vec![0.0; mk];
    let mut y1 = vec![0.0; mk];
    for j3 in 1..mj - 1 {
        let i3 = 2 * j3;
        for j2 in 1..mj - 1 {
            let i2 = 2 * j2;
            let faces = |i: usize| {
                r[at!(mk; i, i2 - 1, i3)] + r[at!(mk; i, i2 + 1, i3)]
                    + r[at!(mk; i, i2, i3 - 1)] + r[at!(mk; i, i2, i3 + 1)]
            };
            let edges = |i: usize| {
                r[at!(mk; i, i2 - 1, i3 - 1)] + r[at!(mk; i, i2 - 1, i3 + 1)]
                    + r[at!(mk; i, i2 + 1, i3 - 1)] + r[at!(mk; i, i2 + 1, i3 + 1)]
            };
            for j1 in 1..mj {
                let i1 = 2 * j1;
                x1[i1 - 1] = faces(i1 - 1);
                y1[i1 - 1] = edges(i1 - 1);
            }
            for j1 in 1..mj - 1 {
                let i1 = 2 * j1;
                let y2 = edges(i1);
                let x2 = faces(i1);
                s[at!(mj; j1, j2, j3)] = 0.5 * r[at!(mk; i1, i2, i3)]
                    + 0.25 * (r[at!(mk; i1 - 1, i2, i3)] + r[at!(mk; i1 + 1, i2, i3)] + x2)
                    + 0.125 * (x1[i1 - 1] + x1[i1 + 1] + y2)
                    + 0.0625 * (y1[i1 - 1] + y1[i1 + 1]);
            }
        }
    }
    comm3(s, mj);
}

/// interp adds the trilinear interpolation of the correction from the coarser grid:  u = u + Qu'
pub fn interp(z: &[f64], mm: usize, u: &mut [f64], n: usize) {
    let (mut z1, mut z2, mut z3) = (vec![0.0; mm], vec![0.0; mm], vec![0.0; mm]);
    for i3 in 0..mm - 1 {
        for i2 in 0..mm - 1 {
            for i1 in 0..mm {
                z1[i1] = z[at!(mm; i1, i2 + 1, i3)] + z[at!(mm; i1, i2, i3)];
                z2[i1] = z[at!(mm; i1, i2, i3 + 1)] + z[at!(mm; i1, i2, i3)];
                z3[i1] = z[at!(mm; i1, i2 + 1, i3 + 1)] + z[at!(mm; i1, i2, i3 + 1)] + z1[i1];
            }
            for i1 in 0..mm - 1 {
                u[at!(n; 2 * i1, 2 * i2, 2 * i3)] += z[at!(mm; i1, i2, i3)];
                u[at!(n; 2 * i1 + 1, 2 * i2, 2 * i3)] += 0.5 * (z[at!(mm; i1 + 1, i2, i3)] + z[at!(mm; i1, i2, i3)]);
            }
            for i1 in 0..mm - 1 {
                u[at!(n; 2 * i1, 2 * i2 + 1, 2 * i3)] += 0.5 * z1[i1];
                u[at!(n; 2 * i1 + 1, 2 * i2 + 1, 2 * i3)] += 0.25 * (z1[i1] + z1[i1 + 1]);
            }
            for i1 in 0..mm - 1 {
                u[at!(n; 2 * i1, 2 * i2, 2 * i3 + 1)] += 0.5 * z2[i1];
                u[at!(n; 2 * i1 + 1, 2 * i2, 2 * i3 + 1)] += 0.25 * (z2[i1] + z2[i1 + 1]);
            }
            for i1 in 0..mm - 1 {
                u[at!(n; 2 * i1, 2 * i2 + 1, 2 * i3 + 1)] += 0.25 * z3[i1];
                u[at!(n; 2 * i1 + 1, 2 * i2 + 1, 2 * i3 + 1)] += 0.125 * (z3[i1] + z3[i1 + 1]);
            }
        }
    }
}

/// norm2u3 evaluates approximations to the L2 norm and the uniform (or L-infinity or Chebyshev) norm
pub fn norm2u3(r: &[f64], m: usize, nx: usize) -> (f64, f64) {
    let mut s = 0.0;
    let mut rnmu = 0.0;
    for i3 in 1..m - 1 {
        for i2 in 1..m - 1 {
            for i1 in 1..m - 1 {
                let x = r[at!(m; i1, i2, i3)];
                s += x * x;
                let a = x.abs();
                if a > rnmu { rnmu = a; }
            }
        }
    }
    ((s / (nx * nx * nx) as f64).sqrt(), rnmu)
}
