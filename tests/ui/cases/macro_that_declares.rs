macro_rules! shadow {
    ($n:ident) => {
        let $n = $n + 100;
    };
}
macro_rules! quiet {
    ($($t:tt)*) => {
        $($t)*
    };
}

#[ckpt::instrument]
fn defined_in_the_body() {
    macro_rules! declare {
        ($n:ident = $e:expr) => {
            let mut $n = $e;
        };
    }
    declare!(sum = 0);
    declare!(_unused = 0);
    for i in 0..3 {
        ckpt::checkpoint!();
        sum += i;
    }
    println!("{sum}");
}

#[ckpt::instrument(means(declares(shadow)))]
fn said_by_the_user(x: u64) {
    for i in 0..3 {
        ckpt::checkpoint!();
        shadow!(x);
        println!("{i} {x}");
    }
}

#[ckpt::instrument]
fn given_a_let(x: u64) {
    ckpt::checkpoint!();
    quiet! {
        let x = x + 1;
    }
    println!("{x}");
}

#[ckpt::instrument(means(declares(shadow)))]
fn in_a_block_of_its_own(x: u64) {
    ckpt::checkpoint!();
    {
        shadow!(x);
        println!("{x}");
    }
    quiet! {
        if let Some(x) = Some(x) {
            println!("{x}");
        }
    }
    quiet! {
        let y = x + 1;
        println!("{y}");
    }
    println!("{x}");
}

#[ckpt::main]
fn main() {
    defined_in_the_body();
    said_by_the_user(1);
    given_a_let(1);
    in_a_block_of_its_own(1);
    ckpt::checkpoint!();
}
