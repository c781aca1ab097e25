// The Computer Language Benchmarks Game: fannkuch-redux
// plain port of the Java version of Isaac Gouy, contributed by Oleg Mazurov

fn fannkuch(n: usize) -> (i32, i32) {
    let mut perm = [0usize; 16];
    let mut perm1: [usize; 16] = std::array::from_fn(|i| i);
    let mut count = [0usize; 16];

    let mut max_flips = 0;
    let mut perm_count = 0;
    let mut checksum = 0;
    let mut r = n;

    loop {
        while r != 1 {
            count[r - 1] = r;
            r -= 1;
        }

        perm[..n].copy_from_slice(&perm1[..n]);
        let mut flips_count = 0;

        loop {
            let k = perm[0];
            if k == 0 {
                break;
            }
            perm[..=k].reverse();
            flips_count += 1;
        }

        max_flips = max_flips.max(flips_count);
        checksum += if perm_count % 2 == 0 { flips_count } else { -flips_count };

        // Use incremental change to generate another permutation
        loop {
            if r == n {
                return (checksum, max_flips);
            }
            let perm0 = perm1[0];
            for i in 0..r {
                perm1[i] = perm1[i + 1];
            }
            perm1[r] = perm0;

            count[r] -= 1;
            if count[r] > 0 {
                break;
            }
            r += 1;
        }
        perm_count += 1;
    }
}

fn main() {
    let n = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10);
    assert!((1..=16).contains(&n));
    let (checksum, maxflips) = fannkuch(n);
    println!("{}\nPfannkuchen({}) = {}", checksum, n, maxflips);
}
