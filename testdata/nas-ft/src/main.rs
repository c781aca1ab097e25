use std::time::Instant;

use ft::params::Params;

fn main() -> Result<(), String> {
    let class = std::env::args().nth(1).unwrap_or_else(|| "S".into());
    let params: Params = class.parse()?;
    println!(" FT Benchmark, class {}", params.class);
    println!(" Size       : {:4}x{:4}x{:4}", params.nx, params.ny, params.nz);
    println!(" Iterations : {:7}", params.iterations);

    let clock = Instant::now();
    let sums = ft::run(&params, |t, sum| println!(" T = {t:5}     Checksum = {sum}"));
    let seconds = clock.elapsed().as_secs_f64();

    match ft::verify(&params, &sums) {
        Some(true) => println!(" Result verification successful"),
        Some(false) => return Err("result verification failed".to_string()),
        None => println!(" No reference for this class"),
    }
    let n = params.total() as f64;
    let mflops = 1.0e-6 * n * (14.8157 + 7.19641 * n.ln() + (5.23518 + 7.21113 * n.ln()) * params.iterations as f64) / seconds;
    println!(" Time {seconds:.2} s, {mflops:.2} MFlop/s");
    Ok(())
}
