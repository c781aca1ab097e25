//! Sites below a call, in every place a call can stand.

use super::draw;

#[ckpt::instrument]
fn leaf(label: &str, n: u64) -> u64 {
    let mut value = n;
    for turn in 0..2 {
        value = value * 2 + turn;
        println!("{label} {turn} {value}");
        ckpt::checkpoint!();
    }
    value + 1
}

#[ckpt::instrument(calls(leaf))]
pub fn statement() {
    let mut n = 1;
    for i in 0..3 {
        n += i;
        leaf("s", n);
        println!("{i} {n}");
    }
    println!("= {n}");
}

#[ckpt::instrument(calls(leaf))]
pub fn in_let() {
    let a = leaf("a", 3);
    let b = leaf("b", a % 5);
    let mut c = a + b;
    c = leaf("c", c % 7);
    c += leaf("d", 2);
    println!("= {a} {b} {c}");
}

#[ckpt::instrument(calls(tail_of))]
pub fn as_tail() {
    let n = tail_of(4);
    println!("= {n}");
}

#[ckpt::instrument(calls(leaf))]
fn tail_of(n: u64) -> u64 {
    let half = n / 2;
    println!("half {half}");
    leaf("t", half)
}

#[ckpt::instrument(calls(leaf))]
pub fn as_argument() {
    let a = leaf("outer", leaf("inner", 1));
    println!("{a}");
    let b = u64::max(leaf("x", 2), 100);
    println!("= {a} {b}");
}

#[ckpt::instrument(calls(leaf))]
pub fn as_two_arguments() {
    let sum = add(leaf("left", 1), leaf("right", 2));
    println!("{sum}");
    let both = leaf("p", 3) + leaf("q", 4);
    println!("= {sum} {both}");
}

fn add(a: u64, b: u64) -> u64 {
    a * 3 + b
}

#[ckpt::instrument(calls(leaf))]
pub fn in_a_macro() {
    println!("{}", leaf("m", 5));
    let list = vec![leaf("v", 1), 7, leaf("w", 2)];
    assert_eq!(leaf("z", 0), 2);
    println!("= {list:?}");
}

#[ckpt::instrument(calls(leaf))]
pub fn in_struct_and_tuple_literals() {
    let pair = (leaf("a", 1), 5u64, leaf("b", 2));
    let list = [leaf("c", 3), 9];
    let some = Some(leaf("d", 4));
    println!("= {pair:?} {list:?} {some:?}");
}

#[ckpt::instrument(calls(middle))]
pub fn three_frames_deep() {
    let mut total = 0;
    for i in 0..2 {
        let before = total;
        total += middle(i, "m");
        println!("{i} {before} {total}");
    }
    println!("= {total}");
}

#[ckpt::instrument(calls(bottom))]
fn middle(n: u64, name: &str) -> u64 {
    let mut list = vec![n];
    while list.len() < 3 {
        let length = list.len() as u64;
        let value = bottom(length + n);
        list.push(value);
        println!("{name} {list:?}");
    }
    list.iter().sum()
}

#[ckpt::instrument(calls(leaf))]
fn bottom(n: u64) -> u64 {
    ckpt::checkpoint!();
    let value = leaf("leaf", n);
    ckpt::checkpoint!();
    println!("bottom {n} {value}");
    value % 10
}

#[ckpt::instrument(calls(push_two, fill))]
pub fn mutable_argument() {
    let mut list = vec![1u64];
    push_two(&mut list, 5);
    println!("{list:?}");
    for i in 0..2 {
        push_two(&mut list, i);
        println!("{i} {list:?}");
    }
    let mut grid = [0u64; 6];
    fill(&mut grid);
    fill(&mut list);
    println!("= {list:?} {grid:?}");
}

#[ckpt::instrument]
fn push_two(list: &mut Vec<u64>, n: u64) {
    list.push(n);
    ckpt::checkpoint!();
    list.push(n + list.len() as u64);
}

#[ckpt::instrument]
fn fill(slice: &mut [u64]) {
    for i in 0..slice.len() {
        slice[i] = slice[i] * 3 + i as u64;
        if i % 2 == 0 {
            ckpt::checkpoint!();
        }
        println!("{slice:?}");
    }
}

#[ckpt::instrument(calls(outer_push))]
pub fn mutable_argument_passed_on() {
    let mut list = vec![2u64];
    let mut count = 0;
    outer_push(&mut list, &mut count);
    outer_push(&mut list, &mut count);
    println!("= {list:?} {count}");
}

#[ckpt::instrument(calls(push_two))]
fn outer_push(list: &mut Vec<u64>, count: &mut u32) {
    *count += 1;
    push_two(list, 10);
    *count += 10;
    println!("{list:?} {count}");
    push_two(&mut *list, 20);
    *count *= 2;
}

#[ckpt::instrument(calls(consume))]
pub fn argument_by_value() {
    let words = vec![String::from("a"), String::from("b")];
    let joined = consume(words, String::from("-"));
    println!("{joined}");
    let again = consume(vec![joined.clone()], joined);
    println!("= {again}");
}

#[ckpt::instrument]
fn consume(words: Vec<String>, mut glue: String) -> String {
    let mut text = String::new();
    for i in 0..words.len() {
        text = text + &glue + &words[i];
        glue.push('+');
        ckpt::checkpoint!();
        println!("{text} {glue}");
    }
    text
}

#[ckpt::instrument(calls(sum_of))]
pub fn shared_references() {
    let list = vec![3u64, 1, 2];
    let scale = 10;
    let a = sum_of(&list, &scale);
    let b = sum_of(&list[1..], &7);
    println!("{a} {b} {list:?}");
    let c = sum_of(&[1, 2, 3], &(scale + 1));
    println!("= {a} {b} {c}");
}

#[ckpt::instrument]
fn sum_of(list: &[u64], scale: &u64) -> u64 {
    let mut sum = 0;
    for item in list {
        sum += item * scale;
        ckpt::checkpoint!();
        println!("{item} {sum}");
    }
    sum
}

#[ckpt::instrument(calls(fill))]
pub fn slices_of_a_vector() {
    let mut list = vec![1u64, 2, 3, 4, 5];
    fill(&mut list[..2]);
    println!("{list:?}");
    let middle = 3;
    fill(&mut list[middle..]);
    println!("= {list:?}");
}

#[ckpt::instrument(calls(advance_seed))]
pub fn field_of_a_struct() {
    let mut run = Run {
        seed: 1,
        log: vec![],
        name: String::from("r"),
    };
    for _ in 0..2 {
        advance_seed(&mut run.seed, &mut run.log);
        println!("{} {:?} {}", run.seed, run.log, run.name);
        run.name.push('+');
    }
    println!("= {:?}", run);
}

#[derive(Debug, ckpt::Checkpoint)]
struct Run {
    seed: u64,
    log: Vec<u64>,
    name: String,
}

#[ckpt::instrument]
fn advance_seed(seed: &mut u64, log: &mut Vec<u64>) {
    for _ in 0..2 {
        let drawn = draw(seed) % 50;
        ckpt::checkpoint!();
        log.push(drawn);
    }
}

#[ckpt::instrument(calls(one, two))]
pub fn one_frame_two_callees() {
    let mut x = 1u64;
    for i in 0..4 {
        if i % 2 == 0 {
            one(&mut x)
        } else {
            two(&mut x, i)
        }
        println!("{i} {x}");
    }
    println!("= {x}");
}

#[ckpt::instrument]
fn one(x: &mut u64) {
    ckpt::checkpoint!();
    *x += 3;
}

#[ckpt::instrument]
fn two(x: &mut u64, i: u64) {
    *x *= i;
    ckpt::checkpoint!();
}

#[ckpt::instrument(calls(inner::work, inner::Helper::assist))]
pub fn called_by_path() {
    let a = inner::work(2);
    let b = self::inner::work(a);
    let c = inner::Helper::assist(b);
    println!("= {a} {b} {c}");
}

mod inner {
    #[ckpt::instrument]
    pub fn work(n: u64) -> u64 {
        ckpt::checkpoint!();
        println!("work {n}");
        n * n + 1
    }
    pub struct Helper;
    impl Helper {
        #[ckpt::instrument]
        pub fn assist(n: u64) -> u64 {
            ckpt::checkpoint!();
            println!("assist {n}");
            n + 5
        }
    }
}

#[ckpt::instrument(calls(takes_text))]
pub fn temporaries_as_arguments() {
    let base = String::from("base");
    let mut count = 0;
    for i in 0..2 {
        count += takes_text(&format!("{base}{i}"), &[i, i + 1], Some(&base));
        println!("{count}");
    }
    println!("= {count}");
}

#[ckpt::instrument]
fn takes_text(text: &str, numbers: &[usize], extra: Option<&String>) -> usize {
    let mut size = text.len();
    for number in numbers {
        ckpt::checkpoint!();
        size += number * 10 + extra.map_or(0, |e| e.len());
        println!("{text} {size}");
    }
    size
}

/// The site is never reached through the call that is running when the checkpoint is taken elsewhere.
#[ckpt::instrument(calls(maybe))]
pub fn callee_without_a_visit() {
    let mut sum = 0;
    for i in 0..4 {
        sum += maybe(i);
        ckpt::checkpoint!();
        println!("{i} {sum}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
fn maybe(i: u64) -> u64 {
    if i % 2 == 1 {
        ckpt::checkpoint!();
        println!("inside {i}");
    }
    i * 3
}

#[ckpt::instrument(calls(counted))]
pub fn copies_of_what_references_point_to() {
    let mut n = 1;
    counted(&mut n);
    println!("= {n}");
}

#[ckpt::instrument(calls(counts))]
fn counted(n: &mut u64) {
    for _ in 0..2 {
        let more = counts(*n);
        *n += more;
        println!("{n}");
    }
}

#[ckpt::instrument]
fn counts(mut n: u64) -> u64 {
    for _ in 0..2 {
        n += 10;
        ckpt::checkpoint!();
    }
    n
}

#[derive(Debug, ckpt::Checkpoint)]
struct Body {
    size: u64,
    list: Vec<u64>,
}

impl Body {
    #[ckpt::instrument]
    fn advance(&mut self, by: u64) -> u64 {
        for k in 0..2 {
            self.size = self.size * 3 + k + by;
            ckpt::checkpoint!();
            println!("{}", self.size);
        }
        self.size
    }
}

#[ckpt::instrument]
fn grow_list(list: &mut Vec<u64>, by: u64) {
    for k in 0..2 {
        list.push(k + by);
        ckpt::checkpoint!();
        println!("{list:?}");
    }
}

#[derive(Debug, ckpt::Checkpoint)]
struct World {
    bodies: Vec<Body>,
    time: u64,
}

impl World {
    #[ckpt::instrument(calls(advance, grow_list))]
    fn turn(&mut self) {
        for body in &mut self.bodies {
            let size = body.advance(self.time);
            self.time += size % 3;
            body.size += 1;
        }
        for (i, body) in self.bodies.iter_mut().rev().enumerate().skip(1) {
            grow_list(&mut body.list, i as u64);
        }
    }
}

#[ckpt::instrument(calls(advance, grow_list))]
fn each_of(all: &mut [Body], with: &[u64]) {
    for (body, with) in all.iter_mut().zip(with) {
        body.advance(*with);
        grow_list(&mut body.list, body.size);
        println!("{body:?}");
    }
    for body in all {
        if body.advance(1) % 2 == 0 {
            continue;
        }
        grow_list(&mut body.list, 7);
    }
}

#[ckpt::instrument(calls(advance, grow_list, turn, each_of))]
pub fn on_each_element() {
    let body = |size| Body {
        size,
        list: vec![size],
    };
    let mut world = World {
        bodies: vec![body(1), body(2)],
        time: 0,
    };
    world.turn();
    println!("{world:?}");
    each_of(&mut world.bodies, &[4, 5]);
    let last = 1;
    let body = &mut world.bodies[last];
    body.advance(3);
    body.size += 1;
    grow_list(&mut body.list, 2);
    println!("{world:?}");
    let list = &mut world.bodies[0].list;
    grow_list(list, 1);
    list.push(3);
    println!("{world:?}");
}

#[derive(Debug, ckpt::Checkpoint)]
struct Ledger {
    rows: Vec<u64>,
    sum: u64,
    names: Vec<String>,
}

#[ckpt::instrument]
fn add_slowly(sum: &mut u64, row: u64) -> u64 {
    for i in 0..2 {
        *sum += row * (i + 1);
        ckpt::checkpoint!();
        println!("{sum}");
    }
    *sum
}

#[ckpt::instrument(calls(add_slowly))]
pub fn part_lent_while_another_is_gone_over() {
    let mut ledger = Ledger {
        rows: vec![3, 5],
        sum: 1,
        names: vec!["a".into(), "b".into()],
    };
    for row in &ledger.rows {
        let whole = add_slowly(&mut ledger.sum, *row);
        println!("{row} {whole} {:?}", ledger.names);
    }
    let names = &ledger.names;
    let first = &names[0];
    for (i, row) in (0u64..).zip(ledger.rows.iter()) {
        add_slowly(&mut ledger.sum, *row + i);
        ckpt::checkpoint!();
        println!("{row} {first} {names:?}");
    }
    println!("= {ledger:?}");
}

mod solver {
    #[ckpt::instrument]
    pub fn advance(at: &mut u64, by: u64) -> u64 {
        for k in 0..2 {
            ckpt::checkpoint!();
            *at += by * k + 1;
            println!("{at}");
        }
        *at * 2
    }

    #[ckpt::instrument]
    pub fn retreat(at: &mut u64, by: u64) -> u64 {
        for k in 0..3 {
            *at += 10;
            ckpt::checkpoint!();
            println!("{at} {by} {k}");
        }
        *at
    }
}

use solver::advance as onward;

#[ckpt::instrument(calls(onward), named(onward = advance))]
pub fn called_by_another_name() {
    let mut at = 3;
    for k in 0..3 {
        let got = onward(&mut at, k);
        println!("{k} {got}");
    }
    println!("= {at}");
}

#[ckpt::instrument(calls(go), named(go = advance, go = retreat))]
pub fn called_through_a_variable() {
    let mut at = 3;
    for k in 0..4 {
        #[ckpt(reexecute)]
        let go = match k % 3 {
            1 => solver::retreat,
            _ => solver::advance,
        };
        let got = go(&mut at, k);
        println!("{k} {got}");
    }
    println!("= {at}");
}
