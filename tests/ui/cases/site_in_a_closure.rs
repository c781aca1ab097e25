#[ckpt::instrument]
fn main() {
    let step = |i: u32| {
        ckpt::checkpoint!();
        println!("{i}");
    };
    for i in 0..3 {
        step(i);
    }
}
