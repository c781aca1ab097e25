//! Three functions deep, with `&mut self` lent through two calls, a by-value argument, and sites in sequence.

use ckpt::__rt::{Frame, FunctionPlan, open};
use ckpt::value::{Decoder, Encoder, LoadError};

use super::{INSTRUMENT, MAIN, PROGRAM, call_at, checkpoint_at, parameter, plan, variable};

struct Simulation {
    time: u64,
    cells: Vec<f64>,
}

impl ckpt::Checkpoint for Simulation {
    fn save(&self, to: &mut Encoder<'_>) {
        // A vector and not a tuple: it needs no copy of the cells.
        let mut all = vec![self.time as f64];
        all.extend(&self.cells);
        all.save(to);
    }

    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let mut all = Vec::<f64>::load(from)?;
        Ok(Simulation {
            time: all.remove(0) as u64,
            cells: all,
        })
    }
}

pub fn main() {
    let __session = open(PROGRAM);
    static PLAN: FunctionPlan = plan(
        "main",
        1,
        MAIN,
        &[
            checkpoint_at(10, &[variable("end", 3), variable("sim", 4)]),
            call_at(12, "advance", &[variable("end", 3), variable("sim", 4)]),
        ],
    );
    let mut __ckpt = Frame::enter(&PLAN);
    let end: u64;
    let mut sim: Simulation;
    if __ckpt.runs() {
        println!("begins");
        end = 3;
        sim = Simulation {
            time: 0,
            cells: vec![1.0, 0.5, 0.25],
        };
    } else {
        end = __ckpt.restore("end");
        sim = __ckpt.restore("sim");
    }
    while __ckpt.enters(1, 2) || sim.time < end {
        if __ckpt.due(1) {
            __ckpt.checkpoint(1, &|r| {
                r.save("end", &end);
                r.save("sim", &sim);
            });
        }
        __ckpt.call(
            2,
            &|r| {
                r.save("end", &end);
                r.lent("sim", 0, None);
            },
            || sim.advance(2),
        );
        println!("time {} cells {:?}", sim.time, sim.cells);
    }
    println!("ends after {}", sim.time);
}

impl Simulation {
    fn advance(&mut self, rounds: u32) {
        static PLAN: FunctionPlan = plan(
            "advance",
            20,
            INSTRUMENT,
            &[
                call_at(
                    23,
                    "Simulation::relax",
                    &[parameter("self", 20), variable("k", 22)],
                ),
                call_at(25, "total", &[parameter("self", 20), variable("k", 22)]),
                checkpoint_at(30, &[parameter("self", 20), variable("sum", 25)]),
            ],
        );
        let mut __ckpt = Frame::enter(&PLAN);
        let mut sum: f64;
        if __ckpt.runs() {
            sum = 0.0;
        } else {
            sum = __ckpt.restore("sum");
        }
        let first = if __ckpt.enters(1, 2) {
            __ckpt.restore("k")
        } else {
            0
        };
        if __ckpt.enters(1, 2) || __ckpt.runs() {
            for k in first..rounds {
                if __ckpt.enters(1, 1) || __ckpt.runs() {
                    __ckpt.call(
                        1,
                        &|r| {
                            r.lent_parameter(0, "self", 0, None);
                            r.parameter(1, "rounds", &rounds);
                            r.save("k", &k);
                            r.save("sum", &sum);
                        },
                        || self.relax(k),
                    );
                }
                let cells: Vec<f64> = if __ckpt.enters(2, 2) {
                    __ckpt.argument(2, 0)
                } else {
                    self.cells.iter().map(|cell| cell + f64::from(k)).collect()
                };
                sum += __ckpt.call(
                    2,
                    &|r| {
                        r.parameter(0, "self", &*self);
                        r.parameter(1, "rounds", &rounds);
                        r.wants(0);
                        r.save("k", &k);
                        r.save("sum", &sum);
                    },
                    || total(cells),
                );
                println!("  round {k} sum {sum}");
            }
            self.time += 1;
        }
        if __ckpt.due(3) {
            __ckpt.checkpoint(3, &|r| {
                r.parameter(0, "self", &*self);
                r.parameter(1, "rounds", &rounds);
                r.save("sum", &sum);
            });
        }
        self.cells[0] += sum;
    }

    fn relax(&mut self, k: u32) {
        static PLAN: FunctionPlan = plan(
            "relax",
            40,
            INSTRUMENT,
            &[checkpoint_at(42, &[parameter("self", 40), variable("i", 41)])],
        );
        let mut __ckpt = Frame::enter(&PLAN);
        let first = if __ckpt.enters(1, 1) {
            __ckpt.restore("i")
        } else {
            0
        };
        for i in first..self.cells.len() {
            if __ckpt.runs() {
                self.cells[i] = 0.5 * self.cells[i] + f64::from(k);
            }
            if __ckpt.due(1) {
                __ckpt.checkpoint(1, &|r| {
                    r.parameter(0, "self", &*self);
                    r.parameter(1, "k", &k);
                    r.save("i", &i);
                });
            }
        }
    }
}

fn total(cells: Vec<f64>) -> f64 {
    static PLAN: FunctionPlan = plan(
        "total",
        50,
        INSTRUMENT,
        &[checkpoint_at(53, &[parameter("cells", 50)])],
    );
    let mut __ckpt = Frame::enter(&PLAN);
    if __ckpt.due(1) {
        __ckpt.checkpoint(1, &|r| r.parameter(0, "cells", &cells));
    }
    cells.iter().sum()
}
