mod lattice;
mod output;
mod solver;

use std::error::Error;
use std::fs::File;
use std::io::Write;

use solver::{Lbm, Params};

fn parse_args() -> Result<Params, Box<dyn Error>> {
    let mut params = Params::default();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--nx" => params.nx = value()?.parse()?,
            "--ny" => params.ny = value()?.parse()?,
            "--re" => params.reynolds = value()?.parse()?,
            "--steps" => params.steps = value()?.parse()?,
            "--every" => params.every = value()?.parse()?,
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    Ok(params)
}

fn main() -> Result<(), Box<dyn Error>> {
    let params = parse_args()?;
    let (steps, every) = (params.steps, params.every);
    let mut lbm = Lbm::new(params)?;
    println!("{lbm}");

    let mut csv = File::create("drag.csv")?;
    writeln!(csv, "step,force,mass")?;
    let mut frame = 0;

    while lbm.steps_done() < steps {
        let force = lbm.step();
        if !force.is_finite() {
            return Err(format!("blew up at step {}", lbm.steps_done()).into());
        }
        if lbm.steps_done() % every == 0 {
            let name = format!("frame_{frame:04}.ppm");
            output::write_frame(&name, &lbm)?;
            frame += 1;
            println!("step {:5}  force {force:+.6e}  -> {name}", lbm.steps_done());
        }
        if lbm.steps_done() % 5 == 0 {
            writeln!(csv, "{},{:.12e},{:.12e}", lbm.steps_done(), force, lbm.mass())?;
        }
    }

    let tail: Vec<f64> = lbm.drag_history().map(|&(_, f)| f).collect();
    let late = &tail[tail.len() / 2..];
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    println!("mean force over the second half: {mean:.9e}");
    println!("{lbm}");
    Ok(())
}
