use ckpt::sync::mpsc;

#[ckpt::main]
fn main() {
    let (to, from) = mpsc::channel::<u64>();
    to.send(3).unwrap();
    drop(to);
    let mut sum = 0;
    for (at, message) in from.iter().enumerate() {
        ckpt::checkpoint!();
        sum += message * at as u64;
    }
    println!("{sum}");
}
