//! A list mixed by halves: a recursion that is given a list and gives one back.

/// A number that looks like chance.
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    value ^ (value >> 29)
}

/// Mixes a list by parts: the lists on the way are its own.
fn spread(items: Vec<u64>, depth: u32) -> Vec<u64> {
    if depth == 0 || items.len() < 2 {
        return items;
    }
    let middle = items.len() / 3 + 1;
    let mut left = items;
    let right = left.split_off(middle);
    let mut left = spread(left, depth - 1);
    let right = spread(right.into_iter().map(mixed).collect(), depth - 1);
    left.extend(right.iter().rev());
    left
}

fn main() {
    for size in [3, 50, 4000] {
        let items = spread((0..size).collect(), 14);
        let hash = items.iter().fold(0, |hash, &item| mixed(hash ^ item));
        println!("{size}: {hash:016x}");
    }
}
