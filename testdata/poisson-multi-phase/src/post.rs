use crate::mesh::Mesh;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};

pub type Flux = (f64, f64);

pub fn fluxes(mesh: &Mesh, x: &[f64]) -> Vec<Flux> {
    mesh.triangles
        .iter()
        .map(|t| {
            let (grad, _) = mesh.gradients(t);
            let k = mesh.conductivity(t);
            t.nodes.iter().zip(&grad).fold((0.0, 0.0), |q, (n, g)| (q.0 - k * x[*n] * g.0, q.1 - k * x[*n] * g.1))
        })
        .collect()
}

/// Averages the fluxes over the triangles around each node and back; returns the largest change.
pub fn smooth(mesh: &Mesh, flux: &mut [Flux]) -> f64 {
    let mut at_node = vec![(0.0, 0.0, 0.0); mesh.nodes.len()];
    for (t, q) in mesh.triangles.iter().zip(flux.iter()) {
        let (_, area) = mesh.gradients(t);
        for &n in &t.nodes {
            at_node[n].0 += area * q.0;
            at_node[n].1 += area * q.1;
            at_node[n].2 += area;
        }
    }
    let mut change = 0.0f64;
    for (t, q) in mesh.triangles.iter().zip(flux.iter_mut()) {
        let mean = t.nodes.iter().fold((0.0, 0.0), |m, &n| {
            let (x, y, w) = at_node[n];
            (m.0 + x / w / 3.0, m.1 + y / w / 3.0)
        });
        let new = (0.7 * q.0 + 0.3 * mean.0, 0.7 * q.1 + 0.3 * mean.1);
        change = change.max((new.0 - q.0).hypot(new.1 - q.1));
        *q = new;
    }
    change
}

pub fn heat_by_material<'m>(mesh: &'m Mesh, x: &[f64]) -> BTreeMap<&'m str, f64> {
    let mut sums = BTreeMap::new();
    for t in &mesh.triangles {
        let (_, area) = mesh.gradients(t);
        let mean = t.nodes.iter().map(|&n| x[n]).sum::<f64>() / 3.0;
        *sums.entry(mesh.materials[&t.material].name.as_str()).or_insert(0.0) += mean * area;
    }
    sums
}

pub fn write_temperatures(path: &str, mesh: &Mesh, x: &[f64]) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for (n, t) in mesh.nodes.iter().zip(x) {
        writeln!(out, "{:9.6} {:9.6} {:12.9}", n.x, n.y, t)?;
    }
    out.flush()
}

pub fn write_fluxes(path: &str, mesh: &Mesh, flux: &[Flux]) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for (t, (qx, qy)) in mesh.triangles.iter().zip(flux) {
        let cx = t.nodes.iter().map(|&n| mesh.nodes[n].x).sum::<f64>() / 3.0;
        let cy = t.nodes.iter().map(|&n| mesh.nodes[n].y).sum::<f64>() / 3.0;
        writeln!(out, "{cx:.6} {cy:.6} {qx:.9} {qy:.9}")?;
    }
    out.flush()
}
