#[ckpt::instrument]
fn main() {
    let items = vec![10, 20, 30];
    let mut at = 0;
    let chosen = &items[at];
    at += 2;
    ckpt::checkpoint!();
    println!("{chosen} {at}");
}
