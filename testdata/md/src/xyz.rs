use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::system::System;

/// An XYZ trajectory that grows by one frame at a time.
pub struct Trajectory {
    path: PathBuf,
    frames: usize,
}

impl Trajectory {
    pub fn create(path: impl AsRef<Path>) -> io::Result<Trajectory> {
        File::create(&path)?;
        Ok(Trajectory { path: path.as_ref().to_owned(), frames: 0 })
    }

    pub fn frame(&mut self, step: usize, system: &System) -> io::Result<()> {
        let file = OpenOptions::new().append(true).open(&self.path)?;
        let mut out = BufWriter::new(file);
        writeln!(out, "{}", system.len())?;
        writeln!(out, "step={step} side={:.6}", system.side())?;
        for p in &system.positions {
            writeln!(out, "Ar {:.6} {:.6} {:.6}", p.x, p.y, p.z)?;
        }
        self.frames += 1;
        out.flush()
    }

    pub fn frames(&self) -> usize {
        self.frames
    }
}
