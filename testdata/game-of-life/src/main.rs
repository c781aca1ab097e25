// Conway's life on an unbounded plane. Live cells in a HashSet; patterns from text.
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::env;
use std::fmt::{self, Write as _};
use std::fs;

type Cell = (i32, i32);

const ACORN: &str = include_str!("acorn.txt");
const R_PENTOMINO: &str = "
.OO
OO.
.O.
";

fn parse(pattern: &str, at: Cell) -> HashSet<Cell>
{
    let mut cells = HashSet::new();
    for (y, line) in pattern.lines().filter(|l| !l.is_empty() && !l.starts_with('!')).enumerate() {
        for (x, c) in line.chars().enumerate() {
            if c == 'O' { cells.insert((at.0 + x as i32, at.1 + y as i32)); }
        }
    }
    cells
}

fn neighbours(&(x, y): &Cell) -> Vec<Cell>
{
    let mut v = Vec::with_capacity(8);
    for dx in -1..2 {
        for dy in -1..2 {
            if dx == 0 && dy == 0 { continue; }
            v.push((x + dx, y + dy));
        }
    }
    v
}

/// How a generation compares with those seen before it.
#[derive(Debug, Clone, PartialEq)]
enum Fate
{
    Alive,
    Extinct { at: usize },
    Cycle { period: usize },
}

struct World
{
    cells: HashSet<Cell>,
    generation: usize,
    fate: Fate,
    recent: VecDeque<Vec<Cell>>,
    ages: HashMap<Cell, u32>,
}

impl World
{
    fn new(cells: HashSet<Cell>) -> Self
    {
        World { cells, generation: 0, fate: Fate::Alive, recent: VecDeque::new(), ages: HashMap::new() }
    }

    fn step(&mut self)
    {
        let mut counts: HashMap<Cell, u8> = HashMap::new();
        for cell in &self.cells {
            for n in neighbours(cell) { *counts.entry(n).or_insert(0) += 1; }
        }
        let next: HashSet<Cell> = counts
            .into_iter()
            .filter(|(cell, n)| *n == 3 || (*n == 2 && self.cells.contains(cell)))
            .map(|(cell, _)| cell)
            .collect();

        let old = &self.cells;
        self.ages.retain(|c, _| next.contains(c));
        for c in next.iter() {
            let age = self.ages.entry(*c).or_default();
            *age = if old.contains(c) { *age + 1 } else { 0 };
        }
        self.cells = next;
        self.generation += 1;
        self.judge();
    }

    fn judge(&mut self)
    {
        if self.cells.is_empty() {
            self.fate = Fate::Extinct { at: self.generation };
            return;
        }
        let mut sorted: Vec<Cell> = self.cells.iter().cloned().collect();
        sorted.sort();
        if let Some(back) = self.recent.iter().rev().position(|g| *g == sorted) {
            self.fate = Fate::Cycle { period: back + 1 };
        }
        self.recent.push_back(sorted);
        if self.recent.len() > 12 { self.recent.pop_front(); }
    }

    fn bounds(&self) -> Option<(Cell, Cell)>
    {
        let x0 = self.cells.iter().map(|c| c.0).min()?;
        let x1 = self.cells.iter().map(|c| c.0).max()?;
        let y0 = self.cells.iter().map(|c| c.1).min()?;
        let y1 = self.cells.iter().map(|c| c.1).max()?;
        Some(((x0, y0), (x1, y1)))
    }

    fn oldest(&self) -> u32 { self.ages.values().copied().max().unwrap_or(0) }
}

impl fmt::Display for World
{
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result
    {
        let ((x0, y0), (x1, y1)) = match self.bounds() {
            None => return writeln!(f, "(nothing)"),
            Some(b) => b,
        };
        for y in y0..=y1 {
            let line: String = (x0..=x1).map(|x| if self.cells.contains(&(x, y)) { '#' } else { ' ' }).collect();
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

fn main()
{
    let limit: usize = env::args().nth(1).map(|s| s.parse().expect("a number of generations")).unwrap_or(1800);

    let mut start = parse(ACORN, (0, 0));
    start.extend(parse(R_PENTOMINO, (60, 25)));
    println!("{} cells to start with", start.len());

    let mut world = World::new(start);
    // population -> generations that had it
    let mut census: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut history = String::new();
    let mut peak = (0usize, 0usize);

    'life: for generation in 0..limit {
        let population = world.cells.len();
        census.entry(population).or_default().push(generation);
        if population > peak.1 { peak = (generation, population); }

        match &world.fate {
            Fate::Alive => {}
            Fate::Extinct { at } => { println!("extinct at {}", at); break 'life; }
            Fate::Cycle { period } if generation > 20 => {
                println!("settled: period {} at {}", period, generation);
                break 'life;
            }
            Fate::Cycle { .. } => {}
        }

        if generation % 25 == 0 {
            let size = world.bounds().map(|(a, b)| (b.0 - a.0 + 1, b.1 - a.1 + 1)).unwrap_or_default();
            writeln!(history, "{:5} {:5} cells in {}x{}, oldest {}", generation, population, size.0, size.1, world.oldest()).unwrap();
        }
        world.step();
    }

    println!("generation {}: {} cells; peak {} at {}", world.generation, world.cells.len(), peak.1, peak.0);
    let (most, when) = census.iter().max_by_key(|(_, g)| g.len()).unwrap();
    println!("commonest population: {} ({} times, first at {})", most, when.len(), when[0]);

    history.push_str(&world.to_string());
    fs::write("history.txt", history).unwrap();
}

#[cfg(test)]
mod tests
{
    use super::*;

    #[test]
    fn blinker_has_period_two()
    {
        let mut w = World::new(parse("OOO", (0, 0)));
        for _ in 0..4 { w.step(); }
        assert_eq!(w.fate, Fate::Cycle { period: 2 });
    }
}
