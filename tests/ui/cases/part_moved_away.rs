#[derive(ckpt::Checkpoint)]
struct Holder {
    item: String,
    count: u64,
}

#[ckpt::main]
fn main() {
    let holder = Holder {
        item: String::new(),
        count: 4,
    };
    let text = holder.item;
    for i in 0..3 {
        ckpt::checkpoint!();
        println!("{i} {text} {}", holder.count);
    }
}
