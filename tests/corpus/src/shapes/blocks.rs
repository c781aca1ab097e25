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

#[ckpt::instrument(calls(after_a_site))]
pub fn operands_that_begin_with_a_block() {
    let one = ({ after_a_site(2) }) + { after_a_site(3) };
    let two = (match one {
        0 => 1,
        _ => after_a_site(one),
    }) * 2;
    let three = (if two > 3 { after_a_site(two) } else { 2 }) > 3 && { after_a_site(one) > 2 };
    let four = (after_a_site(3) as f64 + 1.0) * 2.0 - -(after_a_site(1) as f64);
    let five = !(after_a_site(1) == 3 && after_a_site(2) == 5);
    let six = (after_a_site(1) as u32) < 5;
    println!("= {one} {two} {three} {four} {five} {six}");
}

#[ckpt::instrument]
fn after_a_site(n: u64) -> u64 {
    ckpt::checkpoint!();
    println!("{n}");
    (loop {
        ckpt::checkpoint!();
        if n > 0 {
            break n;
        }
    }) + 1
}

#[ckpt::instrument(calls(after_a_site))]
#[allow(unused_unsafe)]
pub fn unsafe_conditions() {
    let list = [1u64, 2, 3];
    let mut i = 0;
    // SAFETY: the loop ends at the last element.
    while unsafe { *list.get_unchecked(i) } < 3 {
        ckpt::checkpoint!();
        i += 1;
        println!("{i}");
    }
    // SAFETY: the list is not empty.
    if unsafe { *list.get_unchecked(0) } == 1 {
        ckpt::checkpoint!();
        println!("one");
    }
    if unsafe { after_a_site(1) } == 2 {
        println!("two");
    }
    println!("= {i}");
}
