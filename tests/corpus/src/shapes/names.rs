//! Names: raw ones, variables with capitals, and what has the name of a variable elsewhere in the function.

#[derive(ckpt::Checkpoint)]
struct Body {
    r#type: f64,
    count: u64,
}

fn weight() -> u64 {
    3
}

fn scaled(r#in: u64, by: u64) -> u64 {
    r#in * by
}

#[ckpt::instrument]
pub fn raw_names() {
    let mut r#gain = 1.0f64;
    let mut r#type = 0.5f64;
    let r#match: u64 = 4;
    let mut body = Body { r#type, count: 0 };
    'r#while: for r#for in 0..6u64 {
        gain = gain * 0.5 + r#for as f64;
        r#type += r#gain;
        ckpt::checkpoint!();
        let gain = gain + 1.0;
        let Body { r#type: r#loop, .. } = &body;
        println!("{for} {type} {gain} {loop:.3}");
        body.r#type += r#type;
        body.count += 1;
        if r#for >= r#match {
            break 'r#while;
        }
    }
    println!("{gain} {type} {match} {} {}", body.r#type, body.count);
}

#[allow(non_snake_case)]
#[ckpt::instrument]
fn with_capitals(N: usize) -> u64 {
    const T: u64 = 3;
    let (M, L) = (N as u64 * 2, 0.5);
    let mut Sum = 0;
    for K in 0..4u64 {
        let U: Vec<u64> = (0..N as u64).map(|I| I * K + M).collect();
        ckpt::checkpoint!();
        Sum += U.iter().copied().fold(0, |A, B| if A > B { A } else { B });
        match K {
            T => println!("last {Sum} {L}"),
            R => println!("{R} {Sum} {}", U.len()),
        }
    }
    Sum + M
}

#[ckpt::instrument(calls(with_capitals))]
pub fn variables_with_capitals() {
    const N: u64 = 7;
    let t1 = with_capitals(3);
    println!("{}", t1 + N);
}

#[allow(non_upper_case_globals)]
#[ckpt::instrument]
pub fn items_of_the_same_names() {
    let weight = weight();
    let n = 5u64;
    let mut scaled_sum = 0;
    for i in 0..4u64 {
        const n: u64 = 2;
        ckpt::checkpoint!();
        {
            fn weight(x: u64) -> u64 {
                x + n
            }
            scaled_sum += weight(i);
        }
        let scaled = scaled(scaled_sum, weight);
        scaled_sum += scaled % 10;
        println!("{i} {n} {scaled}");
    }
    println!("{n} {weight} {scaled_sum}");
}
