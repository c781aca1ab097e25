//! The hardest case for instrumentation: a million cheap iterations for every step of the outer loop, and a
//! site in the second-innermost loop, so that a thousand of them lie between two visits.

#[ckpt::main]
fn main() {
    let outer: u64 = std::env::args()
        .nth(1)
        .and_then(|word| word.parse().ok())
        .unwrap_or(1000);
    let mut x = 1_u64;
    for i in 0..outer {
        for j in 0..1000_u64 {
            ckpt::checkpoint!();
            for k in 0..1000_u64 {
                x = (x ^ k).wrapping_mul(6_364_136_223_846_793_005);
            }
            x ^= i ^ j;
        }
    }
    println!("{x:016x}");
}
