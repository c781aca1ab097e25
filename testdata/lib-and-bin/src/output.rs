use crate::{Atom, Error, Simulation};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a line of energies whenever it is told to.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    out: BufWriter<File>,
    lines: usize,
}

impl Recorder {
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_path_buf();
        let make = || -> io::Result<BufWriter<File>> {
            let mut out = BufWriter::new(File::create(&path)?);
            writeln!(out, "# step kinetic potential total")?;
            Ok(out)
        };
        match make() {
            Ok(out) => Ok(Recorder { path, out, lines: 0 }),
            Err(source) => Err(Error::Io { path, source }),
        }
    }

    pub fn record(&mut self, sim: &Simulation) -> Result<(), Error> {
        let (k, p) = (sim.kinetic(), sim.potential());
        self.lines += 1;
        writeln!(self.out, "{} {k:.10} {p:.10} {:.10}", sim.step_no(), k + p)
            .map_err(|source| Error::Io { path: self.path.clone(), source })
    }

    pub fn finish(mut self) -> Result<(), Error> {
        let path = self.path.clone();
        let end = writeln!(self.out, "# {} lines", self.lines).and_then(|()| self.out.flush());
        end.map_err(|source| Error::Io { path, source })
    }
}

pub(crate) fn write_xyz(path: &str, atoms: &[Atom]) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "{}\nverlet gas", atoms.len())?;
    for a in atoms {
        let [x, y, z] = a.pos.components();
        writeln!(out, "Ar {x:.8} {y:.8} {z:.8}")?;
    }
    out.flush()
}
