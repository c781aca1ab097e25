//! Whether anything may hang on the number of devices.

use super::program;
use crate::decisions::device_numbers::{Because, DeviceNumber, device_number};
use ckpt_compiler::library::Library;

/// `any`, or the line of what does more than choose a device, counted from that of `main`, and what it is.
fn number(body: &str) -> String {
    let text = format!("{TOP}\nfn main() {{{body}}}\n{FUNCTIONS}");
    let before = TOP.lines().count();
    let program = program(&[("main.rs", &*text)]);
    match device_number(Library::builtin(), &program) {
        None => "none".into(),
        Some(DeviceNumber::Any) => "any".into(),
        Some(DeviceNumber::AsBefore(Because::Used { line, text, .. })) => {
            format!("{}: {text}", line - before)
        }
        Some(DeviceNumber::AsBefore(Because::Others)) => "others".into(),
    }
}

const TOP: &str = "use ocl::{Buffer, Context, Device, Platform, Queue, Kernel};";

const FUNCTIONS: &str = "
fn on_device(queue: &Queue, numbers: &[f32]) -> ocl::Result<Buffer<f32>> {
    Buffer::builder().queue(queue.clone()).len(numbers.len()).copy_host_slice(numbers).build()
}
fn all(platform: Platform) -> Vec<Device> { Device::list_all(platform).unwrap_or_default() }
fn work(array: &Buffer<f32>) { array.cmd().fill(1.0, None).enq(); }
fn queue_of(context: &Context, list: &[Device], part: usize) -> ocl::Result<Queue> {
    let mine = list[part % list.len()];
    Queue::new(context, mine, None)
}
";

const SET_UP: &str = "
    let platform = Platform::default();
    let devices = Device::list_all(platform).unwrap();
    let context = Context::builder().platform(platform).devices(&devices[..]).build().unwrap();
    let queue = Queue::new(&context, devices[1 % devices.len()], None).unwrap();
    let mut sum = 0_u64;
";

/// The same of a program that has this before its loop, and in it.
fn with(before: &str, inside: &str) -> String {
    number(&format!(
        "{SET_UP}{before}\nfor step in 0..1000000_u64 {{ sum += step; {inside} }}\nshow(sum);"
    ))
}

#[test]
fn which_device_something_is_on_hangs_on_no_number() {
    for (before, inside) in [
        ("", ""),
        (
            "let array = on_device(&queue, &[0.0; 9]).unwrap();",
            "work(&array);",
        ),
        (
            "println!(\"{} devices: {devices:?}\", devices.len()); if devices.is_empty() { return; }",
            "",
        ),
        (
            "for device in &devices { println!(\"{}\", device.name().unwrap()); }",
            "",
        ),
        (
            "println!(\"{}\", devices[0].name().unwrap()); println!(\"{}\", queue.device().name()?);",
            "",
        ),
        (
            "let queues: Vec<Queue> = (0..4).map(|part| Queue::new(&context, devices[part % devices.len()], None).unwrap()).collect();",
            "queues[step as usize % 4].finish();",
        ),
        (
            "let queues: Vec<Queue> = devices.iter().map(|one| Queue::new(&context, *one, None).unwrap()).collect();",
            "let queue = &queues[step as usize % queues.len()]; queue.finish();",
        ),
        (
            "let queues = devices.iter().map(|one| Queue::new(&context, *one, None)).collect::<ocl::Result<Vec<_>>>()?; \
             struct Gpu { queues: Vec<Queue> } let gpu = Gpu { queues };",
            "gpu.queues[step as usize % gpu.queues.len()].finish();",
        ),
        (
            "let Ok(more) = Device::list_all(platform) else { return }; let first = more.first().expect(\"a device\"); \
          let other = Queue::new(&context, *first, None);",
            "",
        ),
        (
            "let Some(first) = devices.first() else { return }; let other = Queue::new(&context, *first, None);",
            "",
        ),
        (
            "let more = all(platform); let other = Queue::new(&context, more[0], None).unwrap();",
            "",
        ),
        ("let other = queue_of(&context, &devices, 2).unwrap();", ""),
        (
            "let ids = get_all_devices(CL_DEVICE_TYPE_ALL)?; let one = Device::new(ids[0]); let own = Context::from_device(&one)?;",
            "",
        ),
        (
            "let program = Program::builder().devices(&devices[..]).src(SOURCE).build(&context);",
            "",
        ),
    ] {
        assert_eq!(with(before, inside), "any", "{before} {inside}");
    }
}

#[test]
fn what_does_more_than_choose_a_device_may_hang_on_their_number() {
    let found = |before: &str| with(before, "");
    for (before, used) in [
        ("let count = devices.len();", "devices.len()"),
        ("let second = devices.get(1);", "devices.get(1)"),
        ("let second = devices[1];", "devices[1]"),
        ("let share = parts(&devices);", "&devices"),
        (
            "let mut parts = Vec::new(); for device in &devices { parts.push(0.5); }",
            "&devices",
        ),
        ("let parts = vec![0.0; devices.len()];", "0.0; devices.len()"),
        (
            "let text = format!(\"{} devices\", devices.len());",
            "devices.len()",
        ),
        ("let text = format!(\"{devices:?}\");", "\"{devices:?}\""),
        (
            "let last = match &devices[..] { [_, _, ..] => 2, _ => 1 };",
            "&devices[..]",
        ),
        (
            "let arrays: Vec<Buffer<f32>> = devices.iter().map(|one| on_device(&queue, &[0.0]).unwrap()).collect();",
            "devices.iter().map(|one| on_device(&queue, &[0.0 ..",
        ),
        ("let count = context.devices().len();", "context.devices().len()"),
        (
            "let count = Platform::list().into_iter().map(Device::list_all).count();",
            "Platform::list().into_iter().map(Device::list_al ..",
        ),
        (
            "let mut left = devices.clone(); while !left.is_empty() { left.remove(0); sum += 1; }",
            "left.remove(0)",
        ),
        (
            "let mut left = devices.iter(); left.next(); if left.next().is_some() { sum += 1; }",
            "left.next()",
        ),
        ("let mut all = &devices; count(&mut all);", "all"),
        ("let of = |all: &[Device]| all.len(); of(&devices);", "&devices"),
        (
            "if devices[1 % devices.len()] == devices[0] { sum += 1; }",
            "devices[1 % devices.len()]",
        ),
        (
            "let one = devices[1 % devices.len()]; let other = devices[0]; if one != other { sum += 1; }",
            "one",
        ),
        ("if queue.device() == devices[0] { sum += 1; }", "queue.device()"),
        (
            "let used: HashSet<_> = (0..4).map(|part| devices[part % devices.len()]).collect();",
            "devices[part % devices.len()]",
        ),
        ("let second = devices.iter().nth(1)?;", "devices.iter().nth(1)"),
        (
            "let is_there = catch_unwind(|| devices[1]).is_ok();",
            "devices[1]",
        ),
        ("steps[..devices.len()].fill(2);", "devices.len()"),
        ("let list_them = Device::list_all;", "Device::list_all"),
        ("let parts = number_of!(devices);", "devices"),
        (
            "let queues: Vec<Queue> = devices.iter().map(|one| { sum += 1; Queue::new(&context, *one, None).unwrap() }).collect();",
            "devices.iter().map(|one| { sum += 1; Queue::new( ..",
        ),
        (
            "let Gpu { devices: (first, second), .. } = gpu; let gpu = Gpu { devices };",
            "devices: (first, second)",
        ),
    ] {
        assert_eq!(found(before), format!("7: {used}"), "{before}");
    }
    for (before, used) in [
        (
            "static COUNT: LazyLock<usize> = LazyLock::new(|| Device::list_all(p).unwrap().len());",
            "Device::list_all(p).unwrap().len()",
        ),
        (
            "use opencl3::device::get_all_devices as everything;",
            "get_all_devices as everything",
        ),
        (
            "fn pick(list: &[Device]) -> Option<usize> { let _second = list.iter().nth(1)?; Some(4) } pick(&devices);",
            "list.iter().nth(1)",
        ),
        (
            "fn parts(list: &[Device]) -> usize { if list.len() > 1 { return 4; } 1 } parts(&devices);",
            "list.len()",
        ),
    ] {
        assert_eq!(found(before), format!("7: {used}"), "{before}");
    }
}

#[test]
fn a_program_without_devices_has_no_number_of_them() {
    let text = "fn main() { let mut sum = 0_u64; for step in 0..1000000_u64 { sum += step; } show(sum); }";
    assert_eq!(
        device_number(Library::builtin(), &program(&[("main.rs", text)])),
        None
    );
}
