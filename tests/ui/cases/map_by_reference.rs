use std::collections::HashMap;

#[ckpt::main]
fn main() {
    let map: HashMap<String, f64> = HashMap::new();
    let mut sum = 0.0;
    for (name, x) in &map {
        ckpt::checkpoint!();
        sum += x * name.len() as f64;
    }
    println!("{sum}");
}
