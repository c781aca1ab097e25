#[ckpt::instrument]
fn main() {
    let items = vec![4, 9, 2];
    let mut best = &items[0];
    for item in &items {
        if item > best {
            best = item;
        }
        ckpt::checkpoint!();
    }
    println!("{best}");
}
