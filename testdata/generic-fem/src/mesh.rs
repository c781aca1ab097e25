use crate::Real;

/// Triangles of a rectangle, optionally with a hole.
#[derive(Clone, Debug)]
pub struct Mesh<T> {
    pub points: Vec<[T; 2]>,
    pub triangles: Vec<[usize; 3]>,
    pub boundary: Vec<bool>,
}

impl<T: Real> Mesh<T> {
    pub fn builder() -> MeshBuilder<T> {
        MeshBuilder { cells: (16, 16), size: (T::ONE, T::ONE), hole: None, grading: T::ONE }
    }

    pub fn area(&self, t: usize) -> T {
        let [a, b, c] = self.triangles[t].map(|k| self.points[k]);
        T::of(0.5) * ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]))
    }

    pub fn total_area(&self) -> T {
        (0..self.triangles.len()).map(|t| self.area(t)).sum()
    }
}

pub struct MeshBuilder<T> {
    cells: (usize, usize),
    size: (T, T),
    hole: Option<([T; 2], T)>,
    grading: T,
}

impl<T: Real> MeshBuilder<T> {
    pub fn cells(mut self, nx: usize, ny: usize) -> Self {
        self.cells = (nx, ny);
        self
    }

    pub fn size(mut self, width: T, height: T) -> Self {
        self.size = (width, height);
        self
    }

    pub fn hole(self, centre: [T; 2], radius: T) -> Self {
        MeshBuilder { hole: Some((centre, radius)), ..self }
    }

    /// Above 1: finer near the left.
    pub fn grading(mut self, g: T) -> Self {
        self.grading = g;
        self
    }

    pub fn build(self) -> Mesh<T> {
        let (nx, ny) = self.cells;
        let mut points = Vec::with_capacity((nx + 1) * (ny + 1));
        for j in 0..=ny {
            for i in 0..=nx {
                let s = T::of(i as f64 / nx as f64);
                let x = s * (T::ONE + (self.grading - T::ONE) * s) / self.grading;
                points.push([x * self.size.0, T::of(j as f64 / ny as f64) * self.size.1]);
            }
        }
        let inside_hole = |t: &[usize; 3]| match &self.hole {
            None => false,
            Some((c, r)) => {
                let third = T::of(1.0 / 3.0);
                let x = t.iter().map(|&k| points[k][0]).sum::<T>() * third - c[0];
                let y = t.iter().map(|&k| points[k][1]).sum::<T>() * third - c[1];
                x * x + y * y < *r * *r
            }
        };
        let mut triangles = vec![];
        for j in 0..ny {
            for i in 0..nx {
                let a = j * (nx + 1) + i;
                let (b, c, d) = (a + 1, a + nx + 2, a + nx + 1);
                let pair = if (i + j) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
                triangles.extend(pair.into_iter().filter(|t| !inside_hole(t)));
            }
        }
        let boundary = (0..points.len())
            .map(|k| {
                let (i, j) = (k % (nx + 1), k / (nx + 1));
                i == 0 || j == 0 || i == nx || j == ny
            })
            .collect();
        compact(points, triangles, boundary)
    }
}

/// Leaves out the points that no triangle uses.
fn compact<T: Real>(points: Vec<[T; 2]>, mut triangles: Vec<[usize; 3]>, boundary: Vec<bool>) -> Mesh<T> {
    let mut number = vec![None; points.len()];
    let mut kept = Vec::new();
    for t in &mut triangles {
        for k in t {
            *k = *number[*k].get_or_insert_with(|| {
                kept.push(*k);
                kept.len() - 1
            });
        }
    }
    Mesh {
        points: kept.iter().map(|&k| points[k]).collect(),
        boundary: kept.iter().map(|&k| boundary[k]).collect(),
        triangles,
    }
}
