//! It is said of the loop whose iterator it is, not of the function with all its loops.

#[ckpt::main]
fn main() {
    let mut sum = 0;
    for i in 0..10 {
        ckpt::checkpoint!();
        sum += i;
    }
    let mut next = 0;
    for x in std::iter::from_fn(|| {
        next += 3;
        (next < 120).then_some(next)
    })
    .chain([1, 2])
    {
        ckpt::checkpoint!();
        sum += x;
    }
    println!("{sum}");
}
