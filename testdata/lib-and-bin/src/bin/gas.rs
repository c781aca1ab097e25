use std::process::ExitCode;

use verlet_gas::{Error, Recorder, Settings, Simulation};

fn run() -> Result<(), Error> {
    let settings = Settings::from_args(std::env::args().skip(1))?;
    let mut recorder = Recorder::create("energies.txt")?;
    let mut sim = Simulation::new(settings);

    sim.run(|sim| {
        if sim.step_no() % 20 == 0 {
            recorder.record(sim)?;
        }
        if sim.step_no() % 100 == 0 {
            println!("step {:5}  {}", sim.step_no(), sim.report());
        }
        Ok(())
    })?;

    recorder.finish()?;
    sim.write_xyz("final.xyz")?;
    println!("{} steps done, checksum {:016x}", sim.step_no(), sim.checksum());
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("gas: {e}");
            ExitCode::from(e.code())
        }
    }
}
