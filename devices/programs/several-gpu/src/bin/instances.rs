//! Two instances, each with a device: their arrays have the same numbers, but for those that the first one gives back before.

#[path = "../common.rs"]
mod common;

const LENGTH: u32 = 1024;

fn main() {
    let (left, left_queue) = common::open();
    let (right, right_queue) = common::open();
    let given_back = given_back(&left);
    let first = common::array(&left, LENGTH, 3);
    let second = common::array(&right, LENGTH, 7);
    let third = common::array(&right, LENGTH, 11);
    let (on_left, on_right) = (common::pipeline(&left), common::pipeline(&right));
    let of_first = common::group(&left, &on_left, &first);
    let of_second = common::group(&right, &on_right, &second);
    let of_third = common::group(&right, &on_right, &third);
    for step in 0..16 {
        common::start(&left, &left_queue, &on_left, &of_first);
        let group = if step % 3 == 0 { &of_third } else { &of_second };
        common::start(&right, &right_queue, &on_right, group);
    }
    let sums = [
        common::sum(&left, &left_queue, &first),
        common::sum(&right, &right_queue, &second),
        common::sum(&right, &right_queue, &third),
    ];
    println!("{given_back} {sums:x?}");
}

fn given_back(device: &wgpu::Device) -> u64 {
    common::array(device, LENGTH, 1).size()
}
