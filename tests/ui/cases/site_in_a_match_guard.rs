#[ckpt::instrument]
fn main() {
    for i in 0..3 {
        match i {
            n if {
                ckpt::checkpoint!();
                n > 1
            } => println!("{n}"),
            _ => println!("small"),
        }
    }
}
