//! A tumbling rigid body on a ballistic path, watched by two noisy radars and a gyroscope.
//! An extended Kalman filter follows the path, a complementary filter the attitude.

use nalgebra as na;
use na::{Matrix3, SMatrix, SVector, UnitQuaternion, Vector3};
use rand_distr::{Distribution, Normal};
use rand_pcg::Pcg64;

mod ekf;
mod rigid;

use ekf::Ekf;
use rigid::Body;

type State = SVector<f64, 6>;

struct Radar {
    at: Vector3<f64>,
    range: Normal<f64>,
    angle: Normal<f64>,
}

impl Radar {
    fn new(x: f64, y: f64, range_sigma: f64, angle_sigma: f64) -> Radar {
        Radar {
            at: Vector3::new(x, y, 0.0),
            range: Normal::new(0.0, range_sigma).unwrap(),
            angle: Normal::new(0.0, angle_sigma).unwrap(),
        }
    }

    /// Range, azimuth and elevation.
    fn ideal(&self, p: &Vector3<f64>) -> Vector3<f64> {
        let d = p - self.at;
        let flat = d.x.hypot(d.y);
        Vector3::new(d.norm(), d.y.atan2(d.x), d.z.atan2(flat))
    }

    fn measure(&self, p: &Vector3<f64>, rng: &mut Pcg64) -> Vector3<f64> {
        let exact = self.ideal(p);
        exact + Vector3::new(self.range.sample(rng), self.angle.sample(rng), self.angle.sample(rng))
    }

    fn jacobian(&self, x: &State) -> SMatrix<f64, 3, 6> {
        let eps = 1e-4;
        let mut h = SMatrix::<f64, 3, 6>::zeros();
        for c in 0..3 {
            let (mut a, mut b) = (*x, *x);
            a[c] += eps;
            b[c] -= eps;
            let d = self.ideal(&a.fixed_rows::<3>(0).into_owned()) - self.ideal(&b.fixed_rows::<3>(0).into_owned());
            h.set_column(c, &(d / (2.0 * eps)));
        }
        h
    }

    fn noise(&self) -> Matrix3<f64> {
        Matrix3::from_diagonal(&Vector3::new(
            self.range.std_dev().powi(2),
            self.angle.std_dev().powi(2),
            self.angle.std_dev().powi(2),
        ))
    }
}

const G: f64 = 9.80665;
const DRAG: f64 = 2.5e-4;

fn acceleration(v: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(0.0, 0.0, -G) - v * (DRAG * v.norm())
}

fn predict_state(x: &State, dt: f64) -> State {
    let f = |s: &State| -> State {
        let v = s.fixed_rows::<3>(3).into_owned();
        let a = acceleration(&v);
        State::from_iterator(v.iter().chain(a.iter()).copied())
    };
    let k1 = f(x);
    let k2 = f(&(x + k1 * (0.5 * dt)));
    let k3 = f(&(x + k2 * (0.5 * dt)));
    let k4 = f(&(x + k3 * dt));
    x + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (dt / 6.0)
}

fn main() {
    let steps = std::env::args().nth(1).map(|s| s.parse::<usize>().unwrap()).unwrap_or(24_000);
    let dt = 0.002;

    let mut rng = Pcg64::new(0xcafef00dd15ea5e5, 0xa02bdbf7bb3c0a7ac28fa16a64abf96);
    let gyro_noise = Normal::new(0.0, 0.02).unwrap();
    let radars = [Radar::new(-400.0, 120.0, 2.0, 0.002), Radar::new(900.0, -700.0, 5.0, 0.001)];

    let mut truth = State::from_column_slice(&[0.0, 0.0, 10.0, 110.0, 25.0, 230.0]);
    let mut body = Body::new(Vector3::new(0.4, 0.9, 1.7), Vector3::new(0.1, 2.0, 0.05));
    let mut attitude = UnitQuaternion::identity();
    let mut filter = Ekf::new(
        truth + State::from_column_slice(&[30.0, -20.0, 15.0, 5.0, -3.0, 8.0]),
        SMatrix::<f64, 6, 6>::from_diagonal_element(100.0),
        SMatrix::from_diagonal(&State::from_column_slice(&[1e-4, 1e-4, 1e-4, 1e-2, 1e-2, 1e-2])),
    );

    let mut report = String::new();
    let mut rms = na::Vector2::zeros();
    let mut seen = 0u32;
    let mut apogee = (0.0, f64::MIN);

    for step in 0..steps {
        truth = predict_state(&truth, dt);
        let omega = body.step(dt);
        let gyro = omega + Vector3::from_fn(|_, _| gyro_noise.sample(&mut rng));
        attitude *= UnitQuaternion::from_scaled_axis(gyro * dt);

        filter.predict(|x| predict_state(x, dt), dt);
        if step % 5 == 0 {
            let radar = &radars[(step / 5) % radars.len()];
            let z = radar.measure(&truth.fixed_rows::<3>(0).into_owned(), &mut rng);
            let innovation = z - radar.ideal(&filter.x.fixed_rows::<3>(0).into_owned());
            filter.update(innovation, radar.jacobian(&filter.x), radar.noise());
        }
        if step % 100 == 99 {
            // a star tracker corrects the attitude now and then
            attitude = attitude.slerp(&body.attitude, 0.3);
        }

        let error = (filter.x - truth).fixed_rows::<3>(0).norm();
        let turn = attitude.angle_to(&body.attitude);
        rms += na::Vector2::new(error * error, turn * turn);
        seen += 1;
        if truth[2] > apogee.1 {
            apogee = (step as f64 * dt, truth[2]);
        }
        if step % 400 == 0 {
            report += &format!(
                "{:8.3} {:10.4} {:10.4} {:10.4} err {:8.5} turn {:8.6} spin {:+.6}\n",
                step as f64 * dt, truth[0], truth[1], truth[2], error, turn, omega.norm()
            );
        }
        if truth[2] < 0.0 {
            println!("impact at t = {:.3} s, {:.2} m away", step as f64 * dt, truth.x.hypot(truth.y));
            break;
        }
    }

    rms = rms.map(|s| (s / f64::from(seen)).sqrt());
    println!("apogee {:.4} m at {:.3} s", apogee.1, apogee.0);
    println!("rms error {:.6} m, {:.6} rad after {seen} steps", rms.x, rms.y);
    println!("trace of the covariance {:.6e}; energy of the spin {:.9}", filter.p.trace(), body.energy());
    std::fs::write("track.txt", report).expect("track.txt");
}
