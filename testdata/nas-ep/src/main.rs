//------------------------------------------------------------------------
//
//  N A S   P A R A L L E L   B E N C H M A R K S    3.4
//
//                         E P
//
//  This is a serial version of the NPB Embarrassingly Parallel kernel.
//  M is the Log_2 of the number of complex pairs of uniform (0, 1) random
//  numbers.  MK is the Log_2 of the size of each batch of uniform random
//  numbers.  MK can be set for convenience on a given system, since it does
//  not affect the results.
//
//  Authors of the original: P. O. Frederickson, D. H. Bailey, A. C. Woo
//------------------------------------------------------------------------
#![allow(clippy::needless_range_loop, clippy::many_single_char_names)]

mod randdp;
mod timers;

use randdp::{randlc, vranlc};
use timers::{timer_clear, timer_read, timer_start, timer_stop};

const MK: u32 = 16;
const NK: usize = 1 << MK;
const NQ: usize = 10;
const EPSILON: f64 = 1.0e-8;
const A: f64 = 1220703125.0;
const S: f64 = 271828183.0;

const T_TOTAL: usize = 0;
const T_GAUSS: usize = 1;
const T_RANDN: usize = 2;

fn class_to_m(class: char) -> Option<u32> {
    Some(match class {
        'T' => 22,
        'S' => 24,
        'W' => 25,
        'A' => 28,
        'B' => 30,
        'C' => 32,
        _ => return None,
    })
}

fn main() {
    let class = std::env::args()
        .nth(1)
        .and_then(|a| a.chars().next())
        .unwrap_or('S');
    let m = match class_to_m(class) {
        Some(m) => m,
        None => {
            eprintln!("ep: unknown class `{class}' (T, S, W, A, B or C)");
            std::process::exit(2);
        }
    };
    let timers_enabled = std::path::Path::new("timer.flag").exists();

    println!("\n\n NAS Parallel Benchmarks (NPB3.4-SER) - EP Benchmark");
    let size = format!("{:15.0}", 2.0_f64.powi(m as i32 + 1));
    println!("\n Number of random numbers generated: {:>15}", size.trim_end_matches('.'));

    let mm = m - MK;
    let nn: usize = 1 << mm;

    let mut verified = false;
    let mut x = vec![-1.0e99f64; 2 * NK];
    let mut q = [0.0f64; NQ];

    // Compute the number of "batches" of random number pairs generated
    // per processor. Adjust if the number of processors does not evenly
    // divide the total number
    let np = nn;

    // Call the random number generator functions and initialize
    // the x-array to reduce the effects of paging on the timings.
    {
        let mut dum = [1.0f64, 1.0, 1.0];
        let (a, b) = (dum[1], dum[2]);
        vranlc(0, &mut dum[0], a, &mut [1.0]);
        dum[0] = randlc(&mut dum[1], b);
        let _ = dum;
    }

    timer_clear(T_TOTAL);
    timer_clear(T_GAUSS);
    timer_clear(T_RANDN);
    timer_start(T_TOTAL);

    let mut t1 = A;
    vranlc(0, &mut t1, A, &mut x);

    // Compute AN = A ^ (2 * NK) (mod 2^46).
    let mut t1 = A;
    for _ in 0..MK + 1 {
        let t = t1;
        let _t2 = randlc(&mut t1, t);
    }

    let an = t1;
    let mut gc = 0.0;
    let mut sx = 0.0;
    let mut sy = 0.0;

    // Each instance of this loop may be performed independently. We compute
    // the k offsets separately to take into account the fact that some nodes
    // have more numbers to generate than others
    let k_offset: i64 = -1;

    for k in 1..=np {
        let mut kk = k_offset + k as i64;
        let mut t1 = S;
        let mut t2 = an;

        // Find starting seed t1 for this kk.
        for _i in 1..=100 {
            let ik = kk / 2;
            if 2 * ik != kk {
                let _t3 = randlc(&mut t1, t2);
            }
            if ik == 0 {
                break;
            }
            let t = t2;
            let _t3 = randlc(&mut t2, t);
            kk = ik;
        }

        // Compute uniform pseudorandom numbers.
        if timers_enabled {
            timer_start(T_RANDN);
        }
        vranlc(2 * NK, &mut t1, A, &mut x);
        if timers_enabled {
            timer_stop(T_RANDN);
        }

        // Compute Gaussian deviates by acceptance-rejection method and
        // tally counts in concentric square annuli.  This loop is not
        // vectorizable.
        if timers_enabled {
            timer_start(T_GAUSS);
        }
        for i in 0..NK {
            let x1 = 2.0 * x[2 * i] - 1.0;
            let x2 = 2.0 * x[2 * i + 1] - 1.0;
            let t1 = x1 * x1 + x2 * x2;
            if t1 <= 1.0 {
                let t2 = (-2.0 * t1.ln() / t1).sqrt();
                let t3 = x1 * t2;
                let t4 = x2 * t2;
                let l = t3.abs().max(t4.abs()) as usize;
                q[l] += 1.0;
                sx += t3;
                sy += t4;
            }
        }
        if timers_enabled {
            timer_stop(T_GAUSS);
        }
    }

    for i in 0..NQ {
        gc += q[i];
    }

    timer_stop(T_TOTAL);
    let tm = timer_read(T_TOTAL);

    let reference = match m {
        24 => Some((-3.247834652034740e+3, -6.958407078382297e+3)),
        25 => Some((-2.863319731645753e+3, -6.320053679109499e+3)),
        28 => Some((-4.295875165629892e+3, -1.580732573678431e+4)),
        30 => Some((4.033815542441498e+4, -2.660669192809235e+4)),
        32 => Some((4.764367927995374e+4, -8.084072988043731e+4)),
        _ => None,
    };
    if let Some((sx_verify_value, sy_verify_value)) = reference {
        let sx_err: f64 = ((sx - sx_verify_value) / sx_verify_value as f64).abs();
        let sy_err: f64 = ((sy - sy_verify_value) / sy_verify_value as f64).abs();
        verified = sx_err <= EPSILON && sy_err <= EPSILON;
    }

    let mops = 2.0f64.powi(m as i32 + 1) / tm / 1000000.0;

    println!("\nEP Benchmark Results:\n");
    println!("CPU Time ={:10.4}", tm);
    println!("Mop/s    ={:10.4}", mops);
    println!("N = 2^{:5}", m);
    println!("No. Gaussian Pairs = {:15.0}", gc);
    println!("Sums = {:25.15e} {:25.15e}", sx, sy);
    println!("Counts: ");
    for i in 0..NQ {
        println!("{:3}{:15.0}", i, q[i]);
    }
    println!(" Verification    = {}", if reference.is_none() {
        "NOT PERFORMED"
    } else if verified {
        "SUCCESSFUL"
    } else {
        "UNSUCCESSFUL"
    });

    if timers_enabled {
        let tm = if tm <= 0.0 { 1.0 } else { tm };
        for (name, id) in [("Total time", T_TOTAL), ("Gaussian pairs", T_GAUSS), ("Random numbers", T_RANDN)] {
            let tt = timer_read(id);
            println!("{name:16}: {tt:9.3} ({:5.2}%)", tt * 100.0 / tm);
        }
    }
}
