//! Parameters that are gone when the site is reached: a restart passes something in their place.

use std::collections::VecDeque;
use std::num::NonZeroU64;

#[derive(Clone, ckpt::Checkpoint)]
struct Deck {
    name: String,
    turns: u64,
    grid: Vec<u64>,
}

fn deck() -> Deck {
    Deck {
        name: "deck".to_string(),
        turns: 3,
        grid: vec![1, 2, 3],
    }
}

fn doubled(grid: Vec<u64>) -> Vec<u64> {
    grid.into_iter().map(|x| x * 2).collect()
}

#[ckpt::instrument(calls(run))]
pub fn transformed_first() {
    let deck = deck();
    let grid = deck.grid.clone();
    let sum = run(deck, grid);
    println!("= {sum}");
}

#[ckpt::instrument]
fn run(deck: Deck, mut grid: Vec<u64>) -> u64 {
    grid.push(deck.turns);
    let mut other = doubled(grid);
    for k in 0..deck.turns {
        ckpt::checkpoint!();
        other[k as usize] += k;
        println!("{} {other:?}", deck.name);
    }
    other.iter().sum()
}

impl Deck {
    #[ckpt::instrument]
    fn play(self) -> u64 {
        let Deck {
            name,
            turns,
            mut grid,
        } = self;
        for k in 0..turns {
            ckpt::checkpoint!();
            grid[0] += k;
            println!("{name} {grid:?}");
        }
        grid[0]
    }

    fn finished(mut self) -> Vec<u64> {
        self.grid.push(self.turns);
        self.grid
    }
}

#[ckpt::instrument(calls(play))]
pub fn receiver_taken_apart() {
    let deck = deck();
    let first = deck.play();
    println!("= {first}");
    for i in 0..2 {
        ckpt::checkpoint!();
        println!("{i}");
    }
}

#[ckpt::instrument(calls(finishes))]
pub fn consumed_by_a_method() {
    println!("= {}", finishes(deck(), NonZeroU64::new(4).unwrap()));
}

#[ckpt::instrument]
fn finishes(deck: Deck, more: NonZeroU64) -> u64 {
    let more = more.get();
    let mut list = deck.finished();
    for item in 0..list.len() {
        ckpt::checkpoint!();
        list[item] += more;
        println!("{list:?}");
    }
    list[0]
}

#[ckpt::instrument(calls(converts))]
pub fn shadowed_by_what_is_made_of_them() {
    let sum = converts(" a ".into(), vec![1, 2], Some(vec![3, 4]));
    println!("= {sum}");
}

#[ckpt::instrument]
fn converts(text: String, list: Vec<u64>, more: Option<Vec<u64>>) -> u64 {
    let text = text.trim().to_string();
    let list: VecDeque<u64> = list.into();
    let Some(more) = more else { return 0 };
    let mut sum = more.len() as u64;
    for item in list {
        ckpt::checkpoint!();
        sum += item + text.len() as u64;
        println!("{sum}");
    }
    sum
}

#[ckpt::instrument(calls(on_one_branch))]
pub fn used_up_on_one_branch() {
    for turn in 0..2 {
        println!("{}", on_one_branch(vec![turn, 5], turn == 0));
    }
}

#[ckpt::instrument]
fn on_one_branch(list: Vec<u64>, takes: bool) -> u64 {
    let mut sum = if takes { doubled(list)[1] } else { 2 };
    for i in 0..2 {
        ckpt::checkpoint!();
        sum += i;
        println!("{sum}");
    }
    sum
}

#[derive(ckpt::Checkpoint)]
struct Noisy(u64);

impl Drop for Noisy {
    fn drop(&mut self) {
        println!("noisy {} ends", self.0);
    }
}

#[derive(ckpt::Checkpoint)]
enum Term {
    Add(Box<Term>, Box<Term>),
    Number(u64),
}

fn value(term: &Term) -> u64 {
    match term {
        Term::Add(left, right) => value(left) + value(right),
        Term::Number(number) => *number,
    }
}

#[ckpt::instrument(calls(passes_on))]
pub fn through_two_frames() {
    let term = Term::Add(Box::new(Term::Number(1)), Box::new(Term::Number(2)));
    println!("= {}", passes_on(Noisy(7), term));
}

#[ckpt::instrument(calls(uses_up))]
fn passes_on(noisy: Noisy, term: Term) -> u64 {
    let sum = uses_up(noisy, term);
    for i in 0..2 {
        ckpt::checkpoint!();
        println!("{i}");
    }
    sum
}

#[ckpt::instrument]
fn uses_up(noisy: Noisy, term: Term) -> u64 {
    let other = Noisy(noisy.0 + value(&term));
    drop(noisy);
    drop(term);
    let mut sum = 0;
    for i in 0..3 {
        ckpt::checkpoint!();
        sum += i * other.0;
        println!("{sum}");
    }
    sum
}

#[ckpt::instrument(calls(steered))]
pub fn steered_parameters() {
    #[ckpt(reexecute)]
    let plan = Plan { turns: 3 };
    println!("= {}", steered(vec![1, 2, 3], plan.clone(), vec![9; 2]));
}

#[derive(Clone)]
struct Plan {
    turns: usize,
}

#[ckpt::instrument]
fn steered(
    #[ckpt(save)] list: Vec<u64>,
    #[ckpt(reexecute)] plan: Plan,
    #[ckpt(skip)] scratch: Vec<u64>,
) -> u64 {
    let mut sum = scratch.len() as u64;
    for i in 0..plan.turns {
        ckpt::checkpoint!();
        sum += list[i];
        println!("{sum}");
    }
    sum
}

#[ckpt::instrument(calls(play, practise))]
pub fn a_receiver_without_a_name() {
    let extra = vec![7];
    let first = deck().with(extra).play();
    println!("= {first}");
    println!("= {}", deck().practise());
}

impl Deck {
    fn with(mut self, mut more: Vec<u64>) -> Deck {
        self.grid.append(&mut more);
        self
    }

    #[ckpt::instrument(calls(play))]
    fn play_well(self) -> u64 {
        println!("well");
        self.with(vec![1]).play()
    }

    #[ckpt::instrument]
    fn practise(&mut self) -> u64 {
        for k in 0..self.turns {
            ckpt::checkpoint!();
            self.grid.push(k);
        }
        self.grid.len() as u64
    }
}

#[ckpt::instrument(calls(play_well))]
pub fn receivers_all_the_way_down() {
    let mut hand = deck();
    hand.turns += 1;
    println!("= {}", hand.play_well());
}

#[ckpt::instrument]
fn counted(name: impl std::fmt::Display) -> u64 {
    let mut count = 0;
    for k in 0..3u64 {
        ckpt::checkpoint!();
        count += k;
    }
    println!("{name} {count}");
    count
}

#[ckpt::instrument(calls(counted))]
fn handed_on(name: impl std::fmt::Display) -> u64 {
    let count = counted(name);
    count * 2
}

/// The caller passes again what it has given away, though the callee does not know its type.
#[ckpt::instrument(calls(counted, handed_on))]
pub fn used_behind_the_site() {
    let deck = deck();
    let name = deck.name.clone();
    let count = counted(name);
    let name = format!("{} {count}", deck.name);
    let count = count + handed_on(name);
    println!("= {count}");
}
