use crate::linalg::{Csr, Triplets};
use crate::{Mesh, Real};

/// A bilinear form, as its matrix on one triangle.
pub trait Element<T> {
    fn local(&self, corners: [[T; 2]; 3], area: T) -> [[T; 3]; 3];
}

pub struct Stiffness<F>(pub F);
pub struct Mass<T>(pub T);

fn gradients<T: Real>([a, b, c]: [[T; 2]; 3], area: T) -> [[T; 2]; 3] {
    let s = T::ONE / (T::of(2.0) * area);
    [
        [(b[1] - c[1]) * s, (c[0] - b[0]) * s],
        [(c[1] - a[1]) * s, (a[0] - c[0]) * s],
        [(a[1] - b[1]) * s, (b[0] - a[0]) * s],
    ]
}

impl<T: Real, F: Fn(T, T) -> T> Element<T> for Stiffness<F> {
    fn local(&self, corners: [[T; 2]; 3], area: T) -> [[T; 3]; 3] {
        let third = T::of(1.0 / 3.0);
        let x = corners.iter().map(|p| p[0]).sum::<T>() * third;
        let y = corners.iter().map(|p| p[1]).sum::<T>() * third;
        let k = (self.0)(x, y) * area;
        let g = gradients(corners, area);
        g.map(|a| g.map(|b| k * (a[0] * b[0] + a[1] * b[1])))
    }
}

impl<T: Real> Element<T> for Mass<T> {
    fn local(&self, _: [[T; 2]; 3], area: T) -> [[T; 3]; 3] {
        let m = self.0 * area / T::of(12.0);
        let mut local = [[m; 3]; 3];
        for (i, row) in local.iter_mut().enumerate() {
            row[i] = T::of(2.0) * m;
        }
        local
    }
}

pub fn assemble<T: Real>(mesh: &Mesh<T>, element: &impl Element<T>) -> Csr<T> {
    let mut triplets = Triplets::new(mesh.points.len());
    for (t, nodes) in mesh.triangles.iter().enumerate() {
        let local = element.local(nodes.map(|k| mesh.points[k]), mesh.area(t));
        for (i, row) in nodes.iter().zip(&local) {
            for (j, v) in nodes.iter().zip(row) {
                triplets.add(*i, *j, *v);
            }
        }
    }
    triplets.compress()
}

pub fn load<T: Real>(mesh: &Mesh<T>, source: &dyn Fn(T, T) -> T) -> Vec<T> {
    let mut b = vec![T::ZERO; mesh.points.len()];
    for (t, nodes) in mesh.triangles.iter().enumerate() {
        let share = mesh.area(t) / T::of(3.0);
        for &k in nodes {
            let [x, y] = mesh.points[k];
            b[k] += share * source(x, y);
        }
    }
    b
}
