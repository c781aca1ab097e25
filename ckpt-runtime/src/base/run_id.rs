//! The identity of a run: it stands in all that the run leaves, so that nothing of one run is taken for another's.

use std::fmt;
use std::io;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The identity of a run: 128 random bits, written as 32 hexadecimal digits. A start begins a run, a restart continues one.
///
/// ```
/// use ckpt::store::RunId;
///
/// let run = RunId::new()?;
/// assert_eq!(run.to_string().parse(), Ok(run));
/// assert!(run.to_string().starts_with(&run.short()) && run.short().len() == 8);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId([u8; DIGITS / 2]);

/// The text is not the identity of a run, nor how one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a run is named by its identity, 32 digits from 0 to f, or by the first few of them")]
pub struct NoRunId;

/// Hexadecimal digits of an identity.
const DIGITS: usize = 32;
/// Numbers of 32 bits in an identity, in which processes pass it on.
const PARTS: usize = 4;

impl RunId {
    /// A new one.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn new() -> io::Result<RunId> {
        let mut bytes = [0; DIGITS / 2];
        let mut filled = 0;
        while filled < bytes.len() {
            let flags = rustix::rand::GetRandomFlags::empty();
            match rustix::rand::getrandom(&mut bytes[filled..], flags) {
                Ok(more) => filled += more,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(RunId(bytes))
    }

    /// That of a number.
    pub(crate) fn of_number(number: u128) -> RunId {
        RunId(number.to_be_bytes())
    }

    /// As one number.
    pub(crate) fn number(self) -> u128 {
        u128::from_be_bytes(self.0)
    }

    /// That of a number.
    #[cfg(any(test, fuzzing))]
    pub(crate) const fn numbered(number: u128) -> RunId {
        RunId(number.to_be_bytes())
    }

    /// The first eight digits, which people tell runs apart by.
    pub fn short(self) -> String {
        self.to_string()[..8].to_owned()
    }

    /// As numbers that processes can compare: none is negative.
    pub(crate) fn parts(self) -> [i64; PARTS] {
        let mut parts = [0; PARTS];
        for (part, bytes) in parts.iter_mut().zip(self.0.chunks_exact(4)) {
            *part = bytes.iter().fold(0, |part, byte| part << 8 | i64::from(*byte));
        }
        parts
    }

    /// The other way; `None` where some number is none of an identity.
    pub(crate) fn of_parts(parts: [i64; PARTS]) -> Option<RunId> {
        let whole = parts.into_iter().try_fold(0, |whole, part| {
            Some(whole << 32 | u128::from(u32::try_from(part).ok()?))
        });
        whole.map(RunId::of_number)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunId({self})")
    }
}

impl FromStr for RunId {
    type Err = NoRunId;

    /// One text for each: the name of a folder must not stand for two runs.
    fn from_str(text: &str) -> Result<RunId, NoRunId> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != DIGITS || !text.bytes().all(is_digit) {
            return Err(NoRunId);
        }
        u128::from_str_radix(text, 16)
            .map(RunId::of_number)
            .map_err(|_| NoRunId)
    }
}

/// How the identity of a run begins: as many of its digits as a person likes to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPrefix(String);

impl RunPrefix {
    /// Whether the run's identity begins so.
    pub fn is_of(&self, run: RunId) -> bool {
        run.to_string().starts_with(&self.0)
    }

    /// The run, if that is all of its identity.
    pub fn whole(&self) -> Option<RunId> {
        self.0.parse().ok()
    }
}

impl From<RunId> for RunPrefix {
    fn from(run: RunId) -> RunPrefix {
        RunPrefix(run.to_string())
    }
}

impl fmt::Display for RunPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RunPrefix {
    type Err = NoRunId;

    fn from_str(text: &str) -> Result<RunPrefix, NoRunId> {
        let text = text.to_ascii_lowercase();
        let fits = (1..=DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        fits.then_some(RunPrefix(text)).ok_or(NoRunId)
    }
}

impl Serialize for RunId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<RunId, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_goes_over_text_and_numbers() {
        for run in [
            RunId::of_number(0),
            RunId::of_number(u128::MAX),
            RunId::of_number(1 << 100 | 0xffff_0000_1234),
            RunId::new().unwrap(),
        ] {
            assert_eq!(run.to_string().len(), DIGITS);
            assert_eq!(run.to_string().parse(), Ok(run));
            assert_eq!(RunId::of_parts(run.parts()), Some(run));
            let json = serde_json::to_string(&run).unwrap();
            assert_eq!(serde_json::from_str::<RunId>(&json).unwrap(), run);
        }
        assert_eq!(RunId::of_parts([0, -1, 0, 0]), None);
        assert_ne!(RunId::new().unwrap(), RunId::new().unwrap());
    }

    #[test]
    fn a_run_is_named_by_how_it_begins() {
        let run = RunId::of_number(0xab << 120 | 1);
        for text in ["a", "AB", &run.to_string()] {
            assert!(text.parse::<RunPrefix>().unwrap().is_of(run));
        }
        assert!(!"b".parse::<RunPrefix>().unwrap().is_of(run));
        assert_eq!(RunPrefix::from(run).whole(), Some(run));
        assert_eq!("ab".parse::<RunPrefix>().unwrap().whole(), None);
        for wrong in ["", "latest", "0x1", &format!("{run}0")] {
            assert_eq!(wrong.parse::<RunPrefix>(), Err(NoRunId), "{wrong}");
        }
    }

    #[test]
    fn other_texts_are_none() {
        let wrong = [
            "",
            "0",
            "0000000000000000000000000000000A",
            "+000000000000000000000000000000a",
            "000000000000000000000000000000000",
        ];
        for text in wrong {
            assert_eq!(text.parse::<RunId>(), Err(NoRunId), "{text}");
        }
    }
}
