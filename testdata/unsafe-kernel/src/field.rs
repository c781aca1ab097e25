use std::alloc::{self, Layout};
use std::ops::{Index, IndexMut};

/// A velocity model and the wave field on it.
pub struct Wave {
    pub nx: usize,
    pub ny: usize,
    pub h: f64,
    pub dt: f64,
    v2dt2: Vec<f64>,
    prev: Vec<f64>,
    now: Vec<f64>,
    next: Vec<f64>,
    taper: Box<[f64]>,
}

impl Wave {
    pub fn new(nx: usize, ny: usize, h: f64, velocity: impl Fn(usize, usize) -> f64) -> Wave {
        let n = nx * ny;
        let mut v = zeroed(n);
        let mut fastest = 0.0f64;
        for y in 0..ny {
            for x in 0..nx {
                let c = velocity(x, y);
                fastest = fastest.max(c);
                v[y * nx + x] = c;
            }
        }
        let dt = 0.5 * h / fastest;
        v.iter_mut().for_each(|c| *c = (*c * dt).powi(2));
        let width = 20usize;
        let taper: Vec<f64> = (0..width).map(|d| (-(0.015 * (width - d) as f64).powi(2)).exp()).collect();
        Wave {
            nx,
            ny,
            h,
            dt,
            v2dt2: v,
            prev: zeroed(n),
            now: zeroed(n),
            next: zeroed(n),
            taper: taper.into_boxed_slice(),
        }
    }

    /// One time step with a source value put in at (x, y).
    pub fn step(&mut self, source: (usize, usize), amplitude: f64) {
        use crate::kernels::{propagate, sponge, HALO};
        let (nx, ny) = (self.nx, self.ny);
        assert!(nx > 2 * HALO && ny > 2 * HALO);
        let inv_h2 = 1.0 / (self.h * self.h);
        const BLOCK: usize = 32;
        let mut y = HALO;
        while y < ny - HALO {
            let end = (y + BLOCK).min(ny - HALO);
            // SAFETY: all four fields have nx * ny elements and `next` is a vector of its own
            unsafe {
                propagate(
                    self.next.as_mut_ptr(),
                    self.now.as_ptr(),
                    self.prev.as_ptr(),
                    self.v2dt2.as_ptr(),
                    nx,
                    nx,
                    (y, end),
                    inv_h2,
                );
            }
            y = end;
        }
        self[source] += amplitude;
        // prev <- now <- next <- prev
        std::mem::swap(&mut self.prev, &mut self.now);
        std::mem::swap(&mut self.now, &mut self.next);
        sponge(&mut self.now, nx, ny, &self.taper);
        sponge(&mut self.prev, nx, ny, &self.taper);
    }

    pub fn now(&self) -> &[f64] {
        &self.now
    }
}

impl Index<(usize, usize)> for Wave {
    type Output = f64;
    fn index(&self, (x, y): (usize, usize)) -> &f64 {
        &self.now[y * self.nx + x]
    }
}

/// Writing goes to the step that is being made.
impl IndexMut<(usize, usize)> for Wave {
    fn index_mut(&mut self, (x, y): (usize, usize)) -> &mut f64 {
        &mut self.next[y * self.nx + x]
    }
}

/// Zeroed memory straight from the allocator: pages that are never touched are never there.
fn zeroed(n: usize) -> Vec<f64> {
    assert!(n > 0);
    let layout = Layout::array::<f64>(n).expect("field too large");
    // SAFETY: the layout is that of a Vec<f64> of capacity n; all bits zero is 0.0
    unsafe {
        let p = alloc::alloc_zeroed(layout) as *mut f64;
        if p.is_null() {
            alloc::handle_alloc_error(layout);
        }
        Vec::from_raw_parts(p, n, n)
    }
}
