#[ckpt::instrument]
const fn count(n: u32) -> u32 {
    let mut i = 0;
    while i < n {
        ckpt::checkpoint!();
        i += 1;
    }
    i
}

fn main() {
    count(3);
}
