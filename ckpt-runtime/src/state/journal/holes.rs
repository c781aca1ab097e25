//! Files with holes: parts that take no room on the disk, and are read as zeros. What is kept of such a file, summed up and
//! brought back is what is between its holes.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use rustix::io::Errno;

use crate::base::files;

/// Bytes that are read or written at once.
const BLOCK: u64 = 1 << 20;

/// The first part of a range of a file that is no hole. Where the file system knows no holes, that is all of it. The handle
/// stands elsewhere then.
///
/// # Errors
/// What the system says.
pub(super) fn next_data(file: &File, range: Range<u64>) -> io::Result<Option<Range<u64>>> {
    if range.is_empty() {
        return Ok(None);
    }
    let from = match seek(file, SeekFrom::Data(range.start)) {
        Ok(from) if from >= range.end => return Ok(None),
        Ok(from) => from,
        Err(Errno::NXIO) => return Ok(None),
        Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(Some(range)),
        Err(error) => return Err(error.into()),
    };
    let end = match seek(file, SeekFrom::Hole(from)) {
        Ok(end) => end.min(range.end),
        Err(_) => range.end,
    };
    // One that has changed meanwhile is no reason to stand still.
    Ok(Some(from..end.max(from + 1)))
}

/// Copies a part of a file into a new one.
///
/// # Errors
/// What the system says; the part ends behind the file.
pub(super) fn copy(from: &File, part: Range<u64>, to: &Path) -> io::Result<File> {
    let to = File::options().read(true).write(true).create_new(true).open(to)?;
    files::is_for_its_owner(&to)?;
    if from.metadata()?.len() < part.end {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut at = part.start;
    while let Some(data) = next_data(from, at..part.end)? {
        copy_data(from, data.clone(), &to, data.start - part.start)?;
        at = data.end;
    }
    to.set_len(part.end - part.start)?;
    Ok(to)
}

/// Copies a part without holes to a place in another file.
fn copy_data(from: &File, part: Range<u64>, to: &File, place: u64) -> io::Result<()> {
    let (mut at, mut behind) = (part.start, place);
    while at < part.end {
        let count = (part.end - at).min(1 << 30) as usize;
        match rustix::fs::copy_file_range(from, Some(&mut at), to, Some(&mut behind), count) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {}
            // Not all file systems can do it by themselves.
            Err(_) => return copy_by_reading(from, at..part.end, to, behind),
        }
    }
    Ok(())
}

fn copy_by_reading(from: &File, part: Range<u64>, to: &File, place: u64) -> io::Result<()> {
    let mut block = vec![0; BLOCK.min(part.end - part.start) as usize];
    let mut at = part.start;
    while at < part.end {
        let count = (part.end - at).min(BLOCK) as usize;
        from.read_exact_at(&mut block[..count], at)?;
        to.write_all_at(&block[..count], place + (at - part.start))?;
        at += count as u64;
    }
    Ok(())
}

/// A part of a file is zeros from here on; what is behind its end is left as it is.
///
/// # Errors
/// What the system says.
pub(super) fn clear(file: &File, part: Range<u64>) -> io::Result<()> {
    let end = part.end.min(file.metadata()?.len());
    let mut at = part.start;
    while let Some(data) = next_data(file, at..end)? {
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if fallocate(file, how, data.start, data.end - data.start).is_err() {
            let zeros = vec![0; BLOCK.min(data.end - data.start) as usize];
            let mut from = data.start;
            while from < data.end {
                let count = (data.end - from).min(BLOCK) as usize;
                file.write_all_at(&zeros[..count], from)?;
                from += count as u64;
            }
        }
        at = data.end;
    }
    Ok(())
}

/// Goes through a file in blocks, and knows of each whether it lies in a hole.
#[derive(Debug)]
pub(super) struct Holes<'f> {
    file: &'f File,
    length: u64,
    /// The next part that is no hole.
    data: Option<Range<u64>>,
}

impl<'f> Holes<'f> {
    /// Of the first bytes of a file.
    ///
    /// # Errors
    /// What the system says; it is shorter.
    pub fn of(file: &'f File, length: u64) -> io::Result<Holes<'f>> {
        if file.metadata()?.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let data = next_data(file, 0..length)?;
        Ok(Holes { file, length, data })
    }

    /// Whether a block is all in a hole. Blocks are asked for in order.
    ///
    /// # Errors
    /// What the system says.
    pub fn has(&mut self, block: &Range<u64>) -> io::Result<bool> {
        while let Some(data) = &self.data
            && data.end <= block.start
        {
            self.data = next_data(self.file, data.end..self.length)?;
        }
        Ok(self.data.as_ref().is_none_or(|data| data.start >= block.end))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::super::log::sum_of;
    use super::*;

    const LENGTH: u64 = 40 * BLOCK + 77;

    fn sparse(path: &Path, data: &[(u64, &[u8])]) -> File {
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .unwrap();
        file.set_len(LENGTH).unwrap();
        for (at, bytes) in data {
            file.write_all_at(bytes, *at).unwrap();
        }
        file
    }

    #[test]
    fn a_copy_has_the_bytes_and_the_holes_and_the_sum_is_that_of_the_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let data: [(u64, &[u8]); 3] = [(5, b"begin"), (17 * BLOCK - 2, b"between"), (LENGTH - 3, b"end")];
        let file = sparse(&path("sparse"), &data);
        let all = std::fs::read(path("sparse")).unwrap();
        let copy = copy(&file, 0..LENGTH, &path("copy")).unwrap();
        assert_eq!(std::fs::read(path("copy")).unwrap(), all);
        assert!(copy.metadata().unwrap().blocks() * 512 < LENGTH / 4);
        std::fs::write(path("full"), &all).unwrap();
        let full = File::open(path("full")).unwrap();
        for length in [LENGTH, 16 * BLOCK, BLOCK + 1, 3, 0] {
            assert_eq!(sum_of(&file, length).unwrap(), sum_of(&full, length).unwrap());
        }
        sum_of(&file, LENGTH + 1).unwrap_err();
        super::copy(&file, 0..LENGTH + 1, &path("longer")).unwrap_err();
        let part = 16 * BLOCK..17 * BLOCK + 3;
        super::copy(&file, part.clone(), &path("part")).unwrap();
        assert_eq!(
            std::fs::read(path("part")).unwrap(),
            all[part.start as usize..part.end as usize]
        );
    }

    #[test]
    fn what_is_cleared_is_zeros() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![7; 3 * BLOCK as usize]).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        clear(&file, 11..2 * BLOCK + 5).unwrap();
        clear(&file, 3 * BLOCK - 1..9 * BLOCK).unwrap();
        let mut expected = vec![7; 3 * BLOCK as usize];
        expected[11..2 * BLOCK as usize + 5].fill(0);
        expected[3 * BLOCK as usize - 1] = 0;
        assert!(std::fs::read(&path).unwrap() == expected);
    }
}
