/*************************************************************************
 *                                                                       *
 *        N  A  S     P A R A L L E L     B E N C H M A R K S  3.4       *
 *                                                                       *
 *                                  I S                                  *
 *                                                                       *
 *   Ported from is.c, serial version with buckets.                      *
 *************************************************************************/

#![allow(non_camel_case_types)]

/*  Problem class: one letter in the environment, S when it is not set  */

type INT_TYPE = i32;

/* Integer sort parameters per class */
#[derive(Clone, Copy)]
struct problem_t {
    class: char,
    total_keys_log_2: u32,
    max_key_log_2: u32,
    num_buckets_log_2: u32,
    test_index_array: [usize; TEST_ARRAY_SIZE],
    test_rank_array: [i64; TEST_ARRAY_SIZE],
}

const MAX_ITERATIONS: usize = 10;
const TEST_ARRAY_SIZE: usize = 5;

const CLASSES: &[problem_t] = &[
    problem_t {
        class: 'S',
        total_keys_log_2: 16,
        max_key_log_2: 11,
        num_buckets_log_2: 9,
        test_index_array: [48427, 17148, 23627, 62548, 4431],
        test_rank_array: [0, 18, 346, 64917, 65463],
    },
    problem_t {
        class: 'W',
        total_keys_log_2: 20,
        max_key_log_2: 16,
        num_buckets_log_2: 10,
        test_index_array: [357773, 934767, 875723, 898999, 404505],
        test_rank_array: [1249, 11698, 1039987, 1043896, 1048018],
    },
    problem_t {
        class: 'A',
        total_keys_log_2: 23,
        max_key_log_2: 19,
        num_buckets_log_2: 10,
        test_index_array: [2112377, 662041, 5336171, 3642833, 4250760],
        test_rank_array: [104, 17523, 123928, 8288932, 8388264],
    },
];

/*  Everything that is global in the C code  */
struct globals {
    p: problem_t,
    num_keys: usize,
    max_key: usize,
    num_buckets: usize,
    key_array: Vec<INT_TYPE>,
    key_buff1: Vec<INT_TYPE>,
    key_buff2: Vec<INT_TYPE>,
    bucket_size: Vec<INT_TYPE>,
    bucket_ptrs: Vec<INT_TYPE>,
    partial_verify_vals: [INT_TYPE; TEST_ARRAY_SIZE],
    passed_verification: usize,
}

/*****************************************************************/
/*************           R  A  N  D  L  C             ************/
/*************    portable random number generator    ************/
/*****************************************************************/
struct randlc_t {
    ks: bool,
    r23: f64,
    r46: f64,
    t23: f64,
    t46: f64,
}

impl randlc_t {
    const fn new() -> randlc_t {
        randlc_t { ks: false, r23: 0., r46: 0., t23: 0., t46: 0. }
    }

    fn next(&mut self, x: &mut f64, a: f64) -> f64 {
        if !self.ks {
            self.r23 = 1.0;
            self.r46 = 1.0;
            self.t23 = 1.0;
            self.t46 = 1.0;
            for _ in 1..=23 {
                self.r23 *= 0.50;
                self.t23 *= 2.0;
            }
            for _ in 1..=46 {
                self.r46 *= 0.50;
                self.t46 *= 2.0;
            }
            self.ks = true;
        }

        /*  Break A into two parts such that A = 2^23 * A1 + A2 and set X = N.  */
        let mut t1 = self.r23 * a;
        let mut j = t1 as i32;
        let a1 = j as f64;
        let a2 = a - self.t23 * a1;

        /*  Break X into two parts such that X = 2^23 * X1 + X2, compute
            Z = A1 * X2 + A2 * X1  (mod 2^23), and then
            X = 2^23 * Z + A2 * X2  (mod 2^46).                            */
        t1 = self.r23 * *x;
        j = t1 as i32;
        let x1 = j as f64;
        let x2 = *x - self.t23 * x1;
        t1 = a1 * x2 + a2 * x1;

        j = (self.r23 * t1) as i32;
        let t2 = j as f64;
        let z = t1 - self.t23 * t2;
        let t3 = self.t23 * z + a2 * x2;
        j = (self.r46 * t3) as i32;
        let t4 = j as f64;
        *x = t3 - self.t46 * t4;
        self.r46 * *x
    }
}

/*****************************************************************/
/*************      C  R  E  A  T  E  _  S  E  Q      ************/
/*****************************************************************/
fn create_seq(g: &mut globals, seed: f64, a: f64) {
    let mut rng = randlc_t::new();
    let mut seed = seed;
    let k = (g.max_key / 4) as f64;

    for i in 0..g.num_keys {
        let mut x = rng.next(&mut seed, a);
        x += rng.next(&mut seed, a);
        x += rng.next(&mut seed, a);
        x += rng.next(&mut seed, a);
        g.key_array[i] = (k * x) as INT_TYPE;
    }
}

/*****************************************************************/
/*************    F  U  L  L  _  V  E  R  I  F  Y     ************/
/*****************************************************************/
fn full_verify(g: &mut globals) {
    /*  Now, finally, sort the keys:  */
    /* Buckets are sorted; counts of each key stand in key_buff1 */
    for i in 0..g.num_keys {
        let key = g.key_buff2[i] as usize;
        g.key_buff1[key] -= 1;
        let at = g.key_buff1[key] as usize;
        g.key_array[at] = g.key_buff2[i];
    }

    /*  Confirm keys correctly sorted: count incorrectly sorted keys, if any */
    let mut j = 0;
    for i in 1..g.num_keys {
        if g.key_array[i - 1] > g.key_array[i] {
            j += 1;
        }
    }
    if j != 0 {
        println!("Full_verify: number of keys out of sort: {}", j);
    } else {
        g.passed_verification += 1;
    }
}

/*****************************************************************/
/*************             R  A  N  K             ****************/
/*****************************************************************/
fn rank(g: &mut globals, iteration: i32) {
    let shift = g.p.max_key_log_2 - g.p.num_buckets_log_2;

    g.key_array[iteration as usize] = iteration;
    g.key_array[iteration as usize + MAX_ITERATIONS] = g.max_key as INT_TYPE - iteration;

    /*  Determine where the partial verify test keys are, load into  */
    /*  top of array bucket_size                                     */
    for i in 0..TEST_ARRAY_SIZE {
        g.partial_verify_vals[i] = g.key_array[g.p.test_index_array[i]];
    }

    /*  Initialize */
    for i in 0..g.num_buckets {
        g.bucket_size[i] = 0;
    }

    /*  Determine the number of keys in each bucket */
    for i in 0..g.num_keys {
        g.bucket_size[(g.key_array[i] >> shift) as usize] += 1;
    }

    /*  Accumulative bucket sizes are the bucket pointers */
    g.bucket_ptrs[0] = 0;
    for i in 1..g.num_buckets {
        g.bucket_ptrs[i] = g.bucket_ptrs[i - 1] + g.bucket_size[i - 1];
    }

    /*  Sort into appropriate bucket */
    for i in 0..g.num_keys {
        let key = g.key_array[i];
        let b = &mut g.bucket_ptrs[(key >> shift) as usize];
        g.key_buff2[*b as usize] = key;
        *b += 1;
    }

    /*  Clear the work array */
    for i in 0..g.max_key {
        g.key_buff1[i] = 0;
    }

    /*  Ranking of all keys occurs in this section:                 */
    /*  In this section, the keys themselves are used as their
        own indexes to determine how many of each there are: their
        individual population                                       */
    for i in 0..g.num_keys {
        g.key_buff1[g.key_buff2[i] as usize] += 1; /* Now they have individual key population */
    }

    /*  To obtain ranks of each key, successively add the individual key
        population                                                  */
    for i in 0..g.max_key - 1 {
        g.key_buff1[i + 1] += g.key_buff1[i];
    }

    /* This is the partial verify test section */
    /* Observe that test_rank_array vals are   */
    /* shifted differently for different cases */
    for i in 0..TEST_ARRAY_SIZE {
        let k = g.partial_verify_vals[i]; /* test vals were put here */
        if 0 < k && k as usize <= g.num_keys - 1 {
            let key_rank = g.key_buff1[(k - 1) as usize] as i64;
            let it = iteration as i64;
            let test = g.p.test_rank_array[i];
            let want = match g.p.class {
                'S' if i <= 2 => test + it,
                'S' => test - it,
                'W' if i < 2 => test + (it - 2),
                'W' => test - it,
                'A' if i <= 2 => test + (it - 1),
                'A' => test - (it - 1),
                _ => unreachable!(),
            };
            if key_rank != want {
                println!("Failed partial verification: iteration {}, test key {}", iteration, i);
            } else {
                g.passed_verification += 1;
            }
        }
    }
}

/*****************************************************************/
/*************             M  A  I  N             ****************/
/*****************************************************************/
fn main() {
    let letter = std::env::var("NPB_CLASS").ok().and_then(|v| v.chars().next()).unwrap_or('W');
    let p = *CLASSES.iter().find(|p| p.class == letter).expect("class S, W or A");
    let num_keys = 1 << p.total_keys_log_2;
    let max_key = 1 << p.max_key_log_2;
    let num_buckets = 1 << p.num_buckets_log_2;

    let mut g = globals {
        p,
        num_keys,
        max_key,
        num_buckets,
        key_array: vec![0; num_keys],
        key_buff1: vec![0; max_key],
        key_buff2: vec![0; num_keys],
        bucket_size: vec![0; num_buckets],
        bucket_ptrs: vec![0; num_buckets],
        partial_verify_vals: [0; TEST_ARRAY_SIZE],
        passed_verification: 0,
    };

    /*  Printout initial NPB info */
    println!("\n\n NAS Parallel Benchmarks (NPB3.4-SER) - IS Benchmark\n");
    println!(" Size:  {}  (class {})", num_keys, p.class);
    println!(" Iterations:   {}", MAX_ITERATIONS);

    /*  Generate random number sequence and subsequent keys on all procs */
    create_seq(&mut g, 314159265.00, 1220703125.00);

    /*  Do one interation for free (i.e., untimed) to guarantee initialization of
        all data and code pages and respective tables */
    rank(&mut g, 1);

    /*  Start verification counter */
    g.passed_verification = 0;

    if p.class != 'S' {
        println!("\n   iteration");
    }

    let start = std::time::Instant::now();

    /*  This is the main iteration */
    for iteration in 1..=MAX_ITERATIONS as i32 {
        if p.class != 'S' {
            println!("        {}", iteration);
        }
        rank(&mut g, iteration);
    }

    /*  End of timing, obtain maximum time of all processors */
    let timecounter = start.elapsed().as_secs_f64();

    /*  This tests that keys are in sequence: sorting of last ranked key seq
        occurs here, but is an untimed operation                             */
    full_verify(&mut g);

    /*  The final printout  */
    if g.passed_verification != 5 * MAX_ITERATIONS + 1 {
        g.passed_verification = 0;
    }
    let mops = (MAX_ITERATIONS * num_keys) as f64 / timecounter / 1000000.;
    println!("\n\n IS Benchmark Completed");
    println!(" Class           =             {:>12}", p.class);
    println!(" Time in seconds =             {:12.2}", timecounter);
    println!(" Mop/s total     =             {:12.2}", mops);
    println!(" Operation type  =             keys ranked");
    println!(" Verification    =             {:>12}", if g.passed_verification > 0 { "SUCCESSFUL" } else { "UNSUCCESSFUL" });
    if g.passed_verification == 0 {
        std::process::exit(-1);
    }
}
