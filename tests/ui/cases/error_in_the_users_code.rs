#[ckpt::instrument]
fn main() {
    let mut n: u32 = 0;
    for i in 0..3 {
        ckpt::checkpoint!();
        n += i;
        let text: &str = n;
        println!("{text}");
    }
}
