use std::io::{BufRead, BufReader, Read};

#[derive(ckpt::Checkpoint)]
struct Noise(u8);

impl Read for Noise {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        into.fill(self.0);
        Ok(into.len())
    }
}

#[ckpt::main]
fn main() {
    let mut lines = BufReader::new(Noise(10));
    let mut line = String::new();
    for _ in 0..10 {
        ckpt::checkpoint!();
        lines.read_line(&mut line).unwrap();
    }
    println!("{line}");
}
