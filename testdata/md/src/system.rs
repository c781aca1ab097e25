use crate::vec3::Vec3;

pub struct System {
    side: f64,
    pub(crate) positions: Vec<Vec3>,
    pub(crate) velocities: Vec<Vec3>,
    pub(crate) forces: Vec<Vec3>,
    /// How often each atom left the box, per direction.
    images: Vec<Vec3<i32>>,
    start: Vec<Vec3>,
}

/// xorshift64*, which is good enough for velocities
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn gauss(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

impl System {
    pub fn fcc(cells: usize, density: f64) -> System {
        const BASIS: [Vec3; 4] = [
            Vec3::new(0.25, 0.25, 0.25),
            Vec3::new(0.75, 0.75, 0.25),
            Vec3::new(0.75, 0.25, 0.75),
            Vec3::new(0.25, 0.75, 0.75),
        ];
        let a = (4.0 / density).cbrt();
        let mut positions = Vec::with_capacity(4 * cells.pow(3));
        for i in 0..cells {
            for j in 0..cells {
                for k in 0..cells {
                    let corner = Vec3::new(i, j, k).map(|c| c as f64);
                    positions.extend(BASIS.iter().map(|&b| (corner + b) * a));
                }
            }
        }
        let n = positions.len();
        System {
            side: a * cells as f64,
            start: positions.clone(),
            positions,
            velocities: vec![Vec3::ZERO; n],
            forces: vec![Vec3::ZERO; n],
            images: vec![Vec3::default(); n],
        }
    }

    pub fn maxwell(&mut self, temperature: f64, seed: u64) {
        let mut random = Random(seed | 1);
        for v in &mut self.velocities {
            *v = Vec3::new(random.gauss(), random.gauss(), random.gauss());
        }
        let drift = self.momentum() * (1.0 / self.len() as f64);
        self.velocities.iter_mut().for_each(|v| *v -= drift);
        let scale = (temperature / self.temperature()).sqrt();
        self.scale_velocities(scale);
    }

    pub fn len(&self) -> usize {
        self.positions.len()
    }

    pub fn side(&self) -> f64 {
        self.side
    }

    pub fn momentum(&self) -> Vec3 {
        self.velocities.iter().copied().sum()
    }

    pub fn kinetic(&self) -> f64 {
        0.5 * self.velocities.iter().map(|v| v.norm2()).sum::<f64>()
    }

    pub fn temperature(&self) -> f64 {
        2.0 * self.kinetic() / (3.0 * (self.len() - 1) as f64)
    }

    pub fn scale_velocities(&mut self, by: f64) {
        for v in self.velocities.iter_mut() {
            *v = *v * by;
        }
    }

    /// Shortest vector between two atoms under periodic boundaries.
    #[inline]
    pub fn separation(&self, i: usize, j: usize) -> Vec3 {
        let side = self.side;
        (self.positions[i] - self.positions[j]).map(|c| {
            if c > 0.5 * side {
                c - side
            } else if c < -0.5 * side {
                c + side
            } else {
                c
            }
        })
    }

    /// Puts every atom back into the box and keeps the books.
    pub fn wrap(&mut self) {
        let side = self.side;
        let fold = |c: &mut f64, image: &mut i32| {
            while *c < 0.0 {
                *c += side;
                *image -= 1;
            }
            while *c >= side {
                *c -= side;
                *image += 1;
            }
        };
        for (p, image) in self.positions.iter_mut().zip(&mut self.images) {
            fold(&mut p.x, &mut image.x);
            fold(&mut p.y, &mut image.y);
            fold(&mut p.z, &mut image.z);
        }
    }

    pub fn mean_square_displacement(&self) -> f64 {
        let unfolded = self.positions.iter().zip(&self.images).map(|(p, i)| *p + self.side * i.map(f64::from));
        let total: f64 = unfolded.zip(&self.start).map(|(p, s)| (p - *s).norm2()).sum();
        total / self.len() as f64
    }
}
