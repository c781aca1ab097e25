//! What may be otherwise when a program is restarted: the number of elements of an array (`LENGTH`), of what type they are
//! (the features `floats` and `wide`), how much memory the device has, whether there is one.

use ocl::{Buffer, Device, Platform, ProQue};

#[cfg(not(any(feature = "floats", feature = "wide")))]
type Element = u32;
#[cfg(feature = "floats")]
type Element = f32;
#[cfg(feature = "wide")]
type Element = u64;

const SOURCE: &str = "__kernel void none(uint more) {}";

fn main() -> ocl::Result<()> {
    let platform = Platform::default();
    let device = ProQue::builder()
        .platform(platform)
        .device(Device::first(platform)?)
        .src(SOURCE)
        .dims(1000)
        .build()?;
    let array = made(&device)?;
    for step in 0..20_u32 {
        array.cmd().fill(step as Element, Some(10)).enq()?;
    }
    let mut found = vec![0 as Element; array.len()];
    array.read(&mut found).enq()?;
    println!("{} {}", found[7], found[77]);
    Ok(())
}

fn made(device: &ProQue) -> ocl::Result<Buffer<Element>> {
    device
        .buffer_builder()
        .len(length())
        .fill_val(3 as Element)
        .build()
}

fn length() -> usize {
    std::env::var("LENGTH").map_or(1000, |text| text.parse().expect("a number"))
}
