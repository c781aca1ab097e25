#[ckpt::instrument]
fn weighing(weights: Vec<f64>) -> impl Fn(usize) -> f64 {
    let weigh = move |i: usize| weights[i];
    for i in 0..3 {
        ckpt::checkpoint!();
        println!("{}", weigh(i));
    }
    weigh
}

fn main() {
    println!("{}", weighing(vec![0.5; 3])(1));
}
