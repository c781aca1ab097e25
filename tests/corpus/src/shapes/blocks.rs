//! Sites inside plain, labelled, valued and `unsafe` blocks.

#[ckpt::instrument]
pub fn nested_blocks() {
    let mut n = 1;
    {
        let inner = n + 1;
        {
            let innermost = inner * 10;
            ckpt::checkpoint!();
            n += innermost;
            println!("{inner} {innermost} {n}");
        }
        ckpt::checkpoint!();
        n += inner;
    }
    println!("= {n}");
}

#[ckpt::instrument]
pub fn unsafe_block() {
    let mut items = vec![1u64, 2, 3];
    let mut sum = 0;
    for i in 0..3 {
        unsafe {
            let item = items.get_unchecked_mut(i);
            *item += 10;
            sum += *item;
            ckpt::checkpoint!();
            sum += *items.get_unchecked(0);
        }
        println!("{i} {sum} {items:?}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn block_as_value() {
    let mut n = 2u64;
    for _ in 0..3 {
        let square = {
            let copy = n;
            ckpt::checkpoint!();
            copy * copy
        };
        n = square % 97 + {
            ckpt::checkpoint!();
            1
        };
        println!("{square} {n}");
    }
    println!("= {n}");
}

#[ckpt::instrument]
pub fn block_left_early() {
    let mut log = vec![];
    for i in 0..4u64 {
        'part: {
            log.push(i);
            if i == 1 {
                break 'part;
            }
            ckpt::checkpoint!();
            log.push(i * 10);
        }
        println!("{log:?}");
    }
    println!("= {log:?}");
}

#[ckpt::instrument]
pub fn assignment_from_a_block() {
    let mut best = (0u64, String::new());
    for i in 1..4 {
        best = {
            let text = format!("{}{i}", best.1);
            ckpt::checkpoint!();
            (best.0 * 2 + i, text)
        };
        println!("{best:?}");
    }
    println!("= {best:?}");
}

#[ckpt::instrument]
pub fn site_as_the_only_statement() {
    for _ in 0..3 {
        ckpt::checkpoint!()
    }
    println!("=");
}

#[ckpt::instrument]
pub fn text_printed_without_end_of_line() {
    let mut n = 0;
    for i in 0..3 {
        n += i;
        print!("{n}..");
        ckpt::checkpoint!();
        println!("{i}");
    }
    println!("= {n}");
}

#[ckpt::instrument]
pub fn operands_of_an_expression() {
    let mut n = 3u64;
    for _ in 0..2 {
        n = n * {
            ckpt::checkpoint!();
            2
        } + 1;
        let pair = (n, {
            ckpt::checkpoint!();
            n + 1
        });
        println!("{pair:?}");
    }
    println!("= {n}");
}
