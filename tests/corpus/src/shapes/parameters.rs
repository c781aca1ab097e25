//! What an instrumented function may do with its parameters before a site.

#[ckpt::instrument(calls(unused))]
pub fn unused_parameters() {
    let list = vec![1u64];
    for i in 0..2 {
        unused(list.clone(), &list, i, |x| x + 1);
    }
    println!("= {list:?}");
}

#[ckpt::instrument]
fn unused(_owned: Vec<u64>, _: &[u64], n: u64, _f: impl Fn(u64) -> u64) {
    ckpt::checkpoint!();
    println!("{n}");
}
