//! The hot part. Bounds are checked once by `Field`, never here.

/// 8th order coefficients of the second derivative.
pub const C: [f64; 5] = [-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0];
pub const HALO: usize = 4;

/// p_next = 2 p - p_prev + v2dt2 * laplacian(p), rows `y0..y1`.
///
/// # Safety
/// All pointers must be valid for `stride * ny` doubles, `next` must not overlap the others, and
/// `HALO <= y0 <= y1 <= ny - HALO`.
pub unsafe fn propagate(
    next: *mut f64,
    now: *const f64,
    prev: *const f64,
    v2: *const f64,
    stride: usize,
    nx: usize,
    (y0, y1): (usize, usize),
    inv_h2: f64,
) {
    let s = stride as isize;
    for y in y0..y1 {
        let row = (y * stride) as isize;
        for x in HALO..nx - HALO {
            let i = row + x as isize;
            let p = now.offset(i);
            let mut lap = 2.0 * C[0] * *p;
            let mut k = 1isize;
            while k <= HALO as isize {
                let c = *C.get_unchecked(k as usize);
                lap += c * (*p.offset(k) + *p.offset(-k) + *p.offset(k * s) + *p.offset(-k * s));
                k += 1;
            }
            *next.offset(i) = 2.0 * *p - *prev.offset(i) + *v2.offset(i) * inv_h2 * lap;
        }
    }
}

/// Multiplies by the taper of the sponge; `taper` has one entry per distance from the edge.
pub fn sponge(field: &mut [f64], nx: usize, ny: usize, taper: &[f64]) {
    assert_eq!(field.len(), nx * ny);
    assert!(nx >= 2 * taper.len() && ny >= 2 * taper.len());
    let width = taper.len();
    for y in 0..ny {
        let dy = y.min(ny - 1 - y);
        for x in 0..nx {
            let d = dy.min(x.min(nx - 1 - x));
            if d < width {
                // SAFETY: x < nx, y < ny, d < width
                unsafe {
                    *field.get_unchecked_mut(y * nx + x) *= *taper.get_unchecked(d);
                }
            }
        }
    }
}

/// Sum of squares, four at a time.
pub fn energy(field: &[f64]) -> f64 {
    let n = field.len() / 4 * 4;
    let mut acc = [0.0f64; 4];
    let mut p = field.as_ptr();
    // SAFETY: `end` is within the slice
    let end = unsafe { p.add(n) };
    while p != end {
        unsafe {
            for (k, a) in acc.iter_mut().enumerate() {
                let v = *p.add(k);
                *a += v * v;
            }
            p = p.add(4);
        }
    }
    let rest: f64 = field[n..].iter().map(|v| v * v).sum();
    acc.iter().sum::<f64>() + rest
}
