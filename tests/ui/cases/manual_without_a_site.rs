#[ckpt::instrument(sites = "manual")]
fn main() {
    for i in 0..3 {
        println!("{i}");
    }
}
