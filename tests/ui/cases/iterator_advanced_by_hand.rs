#[ckpt::instrument]
fn main() {
    let items = vec![3, 1, 2];
    let mut rest = items.iter();
    while let Some(item) = rest.next() {
        ckpt::checkpoint!();
        println!("{item} {:?}", rest.next());
    }
}
