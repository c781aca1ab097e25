macro_rules! skip_if {
    ($condition:expr) => {
        if $condition {
            continue;
        }
    };
}

#[ckpt::main]
fn main() {
    let mut held = vec![1];
    for k in 0..3 {
        skip_if!(k == 1);
        drop(held);
        ckpt::checkpoint!();
        held = vec![k];
    }
    println!("{held:?}");
}
