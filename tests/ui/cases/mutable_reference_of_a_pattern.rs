#[ckpt::instrument]
fn main() {
    let mut slot = Some(vec![1]);
    if let Some(items) = &mut slot {
        items.push(2);
        ckpt::checkpoint!();
        items.push(3);
    }
    println!("{slot:?}");
}
