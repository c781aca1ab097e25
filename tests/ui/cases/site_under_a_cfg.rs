#[ckpt::instrument]
fn main() {
    let mut sum = 0;
    for i in 0..3 {
        #[cfg(debug_assertions)]
        ckpt::checkpoint!();
        sum += i;
    }
    #[cfg(not(debug_assertions))]
    for i in 0..3 {
        ckpt::checkpoint!();
        sum += i;
    }
    println!("{sum}");
}
