//! Values of every type that can be saved, alive over a site.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::num::{NonZeroU32, Wrapping};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

#[ckpt::instrument]
pub fn numbers() {
    let mut small = (1u8, -2i8, 3u16, -4i16, 5u32, -6i32);
    let mut large = (
        u64::MAX,
        i64::MIN,
        u128::MAX - 1,
        i128::MIN,
        usize::MAX,
        isize::MIN,
    );
    let mut real = (
        f32::from_bits(0x7fc0_1234),
        -0.0f64,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE / 4.0,
    );
    let flags = (true, false, 'ß', '\0', ());
    for i in 0..2 {
        small.0 += i;
        large.0 -= i as u64;
        real.1 -= 0.0;
        ckpt::checkpoint!();
        println!("{small:?} {large:?} {flags:?}");
        println!(
            "{:08x} {:016x} {} {:e}",
            real.0.to_bits(),
            real.1.to_bits(),
            real.2,
            real.3
        );
    }
    println!("=");
}

#[ckpt::instrument]
pub fn texts_and_paths() {
    let empty = String::new();
    let mut text = String::from("Grüße\0\n\u{10FFFF}");
    let path = PathBuf::from("/tmp/some path");
    let list = vec![String::from("a"), String::new(), String::from("ccc")];
    let boxed: Box<str> = "boxed".into();
    let letters = vec!['x', '€'];
    for i in 0..2 {
        text.push_str(&i.to_string());
        ckpt::checkpoint!();
        println!("{empty:?} {text:?} {path:?} {list:?} {boxed:?} {letters:?}");
    }
    println!("=");
}

#[ckpt::instrument]
pub fn collections() {
    let mut vector = vec![vec![1u32], vec![], vec![2, 3]];
    let mut deque: VecDeque<(u8, String)> = VecDeque::new();
    let mut map: BTreeMap<String, Vec<Option<i64>>> = BTreeMap::new();
    let mut set = BTreeSet::new();
    let mut table: HashMap<(u8, char), f64> = HashMap::new();
    let mut seen = HashSet::new();
    for i in 0..3u8 {
        vector.push(vec![i as u32; i as usize]);
        deque.push_front((i, format!("d{i}")));
        map.entry(format!("k{}", i % 2))
            .or_default()
            .push((i > 0).then_some(-(i as i64)));
        set.insert(i * 3 % 4);
        table.insert((i, 'k'), i as f64 / 3.0);
        seen.insert(i / 2);
        ckpt::checkpoint!();
        let mut ordered: Vec<_> = table.iter().map(|(k, v)| (*k, v.to_bits())).collect();
        ordered.sort();
        println!("{vector:?} {deque:?} {map:?} {set:?} {ordered:?} {}", seen.len());
    }
    println!("=");
}

#[ckpt::instrument]
pub fn options_and_results() {
    let mut maybe: Option<Option<u32>> = None;
    let mut outcome: Result<u64, String> = Ok(1);
    let mut list: Vec<Result<Option<f32>, ()>> = vec![];
    for i in 0..4u32 {
        maybe = match i {
            0 => None,
            1 => Some(None),
            n => Some(Some(n)),
        };
        outcome = if i % 2 == 0 {
            Err(format!("e{i}"))
        } else {
            Ok(i as u64)
        };
        list.push(if i == 2 {
            Err(())
        } else {
            Ok((i > 0).then_some(i as f32))
        });
        ckpt::checkpoint!();
        println!("{maybe:?} {outcome:?} {list:?}");
    }
    println!("= {maybe:?} {outcome:?}");
}

#[ckpt::instrument]
pub fn wrappers() {
    let mut wrapped = Wrapping(250u8);
    let nonzero = NonZeroU32::new(7);
    let span = Duration::new(3, 5);
    let cell = Cell::new(1u64);
    let shared = RefCell::new(vec![1u8]);
    let lock = Mutex::new(String::from("m"));
    let table = RwLock::new((1u8, 2u8));
    let counter = AtomicU64::new(5);
    let boxed = Box::new([1.5f64; 3]);
    let range = (1..4u8, 2..=9i64);
    for i in 0..3 {
        wrapped += Wrapping(i + 2);
        cell.set(cell.get() * 2 + i as u64);
        shared.borrow_mut().push(i);
        lock.lock().unwrap().push('+');
        table.write().unwrap().0 += 1;
        counter.fetch_add(3, Ordering::Relaxed);
        ckpt::checkpoint!();
        println!(
            "{wrapped} {nonzero:?} {span:?} {} {:?}",
            cell.get(),
            shared.borrow()
        );
        println!(
            "{} {:?} {}",
            lock.lock().unwrap(),
            table.read().unwrap(),
            counter.load(Ordering::Relaxed)
        );
        println!("{boxed:?} {range:?}");
    }
    println!("=");
}

#[ckpt::instrument]
pub fn shared_pointers() {
    let shared = Rc::new(RefCell::new(vec![1u64]));
    let also = Rc::clone(&shared);
    let many = vec![Rc::clone(&shared), Rc::new(RefCell::new(vec![9]))];
    let name: Arc<str> = Arc::from("arc");
    for i in 0..3 {
        also.borrow_mut().push(i);
        ckpt::checkpoint!();
        many[0].borrow_mut().push(i * 10);
        many[1].borrow_mut().push(i * 100);
        println!(
            "{:?} {:?} {} {}",
            shared.borrow(),
            many[1].borrow(),
            Rc::strong_count(&shared),
            name
        );
    }
    println!("= {:?}", also.borrow());
}

#[derive(Debug, Clone, PartialEq, Default, ckpt::Checkpoint)]
struct Particle {
    position: [f64; 3],
    id: u64,
    tag: Option<String>,
}

#[allow(dead_code)]
#[derive(Debug, Clone, ckpt::Checkpoint)]
enum Cellular {
    Empty,
    Full(Particle),
    Many { all: Vec<Particle>, label: char },
}

#[allow(dead_code)]
#[derive(Debug, Clone, ckpt::Checkpoint)]
struct World<T, const N: usize> {
    cells: Vec<Cellular>,
    grid: [[T; N]; 2],
    unit: (),
    tuple: (T, Box<Option<T>>),
}

#[ckpt::instrument]
pub fn derived_types() {
    let mut world: World<i32, 2> = World {
        cells: vec![Cellular::Empty],
        grid: [[1, 2], [3, 4]],
        unit: (),
        tuple: (5, Box::new(None)),
    };
    for i in 0..3u64 {
        let particle = Particle {
            position: [i as f64; 3],
            id: i,
            tag: (i > 0).then(|| format!("t{i}")),
        };
        world.cells.push(Cellular::Full(particle.clone()));
        world.grid[1][0] += i as i32;
        ckpt::checkpoint!();
        let label = (b'a' + i as u8) as char;
        world.cells.push(Cellular::Many {
            all: vec![particle; i as usize],
            label,
        });
        world.tuple.1 = Box::new(Some(i as i32));
        println!("{world:?}");
    }
    println!("= {}", world.cells.len());
}

#[derive(ckpt::Checkpoint)]
struct Cached {
    value: u64,
    #[ckpt(skip, default)]
    cache: Vec<u64>,
    #[ckpt(rename = "seed_of_the_run")]
    seed: u64,
}

#[ckpt::instrument]
pub fn derived_with_field_attributes() {
    let mut cached = Cached {
        value: 1,
        cache: vec![],
        seed: 9,
    };
    for i in 0..3 {
        cached.cache.clear();
        cached.cache.push(cached.value);
        cached.value += cached.cache[0] * cached.seed + i;
        ckpt::checkpoint!();
        println!("{} {}", cached.value, cached.seed);
    }
    println!("= {}", cached.value);
}

#[ckpt::instrument]
pub fn arrays_and_boxed_slices() {
    let mut matrix = [[0.0f64; 3]; 2];
    let boxed: Box<[u16]> = vec![1, 2, 3].into();
    let mut names = [String::from("a"), String::from("b")];
    let none: [u8; 0] = [];
    for i in 0..2 {
        matrix[i][i] = 1.0 / (i as f64 + 3.0);
        names.swap(0, 1);
        ckpt::checkpoint!();
        println!("{matrix:?} {boxed:?} {names:?} {none:?}");
    }
    println!("=");
}

#[ckpt::instrument]
pub fn empty_and_nested_empty() {
    let mut rows: Vec<Vec<Vec<u64>>> = vec![vec![], vec![vec![]]];
    let unit: Vec<()> = vec![(); 3];
    let nothing: Option<Vec<String>> = None;
    let mut map: BTreeMap<u8, BTreeMap<u8, ()>> = BTreeMap::new();
    for i in 0..2 {
        ckpt::checkpoint!();
        rows[1][0].push(i);
        map.entry(i as u8).or_default();
        println!("{rows:?} {} {nothing:?} {map:?}", unit.len());
    }
    println!("=");
}

#[derive(ckpt::Checkpoint, Debug)]
struct Search {
    key: u32,
    below: [Option<Box<Search>>; 2],
}

impl Search {
    fn insert(&mut self, key: u32) {
        match &mut self.below[usize::from(key > self.key)] {
            Some(below) => below.insert(key),
            empty => {
                *empty = Some(Box::new(Search {
                    key,
                    below: [None, None],
                }))
            }
        }
    }
}

#[derive(ckpt::Checkpoint, Debug, PartialEq)]
enum Term {
    Number(f64),
    Sum(Box<Term>, Box<Term>),
    All { name: String, terms: Vec<Term> },
}

#[derive(ckpt::Checkpoint, Debug)]
struct Link {
    seen: Rc<Cell<u32>>,
    next: Option<Box<Link>>,
}

#[ckpt::instrument]
pub fn trees_and_lists() {
    let seen = Rc::new(Cell::new(0));
    let mut tree = Search {
        key: 50,
        below: [None, None],
    };
    let mut list: Option<Box<Link>> = None;
    let mut terms = Vec::new();
    for i in 0..6u32 {
        tree.insert(i * 37 % 101);
        seen.set(seen.get() + i);
        list = Some(Box::new(Link {
            seen: seen.clone(),
            next: list,
        }));
        let number = Box::new(Term::Number(f64::from(i) / 3.0));
        let terms_so_far = std::mem::take(&mut terms);
        terms.push(Term::Sum(
            number,
            Box::new(Term::All {
                name: i.to_string(),
                terms: terms_so_far,
            }),
        ));
        ckpt::checkpoint!();
        println!("{tree:?}");
        let newest = list.as_ref().map_or(0, |link| link.seen.get());
        println!("{terms:?} {newest} {}", Rc::strong_count(&seen));
    }
    let count = std::iter::successors(list.as_deref(), |link| link.next.as_deref()).count();
    println!("= {count}");
}

#[derive(ckpt::Checkpoint, Debug, PartialEq)]
struct Branch {
    weight: u32,
    below: Vec<Branch>,
    beside: Option<Box<Branch>>,
}

fn branch(weight: u32) -> Branch {
    Branch {
        weight,
        below: (0..weight / 2).map(branch).collect(),
        beside: (weight > 1).then(|| Box::new(branch(weight - 2))),
    }
}

#[ckpt::instrument]
fn grow(below: &mut Vec<Branch>, by: u32) {
    for k in 0..2 {
        below.push(branch(by + k));
        ckpt::checkpoint!();
    }
}

#[ckpt::instrument]
fn weigh(one: &mut Branch) {
    one.weight += 1;
    ckpt::checkpoint!();
    one.below.push(branch(1));
}

#[ckpt::instrument(calls(grow, weigh))]
pub fn parts_of_trees() {
    let mut forest: Vec<Branch> = (0..4).map(branch).collect();
    let mut apart: Vec<Box<Branch>> = (0..3).map(|k| Box::new(branch(k))).collect();
    for i in 0..3usize {
        grow(&mut forest[i].below, i as u32);
        weigh(&mut forest[i + 1]);
        weigh(&mut *apart[i]);
        println!("{forest:?} {apart:?}");
    }
    println!("=");
}
