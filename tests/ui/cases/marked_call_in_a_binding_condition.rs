#[ckpt::instrument]
fn find(list: &[u32]) -> Option<u32> {
    ckpt::checkpoint!();
    list.first().copied()
}

#[ckpt::instrument(calls(find))]
fn main() {
    let mut list = vec![1, 2];
    while let Some(found) = find(&list) {
        list.remove(0);
        println!("{found}");
    }
}
