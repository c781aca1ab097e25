//! A site under a recursive call, many calls deep, with a slice lent through all of them.

use ckpt::__rt::{Frame, FunctionPlan, open};

use super::{INSTRUMENT, MAIN, PROGRAM, call_at, checkpoint_at, plan};

pub fn main() {
    let depth: u32 = std::env::var("TEST_DEPTH").unwrap().parse().unwrap();
    let __session = open(PROGRAM);
    static PLAN: FunctionPlan = plan("main", 1, MAIN, &[call_at(3, "descend", &[])]);
    let mut __ckpt = Frame::enter(&PLAN);
    let mut numbers: Vec<u64> = if __ckpt.runs() {
        vec![1, 2, 3]
    } else {
        __ckpt.restore("numbers")
    };
    __ckpt.call(1, &|r| r.lent("numbers", 0, None), || {
        descend(&mut numbers, depth)
    });
    println!("{numbers:?}");
}

fn descend(numbers: &mut [u64], depth: u32) {
    static PLAN: FunctionPlan = plan(
        "descend",
        10,
        INSTRUMENT,
        &[
            checkpoint_at(11, &[]),
            call_at(12, "descend", &[]),
            checkpoint_at(14, &[]),
        ],
    );
    let mut __ckpt = Frame::enter(&PLAN);
    if __ckpt.runs() || __ckpt.enters(1, 1) {
        if __ckpt.due(1) {
            __ckpt.checkpoint(1, &|r| {
                r.parameter(0, "numbers", &*numbers);
                r.parameter(1, "depth", &depth);
            });
        }
        numbers[0] += 1;
    }
    if (__ckpt.runs() && depth > 0) || __ckpt.enters(2, 2) {
        __ckpt.call(
            2,
            &|r| {
                r.lent_parameter(0, "numbers", 0, None);
                r.parameter(1, "depth", &depth);
            },
            || descend(numbers, depth - 1),
        );
    }
    if __ckpt.due(3) {
        __ckpt.checkpoint(3, &|r| {
            r.parameter(0, "numbers", &*numbers);
            r.parameter(1, "depth", &depth);
        });
    }
    numbers[1] += u64::from(depth) * numbers[0];
}
