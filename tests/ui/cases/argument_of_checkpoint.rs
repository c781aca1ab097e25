#[ckpt::instrument]
fn main() {
    for i in 0..3 {
        ckpt::checkpoint!(i);
        println!("{i}");
    }
}
