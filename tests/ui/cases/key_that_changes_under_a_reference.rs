use std::collections::BTreeMap;

#[ckpt::main]
fn main() {
    let next = BTreeMap::from([(1u64, 2u64), (2, 3)]);
    let mut at = 1;
    while let Some(to) = next.get(&at) {
        at = *to;
        ckpt::checkpoint!();
        println!("{to}");
    }
}
