//! Counts the ways to place n queens: a loop with lists in place of a recursion.

fn count(size: usize) -> (u64, u64) {
    let mut next = vec![0usize; size];
    let mut columns = vec![false; size];
    let mut rising = vec![false; 2 * size];
    let mut falling = vec![false; 2 * size];
    let (mut row, mut ways, mut turns) = (0, 0, 0u64);
    loop {
        turns += 1;
        let column = next[row];
        if column == size {
            next[row] = 0;
            if row == 0 {
                break;
            }
            row -= 1;
            let column = next[row];
            columns[column] = false;
            rising[row + column] = false;
            falling[row + size - column] = false;
            next[row] += 1;
            continue;
        }
        if columns[column] || rising[row + column] || falling[row + size - column] {
            next[row] += 1;
            continue;
        }
        if row + 1 == size {
            ways += 1;
            next[row] += 1;
            continue;
        }
        columns[column] = true;
        rising[row + column] = true;
        falling[row + size - column] = true;
        row += 1;
    }
    (ways, turns)
}

fn main() {
    let largest = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number"));
    for size in 4..=largest {
        let (ways, turns) = count(size);
        println!("{size} queens: {ways} ways in {turns} turns");
    }
}
