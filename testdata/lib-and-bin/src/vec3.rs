use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Vec3 {
    x: f64,
    y: f64,
    z: f64,
}

impl Vec3 {
    pub const ZERO: Vec3 = Vec3 { x: 0.0, y: 0.0, z: 0.0 };

    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Vec3 { x, y, z }
    }

    pub fn norm2(self) -> f64 {
        self.x * self.x + self.y * self.y + self.z * self.z
    }

    pub fn components(self) -> [f64; 3] {
        [self.x, self.y, self.z]
    }

    /// The same point inside the box [0, side)^3.
    pub fn wrapped(self, side: f64) -> Self {
        let w = |c: f64| c - side * (c / side).floor();
        Vec3::new(w(self.x), w(self.y), w(self.z))
    }

    /// The shortest of all images of this difference.
    pub fn nearest_image(self, side: f64) -> Self {
        let w = |c: f64| c - side * (c / side).round();
        Vec3::new(w(self.x), w(self.y), w(self.z))
    }
}

macro_rules! componentwise {
    ($($Trait:ident $method:ident $op:tt),*) => {$(
        impl $Trait for Vec3 {
            type Output = Vec3;
            fn $method(self, o: Vec3) -> Vec3 {
                Vec3::new(self.x $op o.x, self.y $op o.y, self.z $op o.z)
            }
        }
    )*};
}

componentwise!(Add add +, Sub sub -);

impl AddAssign for Vec3 {
    fn add_assign(&mut self, o: Vec3) {
        *self = *self + o;
    }
}

impl SubAssign for Vec3 {
    fn sub_assign(&mut self, o: Vec3) {
        *self = *self - o;
    }
}

impl Mul<f64> for Vec3 {
    type Output = Vec3;
    fn mul(self, k: f64) -> Vec3 {
        Vec3::new(self.x * k, self.y * k, self.z * k)
    }
}

impl Div<f64> for Vec3 {
    type Output = Vec3;
    fn div(self, k: f64) -> Vec3 {
        self * (1.0 / k)
    }
}

impl Sum for Vec3 {
    fn sum<I: Iterator<Item = Vec3>>(iter: I) -> Vec3 {
        iter.fold(Vec3::ZERO, |a, b| a + b)
    }
}
