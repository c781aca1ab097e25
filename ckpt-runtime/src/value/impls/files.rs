//! Open files and what the standard library builds around them. What a file's record means is in [`crate::handles`].

use std::borrow::Cow;
use std::fs::File;
use std::path::PathBuf;

use crate::handles::{Access, OpenFile};
use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Reach};

const NAMES: &[Cow<'static, str>] = &[
    Cow::Borrowed("handle"),
    Cow::Borrowed("path"),
    Cow::Borrowed("access"),
    Cow::Borrowed("append"),
    Cow::Borrowed("offset"),
    Cow::Borrowed("length"),
];

impl Checkpoint for File {
    fn save(&self, to: &mut Encoder<'_>) {
        if to.failed() || to.measures() {
            return;
        }
        match to.objects().files.look(self) {
            Ok(file) => file.save(to),
            Err(why) => to.fail(why),
        }
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        if from.is_stand_in() {
            return File::open("/dev/null").map_err(LoadError::invalid);
        }
        let file = OpenFile::load(from)?;
        Ok(from.files().reopen(file)?)
    }
    fn reach(to: &mut Reach) {
        to.only_gives_back();
    }
}

impl Checkpoint for OpenFile {
    fn save(&self, to: &mut Encoder<'_>) {
        self.handle.save(&mut to.field(NAMES, 0));
        self.path.save(&mut to.field(NAMES, 1));
        self.access.save(&mut to.field(NAMES, 2));
        self.append.save(&mut to.field(NAMES, 3));
        self.offset.save(&mut to.field(NAMES, 4));
        self.length.save(&mut to.field(NAMES, 5));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Ok(OpenFile {
            handle: from.field(&["handle"])?,
            path: from.field::<PathBuf>(&["path"])?,
            access: from.field(&["access"])?,
            append: from.field(&["append"])?,
            offset: from.field(&["offset"])?,
            length: from.field(&["length"])?,
        })
    }
}

impl Checkpoint for Access {
    fn save(&self, to: &mut Encoder<'_>) {
        const NAMES: &[Cow<'static, str>] = &[
            Cow::Borrowed("Read"),
            Cow::Borrowed("Write"),
            Cow::Borrowed("ReadWrite"),
        ];
        to.plain_variant(NAMES, *self as usize);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let (number, _) = from.variant(&[&["Read"], &["Write"], &["ReadWrite"]])?;
        Ok([Access::Read, Access::Write, Access::ReadWrite][number])
    }
}
