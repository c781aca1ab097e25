//! A program that writes to the file that its argument names, and shares no other with runs of other arguments, but for what it has
//! written before its first site where that is asked for.

use std::fs::File;
use std::io::Write;

use ckpt::__rt::{Frame, FunctionPlan, open};

use super::{MAIN, PROGRAM, STEPS, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan("main", 1, MAIN, &[checkpoint_at(10, &[variable("step", 5)])]);

pub fn main() -> std::io::Result<()> {
    let __session = open(PROGRAM);
    let mut __ckpt = Frame::enter(&PLAN);
    let name = std::env::args().nth(1).unwrap_or_default();
    if __ckpt.runs() && std::env::var_os("TEST_SETTINGS").is_some() {
        std::fs::write("settings.txt", &name)?;
    }
    let mut step: u64 = if __ckpt.runs() { 0 } else { __ckpt.restore("step") };
    while __ckpt.enters(1, 1) || step < STEPS {
        if __ckpt.runs() {
            step += 1;
            let mut file = File::options().append(true).create(true).open(&name)?;
            writeln!(file, "{step}")?;
        }
        if __ckpt.due(1) {
            __ckpt.checkpoint(1, &|r| r.save("step", &step));
        }
    }
    Ok(())
}
