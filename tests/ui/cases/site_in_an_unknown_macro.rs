macro_rules! repeat {
    ($count:expr, $body:block) => {
        for _ in 0..$count $body
    };
}

#[ckpt::instrument]
fn main() {
    let mut n = 0;
    repeat!(3, {
        n += 1;
        ckpt::checkpoint!();
    });
    println!("{n}");
}
