//! Whether something that is saved hangs on the number of devices.

use super::{analysed, program};
use crate::decisions::device_numbers::{DeviceNumber, device_number};
use crate::items::MAIN;
use crate::placement::ChooseOptions;
use std::collections::BTreeMap;

/// `any`, or the line of what hangs on it, counted from that of `main`, and what it is.
fn number(body: &str) -> String {
    let text = format!("{TOP}\nfn main() {{{body}}}\n{FUNCTIONS}");
    let before = TOP.lines().count();
    let files = [("main.rs", &*text)];
    let (program, analysis) = (program(&files), analysed(&files));
    let main = { analysis.items.functions.iter() }
        .find(|one| one.name == MAIN)
        .expect("a main")
        .id;
    let placement = crate::place(&analysis, main, &ChooseOptions::default());
    assert!(!placement.sites.is_empty(), "no site in {body}");
    // What rustc says of them in the end: no checkpoint holds these types.
    let words =
        { text.match_indices("/*h*/") }.map(|(at, _)| ((crate::FileId(0), at + 5), "reexecute".to_owned()));
    let words: BTreeMap<_, _> = words.collect();
    match device_number(&program, &analysis, (&placement, main), &words) {
        None => "none".into(),
        Some(DeviceNumber::Any) => "any".into(),
        Some(DeviceNumber::AsBefore(because)) => {
            let line = because.line.saturating_sub(before);
            format!("{line}: {}", because.what.words())
        }
    }
}

const TOP: &str = "use ocl::{Buffer, Context, Device, Platform, Queue, Kernel};";

const FUNCTIONS: &str = "
fn on_device(queue: &Queue, numbers: &[f32]) -> ocl::Result<Buffer<f32>> {
    Buffer::builder().queue(queue.clone()).len(numbers.len()).copy_host_slice(numbers).build()
}
fn all(platform: Platform) -> Vec<Device> { Device::list_all(platform).unwrap_or_default() }
fn count(devices: &[Device]) -> usize { devices.len() }
fn put(to: &mut usize, devices: &[Device]) { *to = devices.len(); }
fn work(array: &Buffer<f32>) { array.cmd().fill(1.0, None).enq(); }
static SHARES: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
";

const SET_UP: &str = "
    let platform = Platform::default();
    /*h*/let devices = Device::list_all(platform).unwrap();
    /*h*/let context = Context::builder().platform(platform).devices(&devices[..]).build().unwrap();
    /*h*/let queue = Queue::new(&context, devices[1 % devices.len()], None).unwrap();
    let mut sum = 0_u64;
";

/// What hangs on the number, in a program that has this before its loop, in it and behind it.
fn with(before: &str, inside: &str, behind: &str) -> String {
    number(&format!(
        "{SET_UP}{before}\nfor step in 0..1000000_u64 {{ sum += step; {inside} }}\n{behind} show(sum);"
    ))
}

#[test]
fn which_device_something_is_on_hangs_on_no_number() {
    assert_eq!(with("", "", ""), "any");
    assert_eq!(
        with(
            "let array = on_device(&queue, &[0.0; 9]).unwrap();",
            "work(&array);",
            "show(&array);"
        ),
        "any"
    );
    assert_eq!(
        with(
            "println!(\"{} devices\", devices.len()); assert!(!devices.is_empty());",
            "",
            ""
        ),
        "any"
    );
    assert_eq!(
        with(
            "/*h*/let queues: Vec<Queue> = (0..4).map(|part| Queue::new(&context, devices[part % devices.len()], None).unwrap()).collect();",
            "queues[step as usize % 4].finish();",
            ""
        ),
        "any"
    );
    assert_eq!(
        with(
            "/*h*/let queues: Vec<Queue> = devices.iter().map(|one| Queue::new(&context, *one, None).unwrap()).collect();",
            "queues[0].finish();",
            ""
        ),
        "any"
    );
    assert_eq!(
        with(
            "if let Ok(more) = Device::list_all(platform) { show(&more); }",
            "",
            ""
        ),
        "any"
    );
    assert_eq!(with("let counted = devices.len(); show(counted);", "", ""), "any");
    for left in [
        "if devices.is_empty() { return; }",
        "let Some(first) = devices.first() else { return };",
        "/*h*/let Ok(more) = Device::list_all(platform) else { return };",
        "for one in 0..9 { if one > 4 { continue; } if one == 3 { break; } }",
    ] {
        assert_eq!(
            with(&format!("{left} let saved = 3;"), "", "show(saved);"),
            "any",
            "{left}"
        );
    }
}

/// What stands behind a `return`, a `break` or a `continue` is done only if that was not.
#[test]
fn what_is_left_early_hangs_on_why() {
    for (counts, by) in [
        ("if devices.len() > 1 { return 4; } 1", "return"),
        ("match devices.len() { 1 => return 1, _ => {} } 4", "match"),
        (
            "let mut parts = 0; loop { let Some(_) = devices.get(parts) else { break }; parts += 1; } parts",
            "let else",
        ),
        (
            "let mut parts = 0; for i in 0..8 { if i >= devices.len() { continue; } parts += 1; } parts",
            "continue",
        ),
        (
            "let mut parts = 0; for i in 0..8 { parts += 1; if i >= devices.len() { break; } } parts",
            "break",
        ),
        (
            "let mut parts = 0; 'all: for i in 0..8 { for j in 0..2 { if i >= devices.len() { continue 'all; } } parts += 1; } parts",
            "label",
        ),
        (
            "let parts = loop { if devices.len() > 2 { break 4; } break 1; }; parts",
            "value",
        ),
        (
            "let of = |all: &[Device]| { if all.len() > 1 { return 4; } 1 }; of(devices)",
            "closure",
        ),
    ] {
        let functions = format!("fn parts(devices: &[Device]) -> usize {{ {counts} }}");
        let found = number(&format!(
            "{functions} {SET_UP} let share = parts(&devices); for step in 0..1000000_u64 {{ sum += step; }} show(share); show(sum);"
        ));
        assert!(
            found.ends_with("`share` is needed after a site, and hangs on the number of devices"),
            "{by}: {found}"
        );
    }
}

#[test]
fn what_is_computed_from_how_many_there_are_does() {
    let is = |line: usize, name: &str, found: String| {
        assert_eq!(
            found,
            format!("{line}: `{name}` is needed after a site, and hangs on the number of devices")
        );
    };
    is(7, "count", with("let count = devices.len();", "", "show(count);"));
    is(
        7,
        "share",
        with("let share = 100 / count(&devices);", "", "show(share);"),
    );
    is(
        7,
        "share",
        with(
            "let mut share = 0; put(&mut share, &devices);",
            "",
            "show(share);",
        ),
    );
    is(
        7,
        "is_large",
        with(
            "let mut is_large = false; if all(platform).len() > 2 { is_large = true; }",
            "",
            "show(is_large);",
        ),
    );
    is(
        7,
        "parts",
        with(
            "let mut parts = Vec::new(); for device in &devices { parts.push(0.5); }",
            "parts[0] += 1.0;",
            "show(parts);",
        ),
    );
    is(
        7,
        "parts",
        with(
            "let mut parts = vec![0.0; devices.len()];",
            "parts[0] += 1.0;",
            "show(parts);",
        ),
    );
    is(
        7,
        "arrays",
        with(
            "let arrays: Vec<Buffer<f32>> = devices.iter().map(|one| on_device(&queue, &[0.0]).unwrap()).collect();",
            "work(&arrays[0]);",
            "show(arrays);",
        ),
    );
    is(6, "sum", with("", "for device in &devices { sum += 1; }", ""));
    is(
        7,
        "text",
        with(
            "let text = format!(\"{} devices\", devices.len());",
            "",
            "show(text);",
        ),
    );
    is(
        7,
        "last",
        with(
            "let last = match &devices[..] { [_, _, ..] => 2, _ => 1 };",
            "",
            "show(last);",
        ),
    );
    is(
        7,
        "array",
        with(
            "let array = on_device(&queue, &vec![0.0; devices.len()]).unwrap();",
            "work(&array);",
            "show(array);",
        ),
    );
    is(
        7,
        "array",
        with(
            "let array = on_device(&queue, &[0.0; 9]).unwrap(); for device in &devices { work(&array); }",
            "",
            "show(array);",
        ),
    );
    is(
        7,
        "count",
        with("let count = context.devices().len();", "", "show(count);"),
    );
    is(
        7,
        "count",
        with(
            "let count = Platform::list().into_iter().map(Device::list_all).count();",
            "",
            "show(count);",
        ),
    );
}

#[test]
fn a_site_under_it_a_kernel_and_a_static_do_too() {
    assert_eq!(
        number(&format!(
            "{SET_UP} for part in 0..devices.len() {{ for step in 0..1000000_u64 {{ stir(step); }} }} show(sum);"
        )),
        "7: a site is in a loop or a condition that hangs on the number of devices"
    );
    assert_eq!(
        with(
            "Kernel::builder().queue(queue.clone()).arg(devices.len() as u32).build().unwrap().run();",
            "",
            ""
        ),
        "7: a device is given what hangs on the number of devices"
    );
    assert_eq!(
        with(
            "SHARES.store(devices.len(), std::sync::atomic::Ordering::Relaxed);",
            "",
            ""
        ),
        "7: a static is given what hangs on the number of devices"
    );
}

#[test]
fn a_program_without_devices_has_no_number_of_them() {
    let text = "fn main() { let mut sum = 0_u64; for step in 0..1000000_u64 { sum += step; } show(sum); }";
    let files = [("main.rs", text)];
    let (program, analysis) = (program(&files), analysed(&files));
    let main = analysis.items.functions[0].id;
    let placement = crate::place(&analysis, main, &ChooseOptions::default());
    assert_eq!(
        device_number(&program, &analysis, (&placement, main), &BTreeMap::new()),
        None
    );
}
