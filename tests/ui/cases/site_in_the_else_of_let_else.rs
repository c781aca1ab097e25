#[ckpt::instrument]
fn main() {
    for text in ["1", "x"] {
        let Ok(number) = text.parse::<u32>() else {
            ckpt::checkpoint!();
            continue;
        };
        println!("{number}");
    }
}
