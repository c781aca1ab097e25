//! Programs that use the instrumentation in a way that a restart could not honour.

use ckpt::__rt::{Frame, FunctionPlan, SitePlan, member, open};

use super::{INSTRUMENT, MAIN, PROGRAM, call_at, checkpoint_at, plan};

const SITE: &[SitePlan] = &[checkpoint_at(22, &[])];

static MARKS_NOTHING: FunctionPlan = plan("main", 1, MAIN, &[checkpoint_at(3, &[])]);
static MARKS_OTHER: FunctionPlan = plan("main", 1, MAIN, &[call_at(4, "other", &[])]);
static MARKS_ADVANCE: FunctionPlan = plan("main", 1, MAIN, &[call_at(4, "advance", &[])]);
static MARKS_WRAPPER: FunctionPlan = plan("main", 1, MAIN, &[call_at(4, "self.wrapper", &[])]);
static AT_SITE: FunctionPlan = plan("main", 1, MAIN, SITE);
static ADVANCE: FunctionPlan = plan("advance", 20, INSTRUMENT, SITE);
static ADVANCE_AS_CALLER: FunctionPlan = plan("advance", 20, INSTRUMENT, &[call_at(21, "inner", &[])]);
static INNER: FunctionPlan = plan("inner", 30, INSTRUMENT, SITE);
static CALLS_AND_VISITS: FunctionPlan = plan(
    "main",
    1,
    MAIN,
    &[call_at(4, "read_input", &[]), checkpoint_at(7, &[])],
);
static READ_INPUT: FunctionPlan = plan("read_input", 40, INSTRUMENT, SITE);
static OPENS_REGION: FunctionPlan = plan("main", 1, MAIN, &[checkpoint_at(3, &[])]);

pub fn main(slip: &str) {
    let __session = open(PROGRAM);
    match slip {
        "unmarked" => unmarked(&MARKS_NOTHING),
        "unmarked-beside" => unmarked(&MARKS_OTHER),
        "unmarked-above" => unmarked_above(),
        "between" => marked(&MARKS_WRAPPER, || advance(0)),
        "second" => marked(&MARKS_ADVANCE, || {
            quiet_advance();
            advance(0);
        }),
        "argument" => marked(&MARKS_ADVANCE, || {
            advance({
                let _argument = Frame::enter(&INNER);
                0
            });
        }),
        "thread" => thread(),
        "consumed" => consumed(0),
        "consumed-later" => consumed(2),
        "not-instrumented" => marked(&MARKS_ADVANCE, || {
            if std::env::var_os("CKPT_RESTART").is_none() {
                advance(0);
            }
        }),
        "shadowing-panic" => shadowing_panic(),
        "calls-further" => calls_further(),
        "calls-no-more" => calls_no_more(),
        "unsaveable" => unsaveable(),
        "changed-unseen" => changed_unseen(),
        "beside" => beside(),
        "goes-on" => goes_on(),
        "member-not-instrumented" => member_not_instrumented(),
        other => panic!("no program {other}"),
    }
    println!("done");
}

fn unmarked(plan: &'static FunctionPlan) {
    let __ckpt = Frame::enter(plan);
    advance(0);
}

/// The unmarked call is further out than the frame with the site.
fn unmarked_above() {
    let __ckpt = Frame::enter(&MARKS_NOTHING);
    let mut __inner = Frame::enter(&ADVANCE_AS_CALLER);
    __inner.call(1, &|_| {}, || {
        let mut __ckpt = Frame::enter(&INNER);
        visit(&mut __ckpt);
    });
}

fn marked(plan: &'static FunctionPlan, body: impl FnOnce()) {
    let mut __ckpt = Frame::enter(plan);
    __ckpt.call(1, &|_| {}, body);
}

fn visit(frame: &mut Frame) {
    if frame.due(1) {
        frame.checkpoint(1, &|_| {});
    }
}

fn advance(_: u32) {
    let mut __ckpt = Frame::enter(&ADVANCE);
    visit(&mut __ckpt);
}

/// An instrumented function that happens to visit no site.
fn quiet_advance() {
    let _frame = Frame::enter(&ADVANCE);
}

fn thread() {
    let mut __ckpt = Frame::enter(&MARKS_ADVANCE);
    let worker = std::thread::Builder::new().name("worker".into());
    worker.spawn(|| advance(0)).unwrap().join().unwrap();
}

/// The caller needs an argument that the callee offers in the first rounds only.
fn consumed(offered: u32) {
    let mut __ckpt = Frame::enter(&MARKS_ADVANCE);
    for round in 0..3u32 {
        __ckpt.call(1, &|r| r.wants(0), || {
            let mut __ckpt = Frame::enter(&ADVANCE);
            if __ckpt.due(1) {
                __ckpt.checkpoint(1, &|r| {
                    if round < offered {
                        r.parameter(0, "round", &round);
                    }
                });
            }
        });
        println!("round {round}");
    }
}

fn restarts() -> bool {
    std::env::var_os("CKPT_RESTART").is_some()
}

/// A restart finds a call where a site was.
fn calls_further() {
    let mut __ckpt = Frame::enter(&MARKS_ADVANCE);
    match restarts() {
        true => __ckpt.call(1, &|_| {}, || advance(0)),
        false => visit(&mut __ckpt),
    }
}

/// A restart finds a site where a call was.
fn calls_no_more() {
    let mut __ckpt = Frame::enter(&MARKS_ADVANCE);
    match restarts() {
        true => __ckpt.checkpoint(1, &|_| {}),
        false => __ckpt.call(1, &|_| {}, || advance(0)),
    }
}

/// The caller lends what the callee does not know how to save.
fn unsaveable() {
    let mut __ckpt = Frame::enter(&MARKS_ADVANCE);
    __ckpt.call(1, &|r| r.wants(0), || {
        let mut __ckpt = Frame::enter(&ADVANCE);
        let state = std::cell::Cell::new(1);
        if __ckpt.due(1) {
            __ckpt.checkpoint(1, &|r| r.cannot_offer(0, "state", &state, "Cell<T>"));
        }
        state.set(2);
    });
}

/// A value that is said to be as it was, and is not.
fn changed_unseen() {
    let mut __ckpt = Frame::enter(&AT_SITE);
    for round in 0..9_u64 {
        if __ckpt.due(1) {
            __ckpt.checkpoint(1, &|r| {
                r.mark_clean();
                r.save("round", &round);
            });
        }
    }
}

/// A thread of the program's own is there all the time.
fn beside() {
    let (end, ends) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(ckpt::__rt::watched(move || ends.recv()));
    let mut __ckpt = Frame::enter(&AT_SITE);
    for _ in 0..9 {
        visit(&mut __ckpt);
    }
    drop(end);
    assert!(thread.join().unwrap().is_err());
}

/// A panic that is caught between the frames leaves them as they were.
fn shadowing_panic() {
    let mut __ckpt = Frame::enter(&MARKS_ADVANCE);
    std::panic::set_hook(Box::new(|_| {}));
    for _ in 0..3 {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            __ckpt.call(1, &|r| r.lent("x", 0, None), || {
                let _frame = Frame::enter(&ADVANCE);
                panic!("in a call");
            })
        }));
        assert!(caught.is_err());
    }
    __ckpt.call(1, &|_| {}, || advance(0));
}

/// A restart goes on after an error on its way, to a site.
fn goes_on() {
    let mut __ckpt = Frame::enter(&CALLS_AND_VISITS);
    if let Err(error) = __ckpt.call(1, &|_| {}, read_input) {
        println!("{error}");
    }
    if __ckpt.due(2) {
        __ckpt.checkpoint(2, &|_| {});
    }
}

/// Its input is gone at a restart.
fn read_input() -> Result<(), String> {
    let mut __ckpt = Frame::enter(&READ_INPUT);
    if restarts() {
        return Err("the input file is gone".into());
    }
    visit(&mut __ckpt);
    Ok(())
}

/// The function that a thread of a team executes is not instrumented any more at a restart.
fn member_not_instrumented() {
    let mut __ckpt = Frame::enter(&OPENS_REGION);
    __ckpt.region(1);
    std::thread::scope(|scope| {
        scope.spawn(member(|| match restarts() {
            true => println!("from its beginning"),
            false => advance(0),
        }));
        __ckpt.await_members(1, &|_| {});
    });
}
