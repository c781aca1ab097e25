//! The symbols of this executable: which function is at an address. One function that is compiled more than once has the
//! same symbol each time. Without a table of symbols (`strip`) nothing is known.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::sync::OnceLock;

use crate::base::own;

/// Whether the functions at two addresses are one.
pub(super) fn is_one_function(a: usize, b: usize) -> bool {
    let name = |address| table().and_then(|table| table.raw(address));
    a == b || name(a).is_some_and(|of_a| name(b) == Some(of_a))
}

/// The name of the function at an address, for people.
pub(super) fn of(address: usize) -> Option<String> {
    table()?.raw(address).map(readable)
}

fn table() -> Option<&'static Symbols> {
    /// Of the executable, which stays the same.
    static SYMBOLS: OnceLock<Option<Symbols>> = OnceLock::new();
    SYMBOLS.get_or_init(|| own::unobserved(Symbols::read)).as_ref()
}

struct Symbols {
    /// Address and place of the name, by address.
    functions: Vec<(usize, usize)>,
    names: Vec<u8>,
}

/// The sizes of what an ELF file for machines with 64 bits is made of.
const HEADER: usize = 64;
const SEGMENT: usize = 56;
const SECTION: usize = 64;
const SYMBOL: usize = 24;

impl Symbols {
    fn read() -> Option<Self> {
        let mut file = File::open("/proc/self/exe").ok()?;
        let header = part(&mut file, 0, HEADER)?;
        // 64 bits, little-endian.
        if !header.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let segments = part(&mut file, word(&header, 32)?, half(&header, 56)? * SEGMENT)?;
        let is_first = |one: &&[u8]| word4(one, 0) == Some(1) && word(one, 8) == Some(0);
        let first = segments.chunks_exact(SEGMENT).find(is_first)?;
        let moved_by = loaded_at()?.wrapping_sub(word(first, 16)?);
        let sections = part(&mut file, word(&header, 40)?, half(&header, 60)? * SECTION)?;
        let section = |index: usize| sections.chunks_exact(SECTION).nth(index);
        let symbols = { sections.chunks_exact(SECTION) }.find(|one| word4(one, 4) == Some(2))?;
        let texts = section(word4(symbols, 40)? as usize)?;
        let names = part(&mut file, word(texts, 24)?, word(texts, 32)?)?;
        let table = part(&mut file, word(symbols, 24)?, word(symbols, 32)?)?;
        let of = |symbol: &[u8]| {
            let is_function = symbol[4] & 0xf == 2;
            let address = word(symbol, 8)?.wrapping_add(moved_by);
            is_function.then_some((address, word4(symbol, 0)? as usize))
        };
        let mut functions: Vec<_> = table.chunks_exact(SYMBOL).filter_map(of).collect();
        functions.sort_unstable();
        Some(Self { functions, names })
    }

    /// The symbol of the function that begins there. LLVM puts something behind the name of a function that several parts of
    /// a program share.
    fn raw(&self, address: usize) -> Option<&str> {
        let first = self.functions.partition_point(|(at, _)| *at < address);
        let (at, name) = self.functions.get(first)?;
        let bytes = self.names.get(*name..)?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let name = std::str::from_utf8(&bytes[..end]).ok()?;
        (*at == address).then(|| name.split(".llvm.").next().unwrap_or(name))
    }
}

/// Where the first page of the executable is in memory.
fn loaded_at() -> Option<usize> {
    let executable = fs::read_link("/proc/self/exe").ok()?;
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        // 55d0c0a00000-55d0c0a05000 r--p 00000000 fd:00 1234  /bin/x
        let mut words = line.splitn(6, ' ');
        let range = words.next()?;
        let offset = words.nth(1)?;
        let path = words.nth(2)?.trim_start();
        let is_first = usize::from_str_radix(offset, 16) == Ok(0) && executable.to_str() == Some(path);
        let start = range.split('-').next()?;
        is_first.then(|| usize::from_str_radix(start, 16).ok())?
    })
}

fn part(file: &mut File, at: usize, length: usize) -> Option<Vec<u8>> {
    /// More than any table of an executable takes: lengths in a file are not trusted.
    const MOST: usize = 1 << 30;
    let mut bytes = vec![0; Some(length).filter(|length| *length <= MOST)?];
    file.seek(SeekFrom::Start(at as u64)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + 8)?.try_into().ok()?;
    usize::try_from(u64::from_le_bytes(bytes)).ok()
}

fn word4(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(
        bytes.get(at..at + 2)?.try_into().ok()?,
    )))
}

/// A symbol of Rust's older form as a path: `_ZN4main5speed17h0123456789abcdefE` is `main::speed`. Others stay.
fn readable(symbol: &str) -> String {
    let path = || {
        let mut rest = symbol.strip_prefix("_ZN")?;
        let mut parts = Vec::new();
        while !rest.starts_with('E') {
            let digits = rest.find(|c: char| !c.is_ascii_digit())?;
            let length: usize = rest[..digits].parse().ok()?;
            parts.push(rest.get(digits..digits + length)?);
            rest = rest.get(digits + length..)?;
        }
        // The last one is a hash.
        parts.pop();
        Some(parts.join("::"))
    };
    let path = path().unwrap_or_else(|| symbol.to_owned());
    let signs = [
        ("$u7b$", "{"),
        ("$u7d$", "}"),
        ("$LT$", "<"),
        ("$GT$", ">"),
        ("$u20$", " "),
        ("..", "::"),
    ];
    signs.iter().fold(path, |path, (from, to)| path.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named_here(x: f64) -> f64 {
        x.sin() + 1.5
    }

    #[test]
    fn a_function_is_known_by_its_symbol() {
        let function: fn(f64) -> f64 = named_here;
        let name = of(function as usize).unwrap();
        assert!(name.contains("named_here"), "{name}");
        assert_eq!(of(function as usize + 1), None);
        assert!(is_one_function(function as usize, function as usize));
        assert!(!is_one_function(function as usize, of as fn(_) -> _ as usize));
        assert_eq!(
            readable("_ZN4main5speed28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE"),
            "main::speed::_{{closure}}"
        );
        assert_eq!(readable("memcpy"), "memcpy");
    }
}
