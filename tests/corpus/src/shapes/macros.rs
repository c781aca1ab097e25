//! Macros that leave: out of their arguments, next to variables that are moved away and given a value again.

/// Says when it is dropped.
#[derive(Debug, ckpt::Checkpoint)]
struct Loud(u64);

impl Drop for Loud {
    fn drop(&mut self) {
        println!("drop {}", self.0);
    }
}

#[ckpt::instrument]
pub fn jumps_among_the_arguments() {
    let mut held = Loud(1);
    for i in 0..8u64 {
        println!(
            "{}",
            match i {
                1 => {
                    drop(held);
                    held = Loud(20 + i);
                    continue;
                }
                6 => break,
                n => n,
            }
        );
        drop(held);
        ckpt::checkpoint!();
        held = Loud(i);
        println!("{i} {held:?}");
    }
    println!("{held:?}");
}

#[ckpt::instrument(calls(left_by_an_argument))]
pub fn returns_among_the_arguments() {
    println!(
        "{:?} {:?} {:?}",
        left_by_an_argument(Some(1)),
        left_by_an_argument(None),
        left_by_an_argument(Some(9))
    );
}

#[ckpt::instrument]
fn left_by_an_argument(n: Option<u64>) -> Option<Vec<u64>> {
    let mut list = vec![1u64];
    for i in 0..4u64 {
        println!("{} {list:?}", i + n?);
        let old = list;
        ckpt::checkpoint!();
        let new = vec![i, old.len() as u64];
        assert!(
            n != Some(9) || i == 0,
            "{:?}",
            if i > 0 {
                return None;
            }
        );
        list = new;
        println!("{:?}", {
            if i == 2 {
                return Some(list);
            }
            &list
        });
    }
    Some(list)
}

macro_rules! skip_if {
    ($condition:expr) => {
        if $condition {
            continue;
        }
    };
}

#[ckpt::instrument]
pub fn unknown_macro_that_goes_on() {
    let mut last = 0;
    for i in 0..6u64 {
        println!("{last}");
        ckpt::checkpoint!();
        skip_if!(i % 3 == 1);
        last = i * 10;
    }
    println!("= {last}");
}

#[ckpt::instrument]
pub fn consumed_by_an_argument() {
    let mut text = String::from("a");
    for i in 0..4u64 {
        println!("{}", consumed(text));
        ckpt::checkpoint!();
        text = format!("b{i}");
    }
    println!("{text}");
}

fn consumed(text: String) -> usize {
    text.len()
}

#[ckpt::instrument]
pub fn macro_that_uses_the_functions_variables() {
    let mut cells = vec![1u64, 2, 3];
    let mut seed = 7u64;
    macro_rules! next {
        () => {
            seed = seed.wrapping_mul(5).wrapping_add(1);
            cells[(seed % 3) as usize] += seed;
        };
        (twice) => {
            next!();
            next!();
        };
    }
    for i in 0..5u64 {
        next!();
        ckpt::checkpoint!();
        if i % 2 == 1 {
            next!(twice);
        }
    }
    println!("{cells:?}");
}

#[ckpt::instrument]
pub fn macro_that_uses_a_variable_that_is_hidden() {
    let step = 3u64;
    let mut sum = 0;
    for i in 0..5u64 {
        macro_rules! add {
            ($x:expr) => {
                sum += $x * step + i
            };
        }
        let step = i * 100;
        ckpt::checkpoint!();
        add!(step);
        println!("{sum} {step}");
    }
}

#[ckpt::instrument]
pub fn macro_of_the_body_that_stays() {
    let mut held = Loud(1);
    macro_rules! swap {
        ($new:expr) => {
            drop(held);
            held = Loud($new)
        };
    }
    for i in 0..5u64 {
        macro_rules! scaled {
            ($x:expr) => {
                $x * 2
            };
        }
        let old = held;
        ckpt::checkpoint!();
        held = Loud(scaled!(i) + old.0);
        if i == 2 {
            swap!(40);
        }
    }
    println!("{held:?}");
}

#[ckpt::instrument]
pub fn macro_with_a_librarys_name() {
    let mut last = 0;
    macro_rules! trace {
        ($value:expr) => {
            $value += 5;
            if $value > 40 {
                break;
            }
        };
    }
    for i in 0..6u64 {
        println!("{last}");
        ckpt::checkpoint!();
        last += i * 3;
        trace!(last);
    }
    println!("= {last}");
}

struct Row<'a> {
    of: &'a Grid,
    width: usize,
}

#[derive(ckpt::Checkpoint)]
struct Grid {
    step: f64,
    cells: usize,
}

/// What `vec![x; n]` looks at is not moved away.
#[ckpt::instrument]
pub fn a_list_of_one_value_looks_at_fields() {
    let grid = Grid { step: 0.5, cells: 3 };
    let row = Row { of: &grid, width: 2 };
    let mut sum = 0.0;
    for i in 0..3u64 {
        ckpt::checkpoint!();
        sum += row.of.step + i as f64;
        println!("{i} {sum}");
    }
    let list = vec![2.0 / grid.step; grid.cells];
    for i in 0..2u64 {
        ckpt::checkpoint!();
        sum += list[row.width] + row.of.step;
        println!("{i} {sum}");
    }
}

struct Solver<'a> {
    row: &'a Row<'a>,
    list: Vec<f64>,
}

impl Grid {
    fn count(&self) -> usize {
        self.cells
    }
}

/// A method that might take its receiver does not, where that is used or borrowed later.
#[ckpt::instrument]
pub fn what_is_borrowed_is_still_there() {
    let grid = Grid { step: 0.25, cells: 3 };
    let from: Vec<f64> = (0..grid.count()).map(|i| i as f64).collect();
    let row = Row { of: &grid, width: 1 };
    let mut sum = 0.0;
    for i in 0..3u64 {
        ckpt::checkpoint!();
        sum += row.of.step + from[row.width] + i as f64;
        println!("{i} {sum}");
    }
    #[ckpt(reexecute)]
    let solver = Solver {
        row: &row,
        list: vec![0.5; grid.count()],
    };
    for i in 0..2u64 {
        ckpt::checkpoint!();
        sum += solver.row.of.step + solver.list[1];
        println!("{i} {sum}");
    }
}

macro_rules! hides {
    ($n:ident, $more:expr) => {
        let $n = $n + $more;
    };
}

/// In blocks without a site a macro may declare what it likes.
#[ckpt::instrument(means(declares(hides)))]
pub fn declares_in_blocks_without_a_site() {
    macro_rules! declare {
        ($n:ident = $e:expr) => {
            let mut $n = $e;
        };
    }
    let x = 5u64;
    let mut sum = 0;
    for i in 0..4u64 {
        {
            hides!(x, 100);
            declare!(part = x);
            part += i;
            sum += part;
        }
        if i % 2 == 0 {
            ckpt::checkpoint!();
        } else {
            hides!(sum, 7);
            println!("{sum}");
        }
        let mut each = |k: u64| {
            hides!(k, x);
            sum += k;
        };
        each(i);
        ckpt::checkpoint!();
        println!("{x} {sum}");
    }
}

#[derive(ckpt::Checkpoint)]
struct Named {
    what: String,
}

/// A field among the tokens of a macro is no variable of its name, which has been moved into it.
#[ckpt::instrument]
pub fn names_a_field() {
    let what = String::from("big");
    let named = Named { what };
    let mut sum = 0;
    for i in 0..3u64 {
        ckpt::checkpoint!();
        if matches!(named.what.as_str(), "big" | "small") {
            sum += i;
        }
        println!("{sum}");
    }
}
