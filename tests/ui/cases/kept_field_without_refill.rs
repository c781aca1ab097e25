#[derive(ckpt::Checkpoint)]
struct Run {
    state: f64,
    #[ckpt(keep)]
    rule: fn(f64) -> f64,
}

#[derive(ckpt::Checkpoint)]
enum Choice {
    A(#[ckpt(keep)] fn()),
    B,
}

#[derive(ckpt::Checkpoint)]
struct Both(#[ckpt(keep, skip)] u8, #[ckpt(keep, rename = "c")] u8);

#[ckpt::main]
fn main() {
    let mut run = Run {
        state: 0.0,
        rule: f64::cos,
    };
    while run.state < 2.0 {
        ckpt::checkpoint!();
        run.state += (run.rule)(run.state);
    }
    let _ = (Choice::A(main), Choice::B, Both(1, 2));
}
