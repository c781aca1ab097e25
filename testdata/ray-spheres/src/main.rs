mod vec3;

use rayon::prelude::*;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use vec3::Vec3;

#[derive(Debug, Clone, Copy)]
enum Material {
    Matte(Vec3),
    Mirror { tint: Vec3, fuzz: f64 },
    Glass(f64),
}

#[derive(Debug, Clone)]
struct Sphere {
    center: Vec3,
    radius: f64,
    material: Material,
}

struct Ray {
    origin: Vec3,
    dir: Vec3,
}

struct Hit<'a> {
    t: f64,
    point: Vec3,
    normal: Vec3,
    front: bool,
    sphere: &'a Sphere,
}

/// xorshift64*, one per pixel so that the picture does not depend on the threads
struct Rng(u64);

impl Rng {
    fn for_pixel(x: usize, y: usize) -> Self {
        let mut rng = Rng(0x9E37_79B9_7F4A_7C15 ^ ((y as u64) << 32 | x as u64).wrapping_mul(0xD134_2543_DE82_EF95));
        for _ in 0..4 {
            rng.next();
        }
        rng
    }
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }
    fn in_sphere(&mut self) -> Vec3 {
        loop {
            let p = Vec3(2.0 * self.next() - 1.0, 2.0 * self.next() - 1.0, 2.0 * self.next() - 1.0);
            if p.dot(p) < 1.0 {
                return p;
            }
        }
    }
}

struct World {
    spheres: Vec<Sphere>,
}

impl World {
    fn new() -> Self {
        let mut spheres = vec![Sphere {
            center: Vec3(0.0, -1000.0, 0.0),
            radius: 1000.0,
            material: Material::Matte(Vec3(0.5, 0.5, 0.5)),
        }];
        let mut rng = Rng(4711);
        for a in -4..4 {
            for b in -4..4 {
                let choose = rng.next();
                let center = Vec3(a as f64 + 0.9 * rng.next(), 0.2, b as f64 + 0.9 * rng.next());
                let color = Vec3(rng.next(), rng.next(), rng.next());
                let material = match choose {
                    c if c < 0.7 => Material::Matte(color * color),
                    c if c < 0.9 => Material::Mirror { tint: color, fuzz: 0.3 * rng.next() },
                    _ => Material::Glass(1.5),
                };
                spheres.push(Sphere { center, radius: 0.2, material });
            }
        }
        spheres.push(Sphere { center: Vec3(0.0, 1.0, 0.0), radius: 1.0, material: Material::Glass(1.5) });
        World { spheres }
    }

    fn hit(&self, ray: &Ray) -> Option<Hit<'_>> {
        let mut best: Option<(f64, &Sphere)> = None;
        for s in &self.spheres {
            let oc = ray.origin - s.center;
            let a = ray.dir.dot(ray.dir);
            let half_b = oc.dot(ray.dir);
            let disc = half_b * half_b - a * (oc.dot(oc) - s.radius * s.radius);
            if disc < 0.0 {
                continue;
            }
            let limit = best.map_or(f64::INFINITY, |(t, _)| t);
            let near = [(-half_b - disc.sqrt()) / a, (-half_b + disc.sqrt()) / a];
            if let Some(t) = near.into_iter().find(|t| *t > 1e-3 && *t < limit) {
                best = Some((t, s));
            }
        }
        best.map(|(t, sphere)| {
            let point = ray.origin + ray.dir * t;
            let outward = (point - sphere.center) * (1.0 / sphere.radius);
            let front = ray.dir.dot(outward) < 0.0;
            Hit { t, point, normal: if front { outward } else { -outward }, front, sphere }
        })
    }

    fn color(&self, ray: &Ray, rng: &mut Rng, depth: u32) -> Vec3 {
        if depth == 0 {
            return Vec3(0.0, 0.0, 0.0);
        }
        let Some(hit) = self.hit(ray) else {
            let t = 0.5 * (ray.dir.unit().1 + 1.0);
            return Vec3(1.0, 1.0, 1.0) * (1.0 - t) + Vec3(0.5, 0.7, 1.0) * t;
        };
        debug_assert!(hit.t > 0.0);
        let (tint, dir) = match hit.sphere.material {
            Material::Matte(c) => (c, hit.normal + rng.in_sphere().unit()),
            Material::Mirror { tint, fuzz } => {
                let dir = ray.dir.unit().reflect(hit.normal) + rng.in_sphere() * fuzz;
                if dir.dot(hit.normal) <= 0.0 {
                    return Vec3(0.0, 0.0, 0.0);
                }
                (tint, dir)
            }
            Material::Glass(index) => {
                let eta = if hit.front { 1.0 / index } else { index };
                let d = ray.dir.unit();
                let cos = (-d.dot(hit.normal)).min(1.0);
                let r0 = ((1.0 - eta) / (1.0 + eta)).powi(2);
                let schlick = r0 + (1.0 - r0) * (1.0 - cos).powi(5);
                let reflects = eta * (1.0 - cos * cos).sqrt() > 1.0 || schlick > rng.next();
                let dir = if reflects { d.reflect(hit.normal) } else { d.refract(hit.normal, eta) };
                (Vec3(1.0, 1.0, 1.0), dir)
            }
        };
        tint * self.color(&Ray { origin: hit.point, dir }, rng, depth - 1)
    }
}

struct Camera {
    origin: Vec3,
    corner: Vec3,
    across: Vec3,
    up: Vec3,
}

impl Camera {
    fn new(from: Vec3, to: Vec3, fov: f64, aspect: f64) -> Self {
        let h = (fov.to_radians() / 2.0).tan();
        let w = (from - to).unit();
        let u = Vec3(0.0, 1.0, 0.0).cross(w).unit();
        let v = w.cross(u);
        let (across, up) = (u * (2.0 * h * aspect), v * (2.0 * h));
        Camera { origin: from, corner: from - across * 0.5 - up * 0.5 - w, across, up }
    }
    fn ray(&self, s: f64, t: f64) -> Ray {
        Ray { origin: self.origin, dir: self.corner + self.across * s + self.up * t - self.origin }
    }
}

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let width: usize = args.next().and_then(|a| a.parse().ok()).unwrap_or(320);
    let samples: usize = args.next().and_then(|a| a.parse().ok()).unwrap_or(40);
    let height = width * 9 / 16;

    let world = World::new();
    let camera = Camera::new(Vec3(13.0, 2.0, 3.0), Vec3(0.0, 0.5, 0.0), 20.0, width as f64 / height as f64);
    eprintln!("{} spheres, {}x{}, {} samples", world.spheres.len(), width, height, samples);

    let rows: Vec<Vec<[u8; 3]>> = (0..height)
        .into_par_iter()
        .map(|j| {
            let y = height - 1 - j;
            (0..width)
                .map(|x| {
                    let mut rng = Rng::for_pixel(x, y);
                    let mut sum = Vec3(0.0, 0.0, 0.0);
                    for _ in 0..samples {
                        let s = (x as f64 + rng.next()) / width as f64;
                        let t = (y as f64 + rng.next()) / height as f64;
                        sum = sum + world.color(&camera.ray(s, t), &mut rng, 20);
                    }
                    (sum * (1.0 / samples as f64)).to_rgb()
                })
                .collect()
        })
        .collect();

    let mut out = BufWriter::new(File::create("spheres.ppm")?);
    writeln!(out, "P3\n{} {}\n255", width, height)?;
    for row in &rows {
        for [r, g, b] in row {
            writeln!(out, "{r} {g} {b}")?;
        }
    }
    let light: u64 = rows.par_iter().flatten().map(|p| p.iter().map(|c| *c as u64).sum::<u64>()).sum();
    println!("mean brightness {:.6}", light as f64 / (3 * width * height) as f64);
    out.flush()
}
