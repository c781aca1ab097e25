//! Counts the ways to place n queens: a method that calls itself.

struct Board {
    size: usize,
    columns: Vec<bool>,
    rising: Vec<bool>,
    falling: Vec<bool>,
    queens: Vec<usize>,
    sum: u64,
}

impl Board {
    fn new(size: usize) -> Self {
        Board {
            size,
            columns: vec![false; size],
            rising: vec![false; 2 * size],
            falling: vec![false; 2 * size],
            queens: Vec::with_capacity(size),
            sum: 0,
        }
    }

    fn is_free(&self, row: usize, column: usize) -> bool {
        !self.columns[column] && !self.rising[row + column] && !self.falling[row + self.size - column]
    }

    fn set(&mut self, row: usize, column: usize, taken: bool) {
        self.columns[column] = taken;
        self.rising[row + column] = taken;
        self.falling[row + self.size - column] = taken;
    }

    fn place(&mut self, row: usize) -> u64 {
        if row == self.size {
            self.sum = self.queens.iter().fold(self.sum, |sum, &q| sum.wrapping_mul(31).wrapping_add(q as u64));
            return 1;
        }
        let mut found = 0;
        for column in 0..self.size {
            if self.is_free(row, column) {
                self.set(row, column, true);
                self.queens.push(column);
                found += self.place(row + 1);
                self.queens.pop();
                self.set(row, column, false);
            }
        }
        found
    }
}

fn main() {
    let largest = std::env::args().nth(1).map_or(11, |text| text.parse().expect("a number"));
    for size in 4..=largest {
        let mut board = Board::new(size);
        let found = board.place(0);
        println!("{size} queens: {found} ways, {:016x}", board.sum);
    }
}
