//! A loop over pointers to functions, which change places and come back by their names.

use ckpt::__rt::{Frame, FunctionPlan, open};

use super::{MAIN, PROGRAM, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan(
    "main",
    1,
    MAIN,
    &[checkpoint_at(
        10,
        &[variable("step", 5), variable("rules", 6), variable("wide", 7)],
    )],
);

type Rule = fn(f64) -> f64;
type Wide = fn(&[f64], &mut Vec<f64>) -> f64;

fn halve(x: f64) -> f64 {
    x / 2.0
}

fn grow(x: f64) -> f64 {
    x * 3.0 + 1.0
}

fn sum(numbers: &[f64], seen: &mut Vec<f64>) -> f64 {
    seen.extend_from_slice(numbers);
    numbers.iter().sum()
}

pub fn main() {
    let _session = open(PROGRAM);
    let mut frame = Frame::enter(&PLAN);
    let version = std::env::var("TEST_VERSION").unwrap_or_default();
    ckpt::function("test::halve", halve as Rule);
    ckpt::function("test::sqrt", f64::sqrt as Rule);
    ckpt::function("test::sum", sum as Wide);
    if version != "fewer" {
        ckpt::function("test::grow", grow as Rule);
    }
    if version == "twice" {
        ckpt::function("test::halve", f64::sqrt as Rule);
    }
    let runs = frame.runs();
    let mut step: u64 = if runs { 0 } else { frame.restore("step") };
    let mut rules: Vec<(String, Rule)> = match runs {
        true => vec![("a".into(), halve), ("b".into(), grow), ("c".into(), f64::sqrt)],
        false => frame.restore("rules"),
    };
    let wide: Option<Wide> = if runs { Some(sum) } else { frame.restore("wide") };
    let mut x = 7.0;
    while frame.enters(1, 1) || step < 6 {
        if frame.runs() {
            step += 1;
            rules.rotate_left(1);
        }
        if frame.due(1) {
            frame.checkpoint(1, &|r| {
                r.save("step", &step);
                r.save("rules", &rules);
                r.save("wide", &wide);
            });
        }
    }
    rules.iter().for_each(|(_, rule)| x = rule(x));
    let names: String = rules.iter().map(|(name, _)| name.as_str()).collect();
    let mut seen = Vec::new();
    println!("{names} {x} {} {seen:?}", wide.unwrap()(&[x, 1.0], &mut seen));
}
