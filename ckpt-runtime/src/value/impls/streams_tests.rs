//! Readers and writers there and back: nothing lost, nothing twice.

use std::fs::File;
use std::io::{
    BufRead, BufReader, BufWriter, Bytes, Cursor, LineWriter, Read, Seek, SeekFrom, Stdin, StdinLock, Stdout,
    StdoutLock, Write,
};

use crate::value::can_stand_in;
use crate::value::tests::{changed, encode, round_trip};

#[test]
fn a_buffer_of_any_filling_comes_back() {
    for capacity in [0, 1, 2, 5, 8192] {
        for count in 0..12 {
            let mut writer = BufWriter::with_capacity(capacity, Vec::new());
            for byte in 0..count {
                writer.write_all(&[byte]).unwrap();
            }
            let again = round_trip(&writer);
            assert_eq!(again.buffer(), writer.buffer(), "{count} bytes in {capacity}");
            assert_eq!(again.capacity(), writer.capacity());
            assert_eq!(again.get_ref(), writer.get_ref());
            assert_eq!(again.into_inner().unwrap(), writer.into_inner().unwrap());
        }
    }
}

#[test]
fn half_a_line_stays_in_its_buffer() {
    let mut writer = LineWriter::with_capacity(100, Vec::new());
    writer.write_all(b"one\ntwo").unwrap();
    let mut again = round_trip(&writer);
    assert_eq!(again.get_ref(), b"one\n");
    again.write_all(b" three\nfour").unwrap();
    assert_eq!(again.get_ref(), b"one\ntwo three\n");
    assert_eq!(again.into_inner().unwrap(), b"one\ntwo three\nfour");
}

#[test]
fn what_was_read_ahead_has_to_be_in_the_file_still() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ring");
    std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
    let mut reader = BufReader::new(File::open(&path).unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(encode(&reader).is_ok());
    let mut writer = File::options().write(true).open(&path).unwrap();
    writer.write_all(b"ONE\n").unwrap();
    assert!(encode(&reader).is_ok(), "that was taken before");
    writer.write_all(b"TWO\n").unwrap();
    let why = encode(&reader).map(drop).unwrap_err().why;
    assert!(why.contains("has something else there by now"), "{why}");
    writer.set_len(3).unwrap();
    assert!(encode(&reader).is_err());
    // Read to its end, nothing is in the buffer.
    reader.read_to_string(&mut line).unwrap();
    assert!(encode(&reader).is_ok() && line == "one\ntwo\nthree\n");
}

#[test]
fn readers_go_on_with_the_next_byte() {
    let text = b"one\ntwo\nthree\nfour\n".to_vec();
    for capacity in [1, 3, 100] {
        let mut reader = BufReader::with_capacity(capacity, Cursor::new(text.clone()));
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let mut again = round_trip(&reader);
        assert_eq!(again.capacity(), capacity);
        again.read_line(&mut line).unwrap();
        assert_eq!(line, "one\ntwo\n");
        let mut lines = reader.lines();
        lines.next();
        let rest: Vec<String> = round_trip(&lines).map(Result::unwrap).collect();
        assert_eq!(rest, ["three", "four"]);
    }
    let mut bytes = Cursor::new(text.clone()).bytes();
    bytes.nth(14);
    assert_eq!(
        round_trip(&bytes).map(Result::unwrap).collect::<Vec<_>>(),
        b"our\n"
    );
    let mut limited = BufReader::new(Cursor::new(text).take(8));
    let mut line = String::new();
    limited.read_line(&mut line).unwrap();
    let mut rest = String::new();
    round_trip(&limited).read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "two\n");
}

#[test]
fn files_go_on_where_they_were() {
    let folder = tempfile::Builder::new().prefix("ckpt-").tempdir().unwrap();
    let path = folder.path().join("text");
    std::fs::write(&path, "0123456789").unwrap();
    let mut file = File::open(&path).unwrap();
    file.seek(SeekFrom::Start(3)).unwrap();
    let mut rest = String::new();
    round_trip(&file).read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "3456789");
    assert!(
        round_trip(&file).write_all(b"x").is_err(),
        "it was open for reading"
    );

    let mut appended = File::options().append(true).open(&path).unwrap();
    appended.write_all(b"ab").unwrap();
    let mut writer = BufWriter::new(appended);
    writer.write_all(b"cd").unwrap();
    drop(round_trip(&writer));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "0123456789abcd");
    drop(writer);

    // Of handles that share an offset each moves the other.
    let written = File::create(&path).unwrap();
    let other = File::options().write(true).open(&path).unwrap();
    let (mut a, mut b, mut c) = round_trip(&(written.try_clone().unwrap(), written, other));
    a.write_all(b"one ").unwrap();
    b.write_all(b"two").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one two");
    assert_eq!(c.stream_position().unwrap(), 0);
    c.write_all(b"ONE").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "ONE two");
}

#[test]
fn what_the_file_says_is_not_trusted() {
    let mut writer = BufWriter::with_capacity(10, Vec::new());
    writer.write_all(b"12345").unwrap();
    let larger = |capacity: u64| changed::<BufWriter<Vec<u8>>>(&writer, "capacity", &capacity.to_le_bytes());
    assert_eq!(larger(u64::MAX).unwrap().buffer(), b"12345");
    assert_eq!(larger(0).unwrap().buffer(), b"12345");
    let mut reader = BufReader::new(Cursor::new(vec![0; 100]));
    reader.read_exact(&mut [0; 10]).unwrap();
    for ahead in [101, u64::MAX, 1 << 63] {
        let error = changed::<BufReader<Cursor<Vec<u8>>>>(&reader, "ahead", &u64::to_le_bytes(ahead));
        assert!(error.unwrap_err().to_string().contains("cannot be read again"));
    }
}

#[test]
fn standard_streams_are_made_anew() {
    round_trip::<Stdout>(&std::io::stdout());
    let _ = round_trip::<StdoutLock<'static>>(&std::io::stdout().lock());
    round_trip(&std::io::stderr());
    round_trip(&(std::io::sink(), std::io::empty()));
}

/// A handle keeps nobody out and reads nothing; a lock would.
#[test]
fn a_handle_stands_in_for_another_and_a_lock_does_not() {
    assert!(can_stand_in::<Bytes<BufReader<Stdin>>>());
    assert!(can_stand_in::<Stdout>());
    assert!(!can_stand_in::<StdinLock<'static>>());
    assert!(!can_stand_in::<StdoutLock<'static>>());
}
