//! All solutions of the n queens problem by backtracking, with the fundamental ones counted apart.

use std::fmt;

#[derive(Clone)]
struct Board<const N: usize> {
    column: [u8; N],
    placed: usize,
    columns: u32,
    rising: u32,
    falling: u32,
}

impl<const N: usize> Board<N> {
    fn empty() -> Self {
        Board { column: [0; N], placed: 0, columns: 0, rising: 0, falling: 0 }
    }

    fn bits(row: usize, column: usize) -> (u32, u32, u32) {
        (1 << column, 1 << (row + column), 1 << (row + N - column))
    }

    fn try_put(&mut self, column: usize) -> bool {
        let (c, r, f) = Self::bits(self.placed, column);
        if self.columns & c != 0 || self.rising & r != 0 || self.falling & f != 0 {
            return false;
        }
        self.columns |= c;
        self.rising |= r;
        self.falling |= f;
        self.column[self.placed] = column as u8;
        self.placed += 1;
        true
    }

    fn take_back(&mut self) {
        self.placed -= 1;
        let (c, r, f) = Self::bits(self.placed, self.column[self.placed] as usize);
        self.columns &= !c;
        self.rising &= !r;
        self.falling &= !f;
    }

    fn symmetries(&self) -> [[u8; N]; 8] {
        let rotate = |b: &[u8; N]| {
            let mut out = [0u8; N];
            for (row, &col) in b.iter().enumerate() {
                out[col as usize] = (N - 1 - row) as u8;
            }
            out
        };
        let mirror = |b: &[u8; N]| b.map(|c| N as u8 - 1 - c);
        let mut all = [self.column; 8];
        for i in 1..4 {
            all[i] = rotate(&all[i - 1]);
        }
        for i in 0..4 {
            all[4 + i] = mirror(&all[i]);
        }
        all
    }

    fn is_fundamental(&self) -> bool {
        self.symmetries().iter().all(|s| self.column <= *s)
    }
}

impl<const N: usize> fmt::Display for Board<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &c in &self.column {
            let line: String = (0..N).map(|k| if k == c as usize { 'Q' } else { '.' }).collect();
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Tally<const N: usize> {
    solutions: u64,
    fundamental: u64,
    nodes: u64,
    first: Option<Board<N>>,
}

fn search<const N: usize>(board: &mut Board<N>, tally: &mut Tally<N>) {
    tally.nodes += 1;
    if board.placed == N {
        tally.solutions += 1;
        if board.is_fundamental() {
            tally.fundamental += 1;
        }
        if tally.first.is_none() {
            tally.first = Some(board.clone());
        }
        return;
    }
    for column in 0..N {
        if board.try_put(column) {
            search(board, tally);
            board.take_back();
        }
    }
}

fn solve<const N: usize>() {
    let mut tally = Tally::<N>::default();
    search(&mut Board::empty(), &mut tally);
    println!("{N} queens: {} solutions, {} fundamental, {} nodes", tally.solutions, tally.fundamental, tally.nodes);
    if let Some(board) = &tally.first {
        print!("{board}");
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        None => {
            solve::<6>();
            solve::<8>();
            solve::<10>();
            solve::<11>();
            solve::<12>();
        }
        Some("13") => solve::<13>(),
        Some(other) => {
            eprintln!("13 or nothing, not {other}");
            std::process::exit(1);
        }
    }
}
