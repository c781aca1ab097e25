struct Part(fn(f64) -> f64);

#[ckpt::instrument]
fn gathers(rules: &[fn(f64) -> f64]) {
    #[ckpt(parts)]
    let mut parts = Vec::new();
    for &rule in rules {
        ckpt::checkpoint!();
        parts.push(Part(rule));
    }
    println!("{}", parts.len());
}

fn main() {}
