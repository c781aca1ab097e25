struct Model {
    rate: f64,
}

#[ckpt::main]
fn main() {
    #[ckpt(serde)]
    let mut model = Model { rate: 1.0 };
    for _ in 0..10 {
        ckpt::checkpoint!();
        model.rate *= 0.5;
    }
    println!("{}", model.rate);
}
