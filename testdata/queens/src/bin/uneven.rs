//! A recursion whose trees are uneven: most branches end at once, and some are large.

#[derive(Debug)]
enum Stop {
    TooMany(u64),
}

/// A number that looks like chance.
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    value ^ (value >> 29)
}

/// The sums of all ways down a tree: one branch in sixteen is as deep as allowed, the others end soon.
fn sum(node: u64, depth: u32, most: u64, visited: &mut u64) -> Result<u64, Stop> {
    *visited += 1;
    if *visited > most {
        return Err(Stop::TooMany(node));
    }
    if depth == 0 {
        return Ok(node & 0xff);
    }
    let mut total = node & 0xf;
    'branches: for branch in 0..4 {
        let below = mixed(node.wrapping_mul(5).wrapping_add(branch));
        if below & 1 == 0 {
            continue 'branches;
        }
        let left = if below & 0x1e == 0 { depth - 1 } else { depth.saturating_sub(3) };
        total = total.wrapping_add(sum(below, left, most, visited)?);
        if total > 1 << 40 {
            break 'branches;
        }
    }
    Ok(total)
}

fn main() {
    for (seed, depth, most) in [(1, 9, 1 << 40), (7, 40, 1 << 40), (3, 38, 200), (11, 44, 1 << 40)] {
        let mut visited = 0;
        match sum(seed, depth, most, &mut visited) {
            Ok(total) => println!("{seed}: {total} in {visited} nodes"),
            Err(Stop::TooMany(node)) => println!("{seed}: too many, at {node:x} behind {visited}"),
        }
    }
}
