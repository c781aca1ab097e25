//! One array as numpy has it: format version 1.0 of `.npy` (NEP 1). Numbers go as they are, everything else as text.

use std::io::{self, Write};

use ckpt::LoadError;
use ckpt::store::{NodeKind, Restored};
use ckpt::value::DType;

use super::Named;

/// Elements that are read at once.
const CHUNK: u64 = 1 << 16;

/// What numpy calls the type; none if it has no such.
fn descriptor(dtype: &DType) -> Option<&'static str> {
    Some(match dtype {
        DType::U8 | DType::Unit => "|u1",
        DType::U16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 | DType::Object(_) => "<u8",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::Complex32 => "<c8",
        DType::Complex64 => "<c16",
        DType::Bool => "|b1",
        DType::Char => "<U1",
        _ => return None,
    })
}

/// What goes wrong: the checkpoint cannot be read, or the file not be written.
pub enum NpyError {
    Load(LoadError),
    Write(io::Error),
}

impl From<LoadError> for NpyError {
    fn from(error: LoadError) -> Self {
        NpyError::Load(error)
    }
}

impl From<io::Error> for NpyError {
    fn from(error: io::Error) -> Self {
        NpyError::Write(error)
    }
}

/// Writes the values of a node, or those that are chosen.
pub fn write(to: &mut impl Write, checkpoint: &Restored, one: &Named<'_>) -> Result<(), NpyError> {
    if let NodeKind::Dataset { dtype, shape, .. } = &one.node.kind
        && let Some(descriptor) = descriptor(dtype)
    {
        let (shape, runs) = one.chosen(shape);
        header(to, descriptor, &shape)?;
        for run in runs {
            let end = run.first + run.length;
            for first in (run.first..end).step_by(CHUNK as usize) {
                let mut bytes = checkpoint.bytes(one.node, first, CHUNK.min(end - first))?;
                if cfg!(target_endian = "big") {
                    turn(&mut bytes, dtype);
                }
                to.write_all(&bytes)?;
            }
        }
        return Ok(());
    }
    let (shape, words) = words(checkpoint, one)?;
    let longest = words
        .iter()
        .map(|word| word.chars().count())
        .max()
        .unwrap_or(0)
        .max(1);
    header(to, &format!("<U{longest}"), &shape)?;
    for word in words {
        let mut letters: Vec<u32> = word.chars().map(u32::from).collect();
        letters.resize(longest, 0);
        for letter in letters {
            to.write_all(&letter.to_le_bytes())?;
        }
    }
    Ok(())
}

/// Bytes come in the order of this machine.
fn turn(bytes: &mut [u8], dtype: &DType) {
    let size = match dtype {
        DType::Complex32 | DType::Complex64 => dtype.size() / 2,
        _ => dtype.size(),
    };
    bytes.chunks_mut(size.max(1)).for_each(<[u8]>::reverse);
}

fn words(checkpoint: &Restored, one: &Named<'_>) -> Result<(Vec<u64>, Vec<String>), LoadError> {
    if let NodeKind::Dataset {
        dtype: DType::Text, ..
    } = &one.node.kind
    {
        return Ok((Vec::new(), vec![checkpoint.text(one.node, 0, u64::MAX)?.concat()]));
    }
    let (shape, runs) = one.chosen(&one.elements.shape());
    let mut words = Vec::new();
    for run in runs {
        words.extend(one.elements.words(checkpoint, run.first, run.length)?);
    }
    Ok((shape, words))
}

/// Magic, version, and the description as a Python literal, padded so that what follows is aligned to 64 bytes.
fn header(to: &mut impl Write, descriptor: &str, shape: &[u64]) -> io::Result<()> {
    let shape: String = shape.iter().map(|size| format!("{size},")).collect();
    let mut text = format!("{{'descr': '{descriptor}', 'fortran_order': False, 'shape': ({shape}), }}");
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    while text.len() + 1 < length {
        text.push(' ');
    }
    text.push('\n');
    to.write_all(b"\x93NUMPY\x01\x00")?;
    to.write_all(&(text.len() as u16).to_le_bytes())?;
    to.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_aligned() {
        for shape in [&[][..], &[3], &[3, 4, 5], &[u64::MAX; 9]] {
            let mut bytes = Vec::new();
            header(&mut bytes, "<f8", shape).unwrap();
            assert_eq!(bytes.len() % 64, 0);
            assert_eq!(bytes.last(), Some(&b'\n'));
        }
        let mut bytes = Vec::new();
        header(&mut bytes, "<f8", &[3, 4]).unwrap();
        assert!(
            String::from_utf8_lossy(&bytes[10..])
                .starts_with("{'descr': '<f8', 'fortran_order': False, 'shape': (3,4,), }")
        );
    }

    #[test]
    fn numbers_of_a_complex_one_are_turned_each() {
        let mut bytes = vec![1, 2, 3, 4, 5, 6, 7, 8];
        turn(&mut bytes, &DType::Complex32);
        assert_eq!(bytes, [4, 3, 2, 1, 8, 7, 6, 5]);
    }
}
