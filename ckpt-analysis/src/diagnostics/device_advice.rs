//! What helps with values on devices, told in the words of the crates that the program uses.

use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
struct Table {
    library: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    #[serde(rename = "crate")]
    of: String,
    arrays: String,
    ends: String,
    told: String,
    unset: Option<String>,
    content: String,
    makes: String,
    lent: Option<String>,
    stays: Option<String>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("../../tables/device_advice.toml")).expect("a test reads the table")
});

/// The rows of these crates; of all where the table has none of them.
fn rows(crates: &[String]) -> Vec<&'static Row> {
    let of = |row: &&Row| crates.contains(&row.of);
    let rows: Vec<&Row> = TABLE.library.iter().filter(of).collect();
    match rows.is_empty() {
        true => TABLE.library.iter().collect(),
        false => rows,
    }
}

/// What they say, one behind the other.
fn said(crates: &[String], between: &str, says: impl Fn(&'static Row) -> Option<&'static String>) -> String {
    let all: Vec<&str> = rows(crates)
        .into_iter()
        .filter_map(says)
        .map(String::as_str)
        .collect();
    all.join(between)
}

/// An array that its variable may lose.
pub(super) fn arrays(crates: &[String]) -> String {
    let arrays = said(crates, " and ", |row| Some(&row.arrays));
    format!(
        "hold each array on a device in a variable, also in a list, an `Option`, a tuple or a struct, that gets no other array: its \
         value is made by calls that do nothing else, and that of a list by `(0..4).map(..).collect()`. Of {arrays} a checkpoint has \
         the content then. Arrays that take turns are two variables of one block that change places, \
         `std::mem::swap(&mut now, &mut next)` or `(now, next) = (next, now)`, or two arguments of a kernel. Arrays that grow, as from \
         level to level, are made in front of the loop, all in a list, among which the loop chooses by an index, `&levels[level]`; or \
         the largest is, and a part of it used. A kernel is made where it is used, with all of its arguments"
    )
}

/// A list that gets more arrays in the loop with the site.
pub(super) fn growing(crates: &[String]) -> String {
    let makes = said(crates, ", ", |row| Some(&row.makes));
    format!(
        "make all elements of the list in front of the loop, {makes} for each, `(0..6).map(..).collect()`, and have the loop fill one \
         after the other, `&snapshots[taken]`; or read the array into the program's memory there, and keep that in the list"
    )
}

/// What leads to a device, and may be another later.
pub(super) fn handles(crates: &[String]) -> String {
    let told = said(crates, ", ", |row| Some(&row.told));
    let unset = said(crates, "; ", |row| row.unset.as_ref());
    let unset = match unset.as_str() {
        "" => String::new(),
        unset => format!(" ({unset})"),
    };
    let stays = rows(crates).into_iter().find_map(|row| row.stays.as_ref());
    let but = stays.map_or_else(String::new, |stays| format!(", but for {stays}"));
    format!(
        "a restart makes it again, as it was made: let the variable have the same one in all of the function, without setting \
         anything of it later{unset}, and choose among several by the step, `let one = if step % 2 == 0 {{ &there }} else {{ &back }};`, \
         or make it inside the loop. Two variables that are declared in one block may change places{but}: \
         `std::mem::swap(&mut there, &mut back)` or `(there, back) = (back, there)`. What several statements make is made by \
         statements of one block directly behind its `let`, from nothing that changes later: {told}"
    )
}

/// What begins commands, and would begin them again.
pub(super) fn commands(crates: &[String]) -> String {
    let makes = said(crates, ", ", |row| Some(&row.makes));
    let content = said(crates, ", ", |row| Some(&row.content));
    let lent = said(crates, ". ", |row| row.lent.as_ref());
    let lent = match lent.as_str() {
        "" => String::new(),
        lent => format!(". {lent}"),
    };
    format!(
        "let that stand behind the statement that makes the value, in front of the loop: a restart leaves it out, and fills the \
         arrays from the checkpoint. A function that makes arrays may give content to those that it has made itself, each \
         ({makes}) in a variable of its own, by a command: {content}. What is read from another array for that is read before, \
         into a variable of its own, `let start = read(&other)?; let now = made(&start)?;`{lent}"
    )
}

/// What has begun.
pub(super) fn work(crates: &[String]) -> String {
    let ends = said(crates, "; or ", |row| Some(&row.ends));
    format!(
        "let it end before the site: {ends}. What is made for one command belongs into the loop, and none of it into the next turn"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_told_of_the_crates_that_it_uses() {
        let all = [arrays, growing, handles, commands, work];
        for (one, others) in [
            ("ocl", ["wgpu", "cudarc", "submit", "opencl3"]),
            ("wgpu", ["ocl`", "event", "cudarc", "set_dims"]),
        ] {
            for words in all.map(|words| words(&[one.to_owned()])) {
                assert!(others.iter().all(|other| !words.contains(other)), "{words}");
            }
        }
        let of_all = work(&["vulkano".to_owned()]);
        for row in &TABLE.library {
            assert!(of_all.contains(&row.ends), "{of_all}");
        }
    }
}
