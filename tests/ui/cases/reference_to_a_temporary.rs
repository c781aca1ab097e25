#[ckpt::instrument]
fn main() {
    let mut log = String::new();
    for i in 0..3 {
        let part = &format!("{log}{i}");
        log = String::from("changed");
        ckpt::checkpoint!();
        println!("{part} {log}");
    }
}
