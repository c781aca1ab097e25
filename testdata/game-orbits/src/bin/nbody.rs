// The Computer Language Benchmarks Game
// https://salsa.debian.org/benchmarksgame-team/benchmarksgame/
//
// contributed by the Rust Project Developers
// contributed by TeXitoi

type Vec3 = [f64; 3];

const PI: f64 = 3.141592653589793;
const SOLAR_MASS: f64 = 4.0 * PI * PI;
const YEAR: f64 = 365.24;
const N_BODIES: usize = 5;

static BODIES: [Planet; N_BODIES] = [
    // Sun
    Planet {
        pos: [0.0, 0.0, 0.0],
        vel: [0.0, 0.0, 0.0],
        mass: SOLAR_MASS,
    },
    // Jupiter
    Planet {
        pos: [4.84143144246472090e+00, -1.16032004402742839e+00, -1.03622044471123109e-01],
        vel: [
            1.66007664274403694e-03 * YEAR,
            7.69901118419740425e-03 * YEAR,
            -6.90460016972063023e-05 * YEAR,
        ],
        mass: 9.54791938424326609e-04 * SOLAR_MASS,
    },
    // Saturn
    Planet {
        pos: [8.34336671824457987e+00, 4.12479856412430479e+00, -4.03523417114321381e-01],
        vel: [
            -2.76742510726411899e-03 * YEAR,
            4.99852801234917238e-03 * YEAR,
            2.30417297573763929e-05 * YEAR,
        ],
        mass: 2.85885980666130812e-04 * SOLAR_MASS,
    },
    // Uranus
    Planet {
        pos: [1.28943695621391310e+01, -1.51111514016986312e+01, -2.23307578892655734e-01],
        vel: [
            2.96460137564761618e-03 * YEAR,
            2.37847173959480950e-03 * YEAR,
            -2.96589568540237556e-05 * YEAR,
        ],
        mass: 4.36624404335156298e-05 * SOLAR_MASS,
    },
    // Neptune
    Planet {
        pos: [1.53796971148509165e+01, -2.59193146099879641e+01, 1.79258772950371181e-01],
        vel: [
            2.68067772490389322e-03 * YEAR,
            1.62824170038242295e-03 * YEAR,
            -9.51592254519715870e-05 * YEAR,
        ],
        mass: 5.15138902046611451e-05 * SOLAR_MASS,
    },
];

#[derive(Clone, Copy)]
struct Planet {
    pos: Vec3,
    vel: Vec3,
    mass: f64,
}

macro_rules! dot {
    ($a:expr, $b:expr) => {{
        let (a, b) = (&$a, &$b);
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }};
}

fn advance(bodies: &mut [Planet; N_BODIES], dt: f64, steps: i32) {
    for _ in 0..steps {
        let mut b_slice: &mut [_] = bodies;
        while let Some(bi) = shift_mut_ref(&mut b_slice) {
            for bj in b_slice.iter_mut() {
                let d = [
                    bi.pos[0] - bj.pos[0],
                    bi.pos[1] - bj.pos[1],
                    bi.pos[2] - bj.pos[2],
                ];
                let d2 = dot!(d, d);
                let mag = dt / (d2 * d2.sqrt());

                let massj = bj.mass;
                let massi = bi.mass;
                for k in 0..3 {
                    bi.vel[k] -= d[k] * massj * mag;
                    bj.vel[k] += d[k] * massi * mag;
                }
            }
            for (p, v) in bi.pos.iter_mut().zip(bi.vel) {
                *p += dt * v;
            }
        }
    }
}

/// Pop a mutable reference off the head of a slice, mutating the slice to no
/// longer contain the mutable reference.
fn shift_mut_ref<'a, T>(r: &mut &'a mut [T]) -> Option<&'a mut T> {
    if r.is_empty() {
        return None;
    }
    let tmp = std::mem::replace(r, &mut []);
    let (h, t) = tmp.split_at_mut(1);
    *r = t;
    Some(&mut h[0])
}

fn energy(bodies: &[Planet; N_BODIES]) -> f64 {
    let mut e = 0.0;
    let mut bodies = bodies.iter();
    while let Some(bi) = bodies.next() {
        e += dot!(bi.vel, bi.vel) * bi.mass / 2.0
            - bi.mass
                * bodies
                    .clone()
                    .map(|bj| {
                        let d = [
                            bi.pos[0] - bj.pos[0],
                            bi.pos[1] - bj.pos[1],
                            bi.pos[2] - bj.pos[2],
                        ];
                        bj.mass / dot!(d, d).sqrt()
                    })
                    .fold(0.0, |a, b| a + b);
    }
    e
}

fn offset_momentum(bodies: &mut [Planet; N_BODIES]) {
    let p = bodies.iter().fold([0.0; 3], |mut p, b| {
        for k in 0..3 {
            p[k] += b.vel[k] * b.mass;
        }
        p
    });
    for k in 0..3 {
        bodies[0].vel[k] = -p[k] / bodies[0].mass;
    }
}

fn main() {
    let n = std::env::args_os()
        .nth(1)
        .and_then(|s| s.into_string().ok())
        .and_then(|n| n.parse().ok())
        .unwrap_or(5_000_000);
    let mut bodies = BODIES;

    offset_momentum(&mut bodies);
    println!("{:.9}", energy(&bodies));

    advance(&mut bodies, 0.01, n);

    println!("{:.9}", energy(&bodies));
}
