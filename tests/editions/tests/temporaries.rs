//! When temporaries are dropped depends on the edition of the block or `if let` that they are in: that of the user's
//! package, and not that of the macros which write it anew.

use std::cell::RefCell;

thread_local! {
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

#[derive(ckpt::Checkpoint)]
struct Noisy(&'static str);

impl Noisy {
    fn value(&self) -> u64 {
        1
    }

    fn some(&self) -> Option<u64> {
        Some(1)
    }
}

impl Drop for Noisy {
    fn drop(&mut self) {
        say(self.0);
    }
}

fn say(word: &str) {
    SAID.with_borrow_mut(|said| said.push(word.to_owned()));
}

type Program = fn();

fn said_by(program: Program) -> Vec<String> {
    SAID.take();
    program();
    SAID.take()
}

/// The same function plain and instrumented; the site is in its loop.
macro_rules! twice {
    ($(fn $name:ident() $(-> $result:ty)? $body:block)*) => {
        mod plain {
            use super::*;
            $(pub fn $name() $(-> $result)? $body)*
        }
        mod instrumented {
            use super::*;
            $(#[ckpt::instrument] pub fn $name() $(-> $result)? $body)*
        }
    };
}

twice! {
    fn end_of_a_function() -> u64 {
        let _local = Noisy("local");
        for _ in 0..2 {
            say("turn");
        }
        Noisy("temporary").value()
    }

    fn end_of_a_loop() {
        for _ in 0..2 {
            say("turn");
            let _local = Noisy("local");
            if let Some(_one) = Noisy("temporary").some() {
                say("body");
            }
        }
    }

    fn value_of_a_block() {
        let value = {
            let _local = Noisy("local");
            for _ in 0..2 {
                say("turn");
            }
            Noisy("temporary").value()
        };
        say(if value == 1 { "one" } else { "another" });
    }
}

#[test]
fn temporaries_are_dropped_when_they_were() {
    let functions: [(Program, Program); 3] = [
        (
            || assert_eq!(plain::end_of_a_function(), 1),
            || assert_eq!(instrumented::end_of_a_function(), 1),
        ),
        (plain::end_of_a_loop, instrumented::end_of_a_loop),
        (plain::value_of_a_block, instrumented::value_of_a_block),
    ];
    for (plain, instrumented) in functions {
        assert_eq!(said_by(instrumented), said_by(plain));
    }
}
