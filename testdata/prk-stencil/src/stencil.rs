///
/// Copyright (c) 2013, Intel Corporation
///
/// Redistribution and use in source and binary forms, with or without
/// modification, are permitted (see the PRK repository for the terms).
///
//////////////////////////////////////////////////////////////////////
///
/// NAME:    Stencil
///
/// PURPOSE: This program tests the efficiency with which a space-invariant,
///          linear, symmetric filter (stencil) can be applied to a square
///          grid or image.
///
/// USAGE:   The program takes as input the linear
///          dimension of the grid, and the number of iterations on the grid
///
///                <progname> <iterations> <grid size> [<stencil pattern>] [<radius>]
///
///          The output consists of diagnostics to make sure the
///          algorithm worked, and of timing statistics.
///
/// HISTORY: - Written by Rob Van der Wijngaart, February 2009.
///          - RvdW: Removed unrolling pragmas for clarity;
///          - Converted to Rust by Jeff Hammond, Summer 2018 and after.
///
//////////////////////////////////////////////////////////////////////

use std::env;
use std::time::{Duration,Instant};

const RESTRICT: bool = true;
const RADIUS_MAX: usize = 5;

// grid symmetric, weights per radius
fn initialize_w_star(r: usize, w: &mut Vec<Vec<f64>>)
{
    // fill the stencil weights to reflect a discrete divergence operator
    for ii in 1..r+1 {
        let wt: f64 = 1.0 / (2.0*(ii as f64)*(r as f64));
        w[r][r+ii] =  wt;
        w[r+ii][r] =  wt;
        w[r][r-ii] = -wt;
        w[r-ii][r] = -wt;
    }
}

fn initialize_w_grid(r: usize, w: &mut Vec<Vec<f64>>)
{
    for jj in 1..r+1 {
        let val = 1.0/((4*jj*(2*jj-1)*r) as f64);
        for ii in 0..2*jj-1 {
            let i = r + ii + 1 - jj;
            w[r+jj][i] =  val;
            w[r-jj][i] = -val;
            w[i][r+jj] =  val;
            w[i][r-jj] = -val;
        }
        let corner = 1.0/((4*jj*r) as f64);
        w[r+jj][r+jj] =  corner;
        w[r-jj][r-jj] = -corner;
    }
}

fn apply_stencil(r: usize, n: usize, w: &Vec<Vec<f64>>, a: &Vec<Vec<f64>>, b: &mut Vec<Vec<f64>>)
{
    for i in r..n-r {
        for j in r..n-r {
            for ii in 0..2*r+1 {
                for jj in 0..2*r+1 {
                    b[i][j] += w[ii][jj] * a[i+ii-r][j+jj-r];
                }
            }
        }
    }
}

fn apply_star(r: usize, n: usize, w: &Vec<Vec<f64>>, a: &Vec<Vec<f64>>, b: &mut Vec<Vec<f64>>)
{
    for i in r..n-r {
        for j in r..n-r {
            for jj in 0..2*r+1 {
                b[i][j] += w[r][jj] * a[i][j+jj-r];
            }
            for ii in 0..2*r+1 {
                if ii == r { continue; }
                b[i][j] += w[ii][r] * a[i+ii-r][j];
            }
        }
    }
}

fn main()
{
    println!("Parallel Research Kernels");
    println!("Rust stencil execution on 2D grid");

    ///////////////////////////////////////////////////////////////////////
    // Read and test input parameters
    ///////////////////////////////////////////////////////////////////////

    let args : Vec<String> = env::args().collect();

    let mut iterations : u32 = 30;
    let mut n : usize = 1000;
    let mut pattern : String = String::from("star");
    let mut r : usize = 2;

    if args.len() >= 2 {
        iterations = match args[1].parse::<u32>() {
            Ok(x) => x,
            Err(_) => panic!("invalid iterations"),
        };
    }
    if args.len() >= 3 {
        n = match args[2].parse::<usize>() {
            Ok(x) => x,
            Err(_) => panic!("invalid grid size"),
        };
    }
    if args.len() >= 4 {
        pattern = args[3].to_lowercase();
        if pattern != "star" && pattern != "grid" {
            panic!("pattern must be star or grid");
        }
    }
    if args.len() >= 5 {
        r = args[4].parse().expect("radius");
    }
    if iterations < 1 { println!("ERROR: iterations must be >= 1"); return; }
    if RESTRICT && r > RADIUS_MAX { println!("ERROR: radius must be <= {}", RADIUS_MAX); return; }
    if 2*r+1 > n { println!("ERROR: grid too small for the stencil"); return; }

    println!("Grid size            = {}", n);
    println!("Type of stencil      = {}", pattern);
    println!("Radius of stencil    = {}", r);
    println!("Number of iterations = {}", iterations);

    ///////////////////////////////////////////////////////////////////////
    // Allocate space and perform the computation
    ///////////////////////////////////////////////////////////////////////

    let mut a : Vec<Vec<f64>> = vec![vec![0.0; n]; n];
    let mut b : Vec<Vec<f64>> = vec![vec![0.0; n]; n];
    let mut w : Vec<Vec<f64>> = vec![vec![0.0; 2*r+1]; 2*r+1];

    let active_points : usize = (n-2*r)*(n-2*r);
    let stencil_size : usize;

    if pattern == "star" {
        stencil_size = 4*r+1;
        initialize_w_star(r, &mut w);
    } else {
        stencil_size = (2*r+1)*(2*r+1);
        initialize_w_grid(r, &mut w);
    }

    for i in 0..n {
        for j in 0..n {
            a[i][j] = (i as f64) + (j as f64);
        }
    }

    let timer = Instant::now();
    let mut t0 : Duration = timer.elapsed();

    for k in 0..iterations+1 {

        // start timer after a warmup iteration
        if k==1 { t0 = timer.elapsed(); }

        // Apply the stencil operator
        if pattern == "star" {
            apply_star(r, n, &w, &a, &mut b);
        } else {
            apply_stencil(r, n, &w, &a, &mut b);
        }

        // add constant to solution to force refresh of neighbor data, if any
        for i in 0..n {
            for j in 0..n {
                a[i][j] += 1.0;
            }
        }
    }

    let t1 = timer.elapsed();
    let dt = t1 - t0;
    let dtt : f64 = dt.as_secs_f64();

    ///////////////////////////////////////////////////////////////////////
    // Analyze and output results.
    ///////////////////////////////////////////////////////////////////////

    // error tolerance
    const EPSILON : f64 = 1.0e-8;

    let mut norm : f64 = 0.0;
    for i in r..n-r {
        for j in r..n-r {
            norm += b[i][j].abs();
        }
    }
    norm /= active_points as f64;

    let reference_norm : f64 = 2.0*(iterations as f64 + 1.0);
    if (norm-reference_norm).abs() > EPSILON {
        println!("ERROR: L1 norm = {} Reference L1 norm = {}", norm, reference_norm);
        return;
    } else {
        println!("Solution validates");
        if cfg!(debug_assertions) {
            println!("L1 norm = {} Reference L1 norm = {}", norm, reference_norm);
        }
        let flops : usize = (2*stencil_size+1) * active_points;
        let avgtime : f64 = dtt/(iterations as f64);
        println!("Rate (MFlops/s): {:10.3} Avg time (s): {:10.3}", (1.0e-6)*(flops as f64)/avgtime, avgtime);
    }
}
