//! An argument passed by value lives in the callee.

/// Consumes its list.
#[ckpt::instrument]
pub fn drain(mut list: Vec<u32>) -> u32 {
    let mut sum = 0;
    while let Some(last) = list.pop() {
        ckpt::checkpoint!();
        sum += last;
    }
    sum
}

/// Makes the list.
#[ckpt::instrument(calls(drain))]
pub fn total(n: u32) -> u32 {
    let list: Vec<u32> = (0..n).collect();
    let weight = n / 2;
    let drained = drain(list);
    drained + weight
}
