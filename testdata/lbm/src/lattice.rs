//! The D2Q9 lattice.

/// Number of directions.
pub const Q: usize = 9;

pub const CX: [i32; Q] = [0, 1, 0, -1, 0, 1, -1, -1, 1];
pub const CY: [i32; Q] = [0, 0, 1, 0, -1, 1, 1, -1, -1];
pub const OPPOSITE: [usize; Q] = [0, 3, 4, 1, 2, 7, 8, 5, 6];

pub const W: [f64; Q] = [
    4.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
];

#[inline]
pub fn equilibrium(q: usize, rho: f64, ux: f64, uy: f64) -> f64 {
    let cu = CX[q] as f64 * ux + CY[q] as f64 * uy;
    let uu = ux * ux + uy * uy;
    W[q] * rho * (1.0 + 3.0 * cu + 4.5 * cu * cu - 1.5 * uu)
}

/// Density and velocity of one cell's populations.
#[inline]
pub fn moments(f: &[f64]) -> (f64, f64, f64) {
    let mut rho = 0.0;
    let (mut mx, mut my) = (0.0, 0.0);
    for q in 0..Q {
        rho += f[q];
        mx += f[q] * CX[q] as f64;
        my += f[q] * CY[q] as f64;
    }
    (rho, mx / rho, my / rho)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one() {
        assert!((W.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn opposite_is_involution() {
        for q in 0..Q {
            assert_eq!(OPPOSITE[OPPOSITE[q]], q);
            assert_eq!(CX[q], -CX[OPPOSITE[q]]);
        }
    }

    #[test]
    fn equilibrium_has_its_moments() {
        let f: Vec<f64> = (0..Q).map(|q| equilibrium(q, 1.1, 0.05, -0.02)).collect();
        let (rho, ux, uy) = moments(&f);
        assert!((rho - 1.1).abs() < 1e-12 && (ux - 0.05).abs() < 1e-12 && (uy + 0.02).abs() < 1e-12);
    }
}
