use std::sync::Mutex;

#[ckpt::instrument]
fn main() {
    let total = Mutex::new(0);
    for i in 0..3 {
        let mut held = total.lock().unwrap();
        *held += i;
        ckpt::checkpoint!();
        *held *= 2;
    }
    println!("{total:?}");
}
