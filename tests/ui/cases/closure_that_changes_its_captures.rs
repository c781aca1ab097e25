#[ckpt::instrument]
fn main() {
    let mut count = 0;
    let mut step = |by: u32| {
        count += by;
        count
    };
    for i in 0..3 {
        let now = step(i);
        ckpt::checkpoint!();
        let count = now + 1;
        println!("{count}");
    }
}
