//! Values that end without their destructors having an effect: what a checkpoint has something else in the place of. The process
//! that the checkpoint is of has not ended them there.

use std::mem::ManuallyDrop;
use std::os::fd::RawFd;

use super::Checkpoint;
use super::column::Column;
use super::encode::Encoder;
use super::objects::Objects;
use super::reach::drops_with_effects;

/// Ends a value. Where its destructor may do more than give back its memory and close its files, such as pass on what a writer
/// has in its buffer or count its like, it does not run: the files are closed, and the memory is not given back.
pub(crate) fn let_go<T: Checkpoint>(value: T) {
    if !drops_with_effects::<T>() {
        return;
    }
    let value = ManuallyDrop::new(value);
    for number in files_of(&*value) {
        // SAFETY: the number is that of a `File` that the value owns. Nobody uses the value any more, and its destructor, which
        // would close it, does not run. That of a file which the value has opened only to say what it has is closed already,
        // and nothing is closed here.
        unsafe { rustix::io::close(number) }
    }
}

/// The numbers of the open files that a value owns alone, as it says when it is saved.
fn files_of<T: Checkpoint>(value: &T) -> Vec<RawFd> {
    let mut objects = Objects::default();
    objects.files.are_only_counted();
    let mut column = Column::Empty;
    value.save(&mut Encoder::new(&mut column, false, &mut objects));
    objects.files.counted()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{BufWriter, Write};
    use std::os::fd::AsRawFd;
    use std::rc::Rc;

    fn is_open(number: RawFd) -> bool {
        std::fs::read_link(format!("/proc/self/fd/{number}")).is_ok()
    }

    #[test]
    fn a_writer_that_is_let_go_passes_nothing_on_and_closes_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let open = || BufWriter::new(File::create(&path).unwrap());
        let mut writers = vec![Some(open()), None];
        let shared = Rc::new(open());
        writers[0].as_mut().unwrap().write_all(b"ten").unwrap();
        let number = writers[0].as_ref().unwrap().get_ref().as_raw_fd();
        let of_shared = shared.get_ref().as_raw_fd();
        let_go((writers, shared.clone()));
        assert!(is_open(of_shared));
        assert!(!is_open(number));
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }

    #[test]
    fn what_only_has_memory_and_files_is_dropped() {
        let shared = Rc::new(7_u8);
        let_go((File::open("/dev/null").unwrap(), vec![shared.clone()]));
        assert_eq!(Rc::strong_count(&shared), 1);
    }
}
