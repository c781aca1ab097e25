//! Errors of input and output: what a loop over lines has in its hands; and of environment variables.

use std::borrow::Cow;
use std::env::VarError;
use std::ffi::OsString;
use std::io::{Error, ErrorKind};

use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

const NAMES: &[Cow<'static, str>] = &[
    Cow::Borrowed("system"),
    Cow::Borrowed("kind"),
    Cow::Borrowed("message"),
];

/// An error of the system is its number; any other its kind and what it says.
impl Checkpoint for Error {
    fn save(&self, to: &mut Encoder<'_>) {
        self.raw_os_error().save(&mut to.field(NAMES, 0));
        format!("{:?}", self.kind()).save(&mut to.field(NAMES, 1));
        self.to_string().save(&mut to.field(NAMES, 2));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let system: Option<i32> = from.field(&["system"])?;
        let (kind, message): (String, String) = (from.field(&["kind"])?, from.field(&["message"])?);
        if let Some(number) = system {
            return Ok(Error::from_raw_os_error(number));
        }
        let kind = KINDS
            .into_iter()
            .find(|known| format!("{known:?}") == kind)
            .unwrap_or(ErrorKind::Other);
        Ok(match kind.to_string() == message {
            true => Error::from(kind),
            false => Error::new(kind, message),
        })
    }
}

/// A variable is not there, or its value is no text.
impl Checkpoint for VarError {
    fn save(&self, to: &mut Encoder<'_>) {
        let value = match self {
            VarError::NotPresent => None,
            VarError::NotUnicode(value) => Some(value),
        };
        value.cloned().save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let value: Option<OsString> = Checkpoint::load(from)?;
        Ok(value.map_or(VarError::NotPresent, VarError::NotUnicode))
    }
}

const KINDS: [ErrorKind; 38] = [
    ErrorKind::NotFound,
    ErrorKind::PermissionDenied,
    ErrorKind::ConnectionRefused,
    ErrorKind::ConnectionReset,
    ErrorKind::HostUnreachable,
    ErrorKind::NetworkUnreachable,
    ErrorKind::ConnectionAborted,
    ErrorKind::NotConnected,
    ErrorKind::AddrInUse,
    ErrorKind::AddrNotAvailable,
    ErrorKind::NetworkDown,
    ErrorKind::BrokenPipe,
    ErrorKind::AlreadyExists,
    ErrorKind::WouldBlock,
    ErrorKind::NotADirectory,
    ErrorKind::IsADirectory,
    ErrorKind::DirectoryNotEmpty,
    ErrorKind::ReadOnlyFilesystem,
    ErrorKind::StaleNetworkFileHandle,
    ErrorKind::InvalidInput,
    ErrorKind::InvalidData,
    ErrorKind::TimedOut,
    ErrorKind::WriteZero,
    ErrorKind::StorageFull,
    ErrorKind::NotSeekable,
    ErrorKind::QuotaExceeded,
    ErrorKind::FileTooLarge,
    ErrorKind::ResourceBusy,
    ErrorKind::ExecutableFileBusy,
    ErrorKind::Deadlock,
    ErrorKind::CrossesDevices,
    ErrorKind::TooManyLinks,
    ErrorKind::ArgumentListTooLong,
    ErrorKind::Interrupted,
    ErrorKind::Unsupported,
    ErrorKind::UnexpectedEof,
    ErrorKind::OutOfMemory,
    ErrorKind::Other,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::round_trip;

    #[test]
    fn variables_that_are_not_there_or_no_text_are_so_again() {
        use std::os::unix::ffi::OsStringExt;
        let no_text = OsString::from_vec(vec![b'a', 0xff]);
        for error in [VarError::NotPresent, VarError::NotUnicode(no_text)] {
            assert_eq!(round_trip(&error), error);
        }
        let read: Result<String, VarError> = Ok("40".into());
        assert_eq!(round_trip(&read), read);
    }

    #[test]
    fn errors_say_the_same_again() {
        let of_the_reader = std::io::read_to_string(&[0xff_u8][..]).unwrap_err();
        let errors = KINDS.map(Error::from).into_iter().chain([
            Error::from_raw_os_error(2),
            Error::other("it is late"),
            Error::new(ErrorKind::InvalidData, "line 7"),
            of_the_reader,
        ]);
        for error in errors {
            let again = round_trip(&error);
            assert_eq!(
                (again.kind(), again.raw_os_error(), again.to_string()),
                (error.kind(), error.raw_os_error(), error.to_string())
            );
        }
    }
}
