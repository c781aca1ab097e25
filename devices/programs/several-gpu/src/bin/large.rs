//! Arrays of several mebibytes, one of which nothing writes to: each is read while the next is saved.

#[path = "../common.rs"]
mod common;

const LENGTH: u32 = 5 << 20;

fn main() {
    let (device, queue) = common::open();
    let pipeline = common::pipeline(&device);
    let even = common::array(&device, LENGTH, 3);
    let odd = common::array(&device, LENGTH, 5);
    let kept = common::array(&device, LENGTH, 7);
    let on_even = common::group(&device, &pipeline, &even);
    let on_odd = common::group(&device, &pipeline, &odd);
    for step in 0..12 {
        let group = if step % 2 == 0 { &on_even } else { &on_odd };
        common::start(&device, &queue, &pipeline, group);
    }
    let sums = [&even, &odd, &kept].map(|array| common::sum(&device, &queue, array));
    println!("{sums:x?}");
}
