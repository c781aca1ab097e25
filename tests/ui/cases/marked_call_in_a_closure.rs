#[ckpt::instrument]
fn step(i: u32) -> u32 {
    ckpt::checkpoint!();
    i + 1
}

#[ckpt::instrument(calls(step))]
fn main() {
    let most = (0..3).map(|i| step(i)).nth(2);
    println!("{most:?}");
}
