//! A site under a recursive call.

use super::digest;

#[ckpt::instrument(calls(factorial), recursive)]
fn factorial(n: u64) -> u64 {
    println!("down {n}");
    if n < 2 {
        ckpt::checkpoint!();
        return 1;
    }
    let below = factorial(n - 1);
    ckpt::checkpoint!();
    println!("up {n} {below}");
    n * below
}

#[ckpt::instrument(calls(factorial))]
pub fn linear() {
    let result = factorial(6);
    println!("= {result}");
}

#[ckpt::instrument(calls(fibonacci), recursive)]
fn fibonacci(n: u64, calls: &mut u64) -> u64 {
    *calls += 1;
    if n < 2 {
        ckpt::checkpoint!();
        return n;
    }
    let left = fibonacci(n - 1, calls);
    let right = fibonacci(n - 2, calls);
    println!("{n} {left} {right} {calls}");
    left + right
}

#[ckpt::instrument(calls(fibonacci))]
pub fn binary() {
    let mut calls = 0;
    let result = fibonacci(5, &mut calls);
    println!("= {result} {calls}");
}

#[ckpt::instrument(calls(sort_range), recursive)]
fn sort_range(items: &mut Vec<u64>, low: usize, high: usize) {
    if high - low < 2 {
        return;
    }
    let pivot = items[high - 1];
    let mut store = low;
    for i in low..high - 1 {
        if items[i] < pivot {
            items.swap(i, store);
            store += 1;
        }
    }
    items.swap(store, high - 1);
    ckpt::checkpoint!();
    println!("{low}..{high} {items:?}");
    sort_range(items, low, store);
    sort_range(items, store + 1, high);
}

#[ckpt::instrument(calls(sort_range))]
pub fn quicksort_by_index() {
    let mut items = vec![5u64, 2, 9, 1, 7, 3, 8];
    let count = items.len();
    sort_range(&mut items, 0, count);
    println!("= {items:?}");
}

#[ckpt::instrument(calls(sort_slice), recursive)]
fn sort_slice(items: &mut [u64]) {
    if items.len() < 2 {
        return;
    }
    let middle = items.len() / 2;
    let (left, right) = items.split_at_mut(middle);
    sort_slice(left);
    sort_slice(right);
    ckpt::checkpoint!();
    let mut merged = Vec::new();
    let (mut a, mut b) = (0, 0);
    while a < left.len() || b < right.len() {
        if b == right.len() || (a < left.len() && left[a] <= right[b]) {
            merged.push(left[a]);
            a += 1;
        } else {
            merged.push(right[b]);
            b += 1;
        }
    }
    items.copy_from_slice(&merged);
    println!("{items:?}");
}

#[ckpt::instrument(calls(sort_slice))]
pub fn mergesort_by_split_slices() {
    let mut items = vec![6u64, 3, 8, 1, 9, 2];
    sort_slice(&mut items);
    println!("= {items:?}");
}

#[ckpt::instrument(calls(place), recursive)]
fn place(row: usize, columns: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    let size = 5;
    if row == size {
        found.push(columns.clone());
        ckpt::checkpoint!();
        println!("{columns:?}");
        return;
    }
    for column in 0..size {
        let clashes = columns
            .iter()
            .enumerate()
            .any(|(r, &c)| c == column || row - r == c.abs_diff(column));
        if clashes {
            continue;
        }
        columns.push(column);
        place(row + 1, columns, found);
        columns.pop();
    }
}

#[ckpt::instrument(calls(place))]
pub fn backtracking() {
    let mut found = Vec::new();
    place(0, &mut Vec::new(), &mut found);
    println!("= {}", found.len());
}

#[ckpt::instrument(calls(odd))]
fn even(n: u32, path: &mut String) -> bool {
    path.push('e');
    ckpt::checkpoint!();
    println!("{path}");
    if n == 0 { true } else { odd(n - 1, path) }
}

#[ckpt::instrument(calls(even))]
fn odd(n: u32, path: &mut String) -> bool {
    path.push('o');
    if n == 0 { false } else { even(n - 1, path) }
}

#[ckpt::instrument(calls(even, odd))]
pub fn mutual() {
    let mut path = String::new();
    let a = even(5, &mut path);
    let b = odd(3, &mut path);
    println!("= {a} {b} {path}");
}

#[derive(Debug, Default, ckpt::Checkpoint)]
struct Node {
    value: u64,
    children: Vec<Node>,
}

fn tree(value: u64, depth: u32) -> Node {
    let children = if depth == 0 {
        vec![]
    } else {
        (1..3).map(|i| tree(value * 2 + i, depth - 1)).collect()
    };
    Node { value, children }
}

#[ckpt::instrument(calls(walk), recursive)]
fn walk(node: &Node, order: &mut Vec<u64>) -> u64 {
    order.push(node.value);
    let mut sum = node.value;
    for child in &node.children {
        sum += walk(child, order);
    }
    ckpt::checkpoint!();
    println!("{} {sum} {}", node.value, digest(order.iter()));
    sum
}

#[ckpt::instrument(calls(walk))]
pub fn tree_by_reference() {
    let root = tree(1, 2);
    let mut order = Vec::new();
    let sum = walk(&root, &mut order);
    println!("= {sum} {order:?}");
}

impl Node {
    #[ckpt::instrument(calls(grow))]
    fn grow(&mut self, depth: u32) {
        self.value += depth as u64;
        ckpt::checkpoint!();
        for i in 0..self.children.len() {
            self.children[i].grow(depth + 1);
        }
        println!("{depth} {}", self.value);
    }
}

#[ckpt::instrument(calls(grow))]
pub fn tree_by_mutable_reference() {
    let mut root = tree(3, 2);
    root.grow(1);
    println!("= {root:?}");
}

#[ckpt::instrument(calls(hanoi), recursive)]
fn hanoi(count: u32, from: usize, to: usize, pegs: &mut [Vec<u32>; 3]) {
    if count == 0 {
        return;
    }
    let over = 3 - from - to;
    hanoi(count - 1, from, over, pegs);
    if let Some(disc) = pegs[from].pop() {
        pegs[to].push(disc);
        ckpt::checkpoint!();
        println!("{disc}: {pegs:?}");
    }
    hanoi(count - 1, over, to, pegs);
}

#[ckpt::instrument(calls(hanoi))]
pub fn towers() {
    let mut pegs = [vec![3, 2, 1], vec![], vec![]];
    hanoi(3, 0, 2, &mut pegs);
    println!("= {pegs:?}");
}
