// CG -- conjugate gradient, translated from cg.f (NPB 3.3 SER).
// Arrays keep their Fortran bounds: element 0 of most of them is not used.
#![allow(non_snake_case, non_upper_case_globals, unused_assignments)]
#![allow(clippy::all)]

include!("npbparams.rs");

const NZ: usize = NA*(NONZER+1)*(NONZER+1);
const NAZ: usize = NA*(NONZER+1);

// common / urando /
struct Urando { amult: f64, tran: f64 }

fn randlc(x: &mut f64, a: f64) -> f64 {
    let r23: f64 = 2.0f64.powi(-23); let r46 = r23*r23;
    let t23 = 2.0f64.powi(23); let t46 = t23*t23;
    let mut t1 = r23*a;
    let a1 = t1.trunc();
    let a2 = a - t23*a1;
    t1 = r23 * *x;
    let x1 = t1.trunc();
    let x2 = *x - t23*x1;
    t1 = a1*x2 + a2*x1;
    let t2 = (r23*t1).trunc();
    let z = t1 - t23*t2;
    let t3 = t23*z + a2*x2;
    let t4 = (r46*t3).trunc();
    *x = t3 - t46*t4;
    r46 * *x
}

fn main() {
    let mut colidx = vec![0usize; NZ+1];
    let mut rowstr = vec![0usize; NA+2];
    let mut iv     = vec![0usize; NA+1];
    let mut arow   = vec![0usize; NA+1];
    let mut acol   = vec![0usize; NAZ+1];
    let mut v      = vec![0.0f64; NZ+1];
    let mut aelt   = vec![0.0f64; NAZ+1];
    let mut a      = vec![0.0f64; NZ+1];
    let mut x      = vec![0.0f64; NA+3];
    let mut z      = vec![0.0f64; NA+3];
    let mut p      = vec![0.0f64; NA+3];
    let mut q      = vec![0.0f64; NA+3];
    let mut r      = vec![0.0f64; NA+3];

    let mut j; let mut k; let mut it;
    let mut zeta; let mut rnorm: f64 = 0.0;
    let (mut norm_temp1, mut norm_temp2): (f64, f64);
    let verified: bool;
    let epsilon;

    let firstrow = 1; let lastrow = NA; let firstcol = 1; let lastcol = NA;

    println!("\n\n NAS Parallel Benchmarks (NPB3.3-SER) - CG Benchmark\n");
    println!(" Size: {:11} ", NA);
    println!(" Iterations: {:5} ", NITER);

    let naa = NA;
    let nzz = NZ;

    // Inialize random number generator
    let mut rng = Urando { tran: 314159265.0, amult: 1220703125.0 };
    zeta = randlc(&mut rng.tran, rng.amult);

    makea(naa, nzz, &mut a, &mut colidx, &mut rowstr, firstrow, lastrow, firstcol, lastcol,
          &mut arow, &mut acol, &mut aelt, &mut v, &mut iv, &mut rng);

    // Note: as a result of the above call to makea:
    //    values of j used in indexing rowstr go from 1 --> lastrow-firstrow+1
    //    values of colidx which are col indexes go from firstcol --> lastcol
    //    So: Shift the col index vals from actual (firstcol --> lastcol )
    //    to local, i.e., (1 --> lastcol-firstcol+1)
    j = 1;
    while j <= lastrow-firstrow+1 {
        k = rowstr[j];
        while k < rowstr[j+1] {
            colidx[k] = colidx[k] - firstcol + 1;
            k += 1;
        }
        j += 1;
    }

    // set starting vector to (1, 1, .... 1)
    for i in 1..=NA+1 { x[i] = 1.0; }
    for j in 1..=lastcol-firstcol+1 {
        q[j] = 0.0; z[j] = 0.0; r[j] = 0.0; p[j] = 0.0;
    }
    zeta = 0.0;

    // Do one iteration untimed to init all code and data page tables
    it = 1;
    while it <= 1 {
        conj_grad(&colidx, &rowstr, &x, &mut z, &a, &mut p, &mut q, &mut r, &mut rnorm,
                  lastcol-firstcol+1, lastrow-firstrow+1);
        norm_temp1 = 0.0;
        norm_temp2 = 0.0;
        for j in 1..=lastcol-firstcol+1 {
            norm_temp1 = norm_temp1 + x[j]*z[j];
            norm_temp2 = norm_temp2 + z[j]*z[j];
        }
        norm_temp2 = 1.0 / norm_temp2.sqrt();
        // Normalize z to obtain x
        for j in 1..=lastcol-firstcol+1 { x[j] = norm_temp2*z[j]; }
        it += 1;
    } // end of do one iteration untimed

    // set starting vector to (1, 1, .... 1)
    for i in 1..=NA+1 { x[i] = 1.0; }
    zeta = 0.0;

    let t_bench = std::time::Instant::now();

    // ---->
    // Main Iteration for inverse power method
    // ---->
    for it in 1..=NITER {
        // The call to the conjugate gradient routine:
        conj_grad(&colidx, &rowstr, &x, &mut z, &a, &mut p, &mut q, &mut r, &mut rnorm,
                  lastcol-firstcol+1, lastrow-firstrow+1);

        // zeta = shift + 1/(x.z)
        // So, first: (x.z)
        // Also, find norm of z
        // So, first: (z.z)
        norm_temp1 = 0.0;
        norm_temp2 = 0.0;
        for j in 1..=lastcol-firstcol+1 {
            norm_temp1 = norm_temp1 + x[j]*z[j];
            norm_temp2 = norm_temp2 + z[j]*z[j];
        }
        norm_temp2 = 1.0 / norm_temp2.sqrt();
        zeta = SHIFT + 1.0 / norm_temp1;
        if it == 1 { println!("\n   iteration           ||r||                 zeta"); }
        println!("    {:5}       {:20.14e}{:20.13}", it, rnorm, zeta);

        // Normalize z to obtain x
        for j in 1..=lastcol-firstcol+1 { x[j] = norm_temp2*z[j]; }
    } // end of main iter inv pow meth

    let t = t_bench.elapsed().as_secs_f64();

    println!(" Benchmark completed ");
    epsilon = 1.0e-10;
    let err = (zeta - ZETA_VERIFY_VALUE).abs() / ZETA_VERIFY_VALUE;
    if err <= epsilon {
        verified = true;
        println!(" VERIFICATION SUCCESSFUL ");
        println!(" Zeta is    {:20.13e}", zeta);
        println!(" Error is   {:20.13e}", err);
    } else {
        verified = false;
        println!(" VERIFICATION FAILED");
        println!(" Zeta                {:20.13e}", zeta);
        println!(" The correct zeta is {:20.13e}", ZETA_VERIFY_VALUE);
    }
    let mut mflops = 0.0;
    if t != 0.0 {
        mflops = (2*NITER*NA) as f64
               * (3.+(NONZER*(NONZER+1)) as f64 + 25.*(5.+(NONZER*(NONZER+1)) as f64)+ 3.)
               / t / 1000000.0;
    }
    println!(" Class           = {:>12}", CLASS);
    println!(" Time in seconds = {:12.2}", t);
    println!(" Mop/s total     = {:12.2}", mflops);
    if !verified { std::process::exit(1) }
}

// Floaging point arrays here are named as in NPB1 spec discussion of
// CG algorithm
fn conj_grad(
    colidx: &[usize], rowstr: &[usize], x: &[f64], z: &mut [f64], a: &[f64],
    p: &mut [f64], q: &mut [f64], r: &mut [f64], rnorm: &mut f64,
    ncols: usize, nrows: usize,
) {
    let cgitmax = 25;
    let mut d; let mut sum; let mut rho; let mut rho0; let mut alpha; let mut beta;

    rho = 0.0;
    // Initialize the CG algorithm:
    for j in 1..=nrows+1 {
        q[j] = 0.0;
        z[j] = 0.0;
        r[j] = x[j];
        p[j] = r[j];
    }
    // rho = r.r
    // Now, obtain the norm of r: First, sum squares of r elements locally...
    for j in 1..=ncols { rho = rho + r[j]*r[j]; }

    // The conj grad iteration loop
    for _cgit in 1..=cgitmax {
        // q = A.p
        for j in 1..=nrows {
            sum = 0.0;
            for k in rowstr[j]..rowstr[j+1] {
                sum = sum + a[k]*p[colidx[k]];
            }
            q[j] = sum;
        }
        // Obtain p.q
        d = 0.0;
        for j in 1..=ncols { d = d + p[j]*q[j]; }
        // Obtain alpha = rho / (p.q)
        alpha = rho / d;
        // Save a temporary of rho
        rho0 = rho;
        // Obtain z = z + alpha*p
        // and    r = r - alpha*q
        rho = 0.0;
        for j in 1..=ncols {
            z[j] = z[j] + alpha*p[j];
            r[j] = r[j] - alpha*q[j];
        }
        // rho = r.r
        for j in 1..=ncols { rho = rho + r[j]*r[j]; }
        // Obtain beta:
        beta = rho / rho0;
        // p = r + beta*p
        for j in 1..=ncols { p[j] = r[j] + beta*p[j]; }
    } // end of do cgit=1,cgitmax

    // Compute residual norm explicitly:  ||r|| = ||x - A.z||
    // First, form A.z
    sum = 0.0;
    for j in 1..=nrows {
        d = 0.0;
        for k in rowstr[j]..rowstr[j+1] { d = d + a[k]*z[colidx[k]]; }
        r[j] = d;
    }
    // At this point, r contains A.z
    for j in 1..=ncols {
        d = x[j] - r[j];
        sum = sum + d*d;
    }
    *rnorm = sum.sqrt();
}

// generate the test problem for benchmark 6
// makea generates a sparse matrix with a prescribed sparsity distribution
fn makea(
    n: usize, nz: usize, a: &mut [f64], colidx: &mut [usize], rowstr: &mut [usize],
    firstrow: usize, lastrow: usize, firstcol: usize, lastcol: usize,
    arow: &mut [usize], acol: &mut [usize], aelt: &mut [f64],
    v: &mut [f64], iv: &mut [usize], rng: &mut Urando,
) {
    let mut ivc = [0usize; NONZER+2];
    let mut vc = [0.0f64; NONZER+2];

    // nn1 is the smallest power of two not less than n
    let mut nn1 = 1;
    loop {
        nn1 = 2*nn1;
        if nn1 >= n { break }
    }

    // Generate nonzero positions and save for the use in sparse.
    for iouter in 1..=n {
        let mut nzv = NONZER;
        sprnvc(n, nzv, nn1, &mut vc, &mut ivc, rng);
        vecset(&mut vc, &mut ivc, &mut nzv, iouter, 0.5);
        arow[iouter] = nzv;
        for ivelt in 1..=nzv {
            acol[(iouter-1)*(NONZER+1) + ivelt] = ivc[ivelt];
            aelt[(iouter-1)*(NONZER+1) + ivelt] = vc[ivelt];
        }
    }

    // ... make the sparse matrix from list of elements with duplicates
    //     (iv is used as  workspace)
    sparse(a, colidx, rowstr, n, nz, arow, acol, aelt, firstrow, lastrow, v, iv, RCOND, SHIFT);
    let _ = (firstcol, lastcol);
}

// rows range from firstrow to lastrow
// the rowstr pointers are defined for nrows = lastrow-firstrow+1 values
fn sparse(
    a: &mut [f64], colidx: &mut [usize], rowstr: &mut [usize], n: usize, nz: usize,
    arow: &[usize], acol: &[usize], aelt: &[f64],
    firstrow: usize, lastrow: usize, _v: &mut [f64], nzloc: &mut [usize], rcond: f64, shift: f64,
) {
    const W: usize = NONZER+1;
    let nrows = lastrow - firstrow + 1;

    // ...count the number of triples in each row
    for j in 1..=nrows+1 { rowstr[j] = 0; }
    for i in 1..=n {
        for nza in 1..=arow[i] {
            let j = acol[(i-1)*W + nza] + 1;
            rowstr[j] = rowstr[j] + arow[i];
        }
    }
    rowstr[1] = 1;
    for j in 2..=nrows+1 { rowstr[j] = rowstr[j] + rowstr[j-1]; }
    let mut nza = rowstr[nrows+1] - 1;

    // ... rowstr(j) now is the location of the first nonzero of row j of a
    if nza > nz {
        println!("Space for matrix elements exceeded in sparse");
        println!("nza, nzmax = {nza} {nz}");
        std::process::exit(1);
    }

    // ... preload data pages; EMPTY marks a slot that is still free
    const EMPTY: usize = 0;
    for j in 1..=nrows {
        for k in rowstr[j]..rowstr[j+1] { a[k] = 0.0; colidx[k] = EMPTY; }
        nzloc[j] = 0;
    }

    // ... generate actual values by summing duplicates
    let mut size = 1.0;
    let ratio = rcond.powf(1.0 / n as f64);
    for i in 1..=n {
        for nza in 1..=arow[i] {
            let j = acol[(i-1)*W + nza];
            let scale = size * aelt[(i-1)*W + nza];
            for nzrow in 1..=arow[i] {
                let jcol = acol[(i-1)*W + nzrow];
                let mut va = aelt[(i-1)*W + nzrow] * scale;
                // ... add the identity * rcond to the generated matrix to bound
                //     the smallest eigenvalue from below by rcond
                if jcol == j && j == i { va = va + rcond - shift; }

                let mut k = rowstr[j];
                let mut found = false;
                while k < rowstr[j+1] {
                    if colidx[k] > jcol {
                        // ... insert colidx here orderly
                        let mut kk = rowstr[j+1] - 2;
                        while kk >= k {
                            if colidx[kk] != EMPTY {
                                a[kk+1] = a[kk];
                                colidx[kk+1] = colidx[kk];
                            }
                            kk -= 1;
                        }
                        colidx[k] = jcol;
                        a[k] = 0.0;
                        found = true;
                        break;
                    } else if colidx[k] == EMPTY {
                        colidx[k] = jcol;
                        found = true;
                        break;
                    } else if colidx[k] == jcol {
                        // ... mark the duplicated entry
                        nzloc[j] = nzloc[j] + 1;
                        found = true;
                        break;
                    }
                    k += 1;
                }
                if !found {
                    println!("internal error in sparse: i={i}");
                    std::process::exit(1);
                }
                a[k] = a[k] + va;
            }
        }
        size = size * ratio;
    }

    // ... remove empty entries and generate final results
    for j in 2..=nrows { nzloc[j] = nzloc[j] + nzloc[j-1]; }
    for j in 1..=nrows {
        let j1 = if j > 1 { rowstr[j] - nzloc[j-1] } else { 1 };
        let j2 = rowstr[j+1] - nzloc[j];
        nza = rowstr[j];
        for k in j1..j2 {
            a[k] = a[nza];
            colidx[k] = colidx[nza];
            nza = nza + 1;
        }
    }
    for j in 2..=nrows+1 { rowstr[j] = rowstr[j] - nzloc[j-1]; }
}

// generate a sparse n-vector (v, iv) having nzv nonzeros
fn sprnvc(n: usize, nz: usize, nn1: usize, v: &mut [f64], iv: &mut [usize], rng: &mut Urando) {
    let mut nzv = 0;
    'outer: while nzv < nz {
        let vecelt = randlc(&mut rng.tran, rng.amult);
        // generate an integer between 1 and n in a portable manner
        let vecloc = randlc(&mut rng.tran, rng.amult);
        let i = (nn1 as f64 * vecloc) as usize + 1;
        if i > n { continue }
        // was this integer generated already?
        for ii in 1..=nzv {
            if iv[ii] == i { continue 'outer }
        }
        nzv = nzv + 1;
        v[nzv] = vecelt;
        iv[nzv] = i;
    }
}

// set ith element of sparse vector (v, iv) with nzv nonzeros to val
fn vecset(v: &mut [f64], iv: &mut [usize], nzv: &mut usize, i: usize, val: f64) {
    let mut set = false;
    for k in 1..=*nzv {
        if iv[k] == i { v[k] = val; set = true; }
    }
    if !set { *nzv = *nzv + 1; v[*nzv] = val; iv[*nzv] = i; }
}
