use std::cell::Cell;

#[derive(ckpt::Checkpoint)]
struct Plan {
    name: String,
    turns: Option<(u8, f64)>,
}

#[derive(ckpt::Checkpoint)]
struct Meter {
    of: Vec<Plan>,
    count: Cell<u64>,
}

#[derive(Clone, Copy, ckpt::Checkpoint)]
struct Number(u8);

fn made() -> (Plan, Meter) {
    let plan = || Plan { name: "a".into(), turns: None };
    (plan(), Meter { of: vec![plan()], count: Cell::new(0) })
}

#[ckpt::main]
fn main() {
    let (plan, meter) = made();
    let number = Number(3);
    std::thread::scope(|s| {
        println!("{}", meter.of.len());
        s.spawn(move || {
            for i in 0..9u8 {
                ckpt::checkpoint!();
                meter.count.set(meter.count.get() + u64::from(i));
                println!("{} {:?} {} {}", plan.name, plan.turns, meter.of.len(), number.0);
            }
        });
    });
}
