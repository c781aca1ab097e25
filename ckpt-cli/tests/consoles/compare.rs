//! Whether a command has printed what a page shows. Words, names, types and lines of sources are compared as they are; what
//! is another at each run is not: numbers, sizes, times, dates, checksums, the name of the machine, where a folder is,
//! the memory of a program that ended before it was looked at. Lines that differ in nothing else are one line, and `...` stands
//! for any number of them.
//!
//! In a terminal that is narrower than the page, one line of the page may be several, and rustc cuts lines of source, `let all =...`.

use std::sync::LazyLock;

use regex::Regex;

/// Patterns and what stands for what they find, in this order.
static SHAPES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let shapes = [
        // A folder, but not what is in it.
        (r#"(^|[\s`'"])(?:~|\.\.)?/(?:[\w.-]+/)*([\w.-]+)"#, "${1}PATH/$2"),
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ?", "DATE"),
        (r"\b[0-9a-f]{32}\b", "CHECKSUM"),
        // A run, by the beginning of its identity, which may have digits only: it and a number of eight look the same.
        (r"(^|[^\w.])[0-9a-f]{8}\b", "${1}#"),
        (
            r"(^|[^\w.])\d+(?:\.\d+)? (?:(?:ns|µs|ms|s|min|h)\b(?: \d+ s\b)?)",
            "${1}TIME",
        ),
        (r"(^|[^\w.])\d+(?:\.\d+)? (?:B|KiB|MiB|GiB)\b", "${1}SIZE"),
        (r"(^|[^\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?", "${1}#"),
        // On a busy machine a short run ends before it is looked at.
        (r", resident at most SIZE", ""),
        (r"[-─]{4,}", "----"),
        (r"[ \t]+", " "),
    ];
    let shapes = shapes.into_iter();
    shapes
        .map(|(pattern, with)| (Regex::new(pattern).unwrap(), with))
        .collect()
});

/// What is said only while another test builds in the same target folder.
const WAITS: &str = "ckpt: waiting for another build in ";

/// The lines of a text without what is another each time.
fn shape(text: &str, host: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with(WAITS)) {
        let words = line
            .split(' ')
            .map(|word| if word == host { "HOST" } else { word });
        let line = words.collect::<Vec<_>>().join(" ");
        let line = shape_of_line(line.trim());
        // What stands before `...` may be all that there is.
        let before = lines.iter().rev().find(|line| *line != "...");
        if !line.is_empty() && (line == "..." || before != Some(&line)) {
            lines.push(line);
        }
    }
    lines
}

fn shape_of_line(line: &str) -> String {
    // `src/main.rs:7:5` is the page's own program.
    let mut parts: Vec<String> = Vec::new();
    for word in line.split_inclusive(' ') {
        match word.contains(".rs:") {
            true => parts.extend([word.to_owned(), String::new()]),
            false if parts.is_empty() => parts.push(word.to_owned()),
            false => *parts.last_mut().unwrap() += word,
        }
    }
    let shaped = parts.iter().map(|part| match part.contains(".rs:") {
        true => part.clone(),
        false => SHAPES.iter().fold(part.clone(), |text, (pattern, with)| {
            pattern.replace_all(&text, *with).into_owned()
        }),
    });
    shaped.collect::<String>().trim().to_owned()
}

/// What is wrong, if the command has not printed what the page shows.
pub fn difference(shown: &str, printed: &str, host: &str) -> Option<String> {
    let (shown, printed) = (shape(shown, "vm"), shape(printed, host));
    matched(&shown, &printed).err().map(|lines| {
        let first = shown.get(lines).map_or("the end", String::as_str);
        let texts = [shown.join("\n  "), printed.join("\n  ")];
        format!(
            "the page, but for numbers:\n  {}\nprinted:\n  {}\nnot printed, or not there: {first}",
            texts[0], texts[1]
        )
    })
}

/// The same of what was printed in a terminal of so many columns.
#[allow(dead_code, reason = "of those who use this, one has a terminal")]
pub fn difference_in_terminal(columns: usize, shown: &str, printed: &str, host: &str) -> Option<String> {
    let long: Vec<Vec<String>> = shown
        .lines()
        .filter(|line| line.chars().count() > columns)
        .map(|line| shape(line, "vm"))
        .collect();
    let lines: Vec<&str> = printed.lines().collect();
    let mut together = String::new();
    let mut at = 0;
    while at < lines.len() {
        if let Some(uncut) = uncut(lines[at], shown) {
            together += &format!("{uncut}\n");
            at += 1;
            continue;
        }
        let whole = |end: &usize| match *end - at {
            1 => lines[at].to_owned(),
            _ => lines[at..*end]
                .iter()
                .map(|line| line.trim())
                .collect::<Vec<_>>()
                .join(" "),
        };
        let ends = (at + 2..=lines.len()).take(MOST_PIECES);
        let end = ends
            .into_iter()
            .find(|end| long.contains(&shape(&whole(end), host)));
        let end = end.unwrap_or(at + 1);
        together += &format!("{}\n", whole(&end));
        at = end;
    }
    difference(shown, &together, host)
}

/// The line of the page of which rustc has shown the beginning.
fn uncut<'s>(line: &str, shown: &'s str) -> Option<&'s str> {
    // The number of the line may stand further to the right.
    let beginning = line.strip_suffix("...")?.trim_start();
    let is_it = |whole: &&str| !beginning.is_empty() && whole.trim_start().starts_with(beginning);
    shown.lines().find(is_it)
}

/// Into how many lines one is broken at most.
const MOST_PIECES: usize = 8;

/// How many of the shown lines were printed, up to the first that was not.
fn matched(shown: &[String], printed: &[String]) -> Result<(), usize> {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => Ok(()),
        (Some((line, rest)), _) if line == "..." => {
            let tried = (0..=printed.len()).map(|skip| matched(rest, &printed[skip..]));
            // The way that comes furthest.
            let best = tried.max_by_key(|tried| tried.map_or_else(|lines| lines, |()| usize::MAX));
            best.unwrap_or(Err(0)).map_err(|lines| lines + 1)
        }
        (Some((line, rest)), Some((first, others))) if line == first => {
            matched(rest, others).map_err(|lines| lines + 1)
        }
        _ => Err(0),
    }
}

#[test]
fn pages_are_compared_but_for_what_is_another_each_time() {
    let same = |shown: &str, printed: &str| assert_eq!(difference(shown, printed, "node7"), None);
    same(
        "2 takes 1 steps\n...\nin `a.d` is 000003:",
        "2 takes 1 steps\n3 takes 7 steps\nin `a.d` is 000014:",
    );
    same(
        "on vm at 2026-11-21T10:45:23Z (5.4 KiB)",
        "on node7 at 2027-01-01T00:00:01Z (17 B)",
    );
    same(
        "command: /home/me/a/target/release/a 7",
        "command: /tmp/.x1/debug/a 100",
    );
    same("------------\n 1 ms\n", "-------\n 1.5 s\n");
    let other = |shown: &str, printed: &str| assert!(difference(shown, printed, "node7").is_some());
    other("main, src/main.rs:7:5", "main, src/main.rs:8:5");
    other("start u64", "start u32");
    other("error[E2008]: no", "error[E2009]: no");
    other("one\ntwo", "one");
    other("one\n...\ntwo", "one\ntwo\nthree");
    let broken =
        |printed: &str| difference_in_terminal(10, "one\ntwo and three of 12 s\nfour", printed, "vm");
    assert_eq!(broken("one\ntwo and\n  three of 7\n  s\nfour"), None);
    assert_eq!(broken("one\ntwo and th...\nfour"), None);
    assert!(broken("one\ntwo and\nfour").is_some());
    assert!(broken("one\ntwo or th...\nfour").is_some());
    assert!(broken("one\ntwo and three\nof four").is_some());
}
