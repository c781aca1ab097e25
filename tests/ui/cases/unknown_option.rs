#[ckpt::instrument(every = 5)]
fn main() {
    for i in 0..3 {
        ckpt::checkpoint!();
        println!("{i}");
    }
}
