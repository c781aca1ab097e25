//! One of each kind of value, for the tests of the Python package.
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

#[derive(Debug, Clone)]
enum Shape {
    Point,
    Circle { radius: f64 },
    Label(String, u32),
}

#[derive(Debug, Clone)]
struct Cell {
    at: [f64; 3],
    name: String,
    mass: Option<f64>,
    shape: Shape,
    trail: Vec<u16>,
}

#[derive(Debug, Clone)]
struct Holder {
    values: Vec<f64>,
}

#[derive(Debug, Clone)]
struct Tree {
    key: u32,
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
}

static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(3);

fn main() {
    let cells: Vec<Cell> = (0..3)
        .map(|k| Cell {
            at: [k as f64, 0.5, -1.0],
            name: format!("cell {k} é"),
            mass: (k != 1).then_some(k as f64 * 2.0),
            shape: match k {
                0 => Shape::Point,
                1 => Shape::Circle { radius: 2.5 },
                _ => Shape::Label("here".to_owned(), 7),
            },
            trail: (0..k).collect(),
        })
        .collect();
    let one = cells[2].clone();
    let holder = Holder {
        values: vec![1.0, 2.0],
    };
    let nested = vec![vec![1_i32, 2], vec![], vec![3]];
    let matrix = [[1.0_f32; 4]; 3];
    let names: BTreeMap<String, Vec<u8>> = BTreeMap::from([("a".into(), vec![1, 2]), ("b".into(), vec![])]);
    let squares: HashMap<u64, f64> = (0..4).map(|k| (k, (k * k) as f64)).collect();
    let seen: HashSet<i64> = HashSet::from([-3, 5]);
    let maybe: Option<String> = Some("text".to_owned());
    let nothing: Option<u8> = None;
    let deep: [Option<Option<u8>>; 3] = [Some(Some(43)), Some(None), None];
    let deepest: Option<Option<u8>> = Some(None);
    let empty: Vec<f64> = Vec::new();
    let nobody: Vec<Cell> = Vec::new();
    let wide = u128::MAX - 5;
    let wides = vec![-7_i128, 1 << 100];
    let letters = vec!['a', 'é'];
    let pair = (1_u8, -2_i16, true);
    let pairs = vec![(1_u32, 0.5_f64), (2, 0.25)];
    let shared = Rc::new(vec![1_u32, 2, 3]);
    let twice = (shared.clone(), shared.clone());
    let tree = Tree {
        key: 2,
        left: Some(Box::new(Tree {
            key: 1,
            left: None,
            right: None,
        })),
        right: None,
    };
    let flags = vec![true, false];
    let shapes = vec![Shape::Point, Shape::Point];
    let options = vec![Some(1.5), None];
    // A part that changes, one that is zeros, and one that stays as it is.
    let same = (0..100_000).map(|k| f64::from(k).sqrt());
    let mut big: Vec<f64> = std::iter::repeat_n(0.0, 100_000).chain(same).collect();
    let mut total = 0.0;
    for step in 0..4_u32 {
        for k in 0..50_000 {
            big[k] = f64::from(step) + k as f64;
        }
        COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        total += big.iter().sum::<f64>();
        println!("step {step} {total}");
    }
    println!(
        "{cells:?} {one:?} {holder:?} {nested:?} {matrix:?} {names:?} {} {} {maybe:?} {nothing:?}",
        squares.len(),
        seen.len()
    );
    println!("{deep:?} {deepest:?}");
    println!(
        "{empty:?} {nobody:?} {wide} {wides:?} {letters:?} {pair:?} {pairs:?} {twice:?} {tree:?} {flags:?} {shapes:?} {options:?}"
    );
    println!(
        "{} {}",
        tree.key,
        one.at[0]
            + cells[0].trail.len() as f64
            + f64::from(tree.right.is_some())
            + tree.left.map_or(0.0, |t| f64::from(t.key))
            + COUNT.load(std::sync::atomic::Ordering::Relaxed) as f64
    );
}
