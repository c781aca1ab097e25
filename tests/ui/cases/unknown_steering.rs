#[ckpt::instrument]
fn main() {
    #[ckpt(rerun)]
    let n = 3;
    for i in 0..n {
        ckpt::checkpoint!();
        println!("{i}");
    }
}
