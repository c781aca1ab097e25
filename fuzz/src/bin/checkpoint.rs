//! The file of a checkpoint: one that can be loaded has the values that were written, and one whose checksums somebody
//! has made to fit is refused or read, and brings nothing down.

#![no_main]

use std::cell::RefCell;
use std::fs::File;

use ckpt::store::{Node, Restored};
use fuzz::{Folder, ID, State};

thread_local! {
    static FOLDER: RefCell<(Folder, Vec<u8>)> = RefCell::new(Folder::new());
}

libfuzzer_sys::fuzz_target!(init: FOLDER.with_borrow(|(_, written)| fuzz::begin_with(written)), |bytes: &[u8]| {
    FOLDER.with_borrow(|(folder, written)| {
        let path = folder.path();
        std::fs::write(&path, bytes).expect("it can be written");
        if let Ok(restored) = folder.store.load(ID) {
            assert!(bytes == written, "another file is taken for whole");
            assert_eq!(restored.decode::<State>(0, "state").ok(), Some(State::new()));
        }
        let file = File::options().read(true).write(true).open(&path).expect("it is there");
        ckpt::fuzzing::reseal(&file).expect("it can be written");
        if let Ok(restored) = folder.store.open_checkpoint(ID) {
            look_into(&restored);
            let _ = folder.store.verify(ID);
        }
        if let Ok(restored) = folder.store.load(ID) {
            let _ = restored.decode::<State>(0, "state");
        }
    });
});

fn look_into(restored: &Restored) {
    let _ = restored.decode::<State>(0, "state");
    let _ = restored.decode::<Vec<f64>>(0, "state");
    look_at(restored, restored.tree());
}

fn look_at(restored: &Restored, node: &Node) {
    let _ = (
        restored.bytes(node, 0, 100),
        restored.numbers(node, 0, 100),
        restored.text(node, 0, 100),
    );
    for child in node.children() {
        look_at(restored, child);
    }
}
