#[ckpt::instrument]
fn main() {
    fn step(i: u32) {
        ckpt::checkpoint!();
        println!("{i}");
    }
    for i in 0..3 {
        step(i);
    }
}
