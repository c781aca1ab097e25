#[ckpt::instrument(calls(advnace))]
fn main() {
    for i in 0..3 {
        ckpt::checkpoint!();
        advance(i);
    }
}

fn advance(i: u32) {
    println!("{i}");
}
