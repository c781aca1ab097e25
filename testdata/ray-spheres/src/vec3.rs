use std::ops::{Add, Mul, Neg, Sub};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vec3(pub f64, pub f64, pub f64);

impl Vec3 {
    pub fn dot(self, o: Vec3) -> f64 {
        self.0 * o.0 + self.1 * o.1 + self.2 * o.2
    }
    pub fn cross(self, o: Vec3) -> Vec3 {
        Vec3(self.1 * o.2 - self.2 * o.1, self.2 * o.0 - self.0 * o.2, self.0 * o.1 - self.1 * o.0)
    }
    pub fn unit(self) -> Vec3 {
        self * (1.0 / self.dot(self).sqrt())
    }
    pub fn reflect(self, n: Vec3) -> Vec3 {
        self - n * (2.0 * self.dot(n))
    }
    pub fn refract(self, n: Vec3, eta: f64) -> Vec3 {
        let cos = (-self.dot(n)).min(1.0);
        let perp = (self + n * cos) * eta;
        perp - n * (1.0 - perp.dot(perp)).abs().sqrt()
    }
    pub fn to_rgb(self) -> [u8; 3] {
        [self.0, self.1, self.2].map(|c| (256.0 * c.max(0.0).sqrt().clamp(0.0, 0.999)) as u8)
    }
}

impl Add for Vec3 {
    type Output = Vec3;
    fn add(self, o: Vec3) -> Vec3 {
        Vec3(self.0 + o.0, self.1 + o.1, self.2 + o.2)
    }
}
impl Sub for Vec3 {
    type Output = Vec3;
    fn sub(self, o: Vec3) -> Vec3 {
        Vec3(self.0 - o.0, self.1 - o.1, self.2 - o.2)
    }
}
impl Mul<f64> for Vec3 {
    type Output = Vec3;
    fn mul(self, s: f64) -> Vec3 {
        Vec3(self.0 * s, self.1 * s, self.2 * s)
    }
}
impl Mul for Vec3 {
    type Output = Vec3;
    fn mul(self, o: Vec3) -> Vec3 {
        Vec3(self.0 * o.0, self.1 * o.1, self.2 * o.2)
    }
}
impl Neg for Vec3 {
    type Output = Vec3;
    fn neg(self) -> Vec3 {
        self * -1.0
    }
}
