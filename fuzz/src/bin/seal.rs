//! `seal`: a file that another program has changed is refused, or it is whole afterwards.

#![no_main]

use std::cell::RefCell;

use fuzz::{Folder, ID, State};

thread_local! {
    static FOLDER: RefCell<(Folder, Vec<u8>)> = RefCell::new(Folder::new());
}

libfuzzer_sys::fuzz_target!(init: FOLDER.with_borrow(|(_, written)| fuzz::begin_with(written)), |bytes: &[u8]| {
    FOLDER.with_borrow_mut(|(folder, _)| {
        std::fs::write(folder.path(), bytes).expect("it can be written");
        if folder.store.renew(ID, &mut |_| true).is_ok() {
            folder.store.verify(ID).expect("it was sealed");
            let restored = folder.store.load(ID).expect("it was sealed");
            let _ = restored.decode::<State>(0, "state");
        }
    });
});
