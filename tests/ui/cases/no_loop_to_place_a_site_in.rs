#[ckpt::instrument]
fn main() {
    println!("short");
}
