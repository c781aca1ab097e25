//! Who owns what is shared: an owner that is in scope at a site counts after a restart too, whether it is used then or not.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::{self, Arc, Mutex};

#[derive(Debug, Clone, PartialEq, ckpt::Checkpoint)]
struct Cell {
    heat: f64,
    label: Rc<String>,
}

#[derive(Debug, Clone, ckpt::Checkpoint)]
struct Field {
    cells: Vec<Cell>,
    name: Arc<str>,
}

#[ckpt::instrument]
pub fn clones_that_are_done_with() {
    let grid = Rc::new(vec![1.0, 2.0]);
    let other = Rc::clone(&grid);
    println!("{other:?}");
    let third = grid.clone();
    println!("{}", third.len());
    for k in 0..3 {
        ckpt::checkpoint!();
        println!("{k} {} {}", Rc::strong_count(&grid), grid.len());
    }
}

#[ckpt::instrument]
pub fn guards_of_a_pointer() {
    let mut grid = Arc::new(vec![1u64]);
    {
        let _keep = grid.clone();
        for k in 0..2 {
            ckpt::checkpoint!();
            println!("{k} {:?}", Arc::get_mut(&mut grid));
        }
    }
    ckpt::checkpoint!();
    println!("{:?}", Arc::get_mut(&mut grid));
    println!("{}", Arc::strong_count(&grid));
}

#[ckpt::instrument]
pub fn unwrapped_when_it_is_alone() {
    let list = Rc::new(vec![3u64, 4]);
    let copy = list.clone();
    println!("{copy:?}");
    ckpt::checkpoint!();
    match Rc::try_unwrap(list) {
        Ok(alone) => println!("alone {alone:?}"),
        Err(shared) => println!("shared {} {shared:?}", Rc::strong_count(&shared)),
    }
}

#[ckpt::instrument]
pub fn changed_after_a_copy() {
    let mut list = Rc::new(vec![3u64, 4]);
    let before = list.clone();
    let place = Rc::as_ptr(&before);
    println!("{before:?} {}", Rc::ptr_eq(&before, &list) && !place.is_null());
    for k in 0..3 {
        ckpt::checkpoint!();
        let shared = Rc::get_mut(&mut list).is_none();
        Rc::make_mut(&mut list).push(k);
        println!("{k} {shared} {list:?} {}", Rc::strong_count(&list));
    }
}

#[ckpt::instrument]
pub fn pointers_in_lists_and_structs() {
    let name: Arc<str> = Arc::from("field");
    let label = Rc::new(String::from("wet"));
    let cells = vec![
        Cell {
            heat: 1.5,
            label: label.clone(),
        };
        3
    ];
    let field = Field {
        cells: cells.clone(),
        name: name.clone(),
    };
    println!("{:?} {} {}", field.cells, field.name, cells.len());
    let pair = (7, Some(Rc::clone(&label)));
    println!("{pair:?}");
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {} {}", Rc::strong_count(&label), Arc::strong_count(&name));
    }
}

fn made(label: &Rc<String>) -> Vec<Cell> {
    vec![Cell {
        heat: 0.5,
        label: Rc::clone(label),
    }]
}

#[ckpt::instrument]
pub fn made_by_a_function() {
    let label = Rc::new(String::from("dry"));
    #[ckpt(save)]
    let cells = made(&label);
    println!("{}", cells[0].heat);
    for k in 0..2 {
        #[ckpt(save)]
        let more = made(&label);
        println!("{}", more.len());
        ckpt::checkpoint!();
        println!("{k} {}", Rc::strong_count(&label));
    }
}

#[ckpt::instrument]
pub fn shadowed_owners() {
    let grid = Rc::new(5u64);
    let count = Rc::strong_count(&grid);
    println!("{count}");
    let grid = Rc::clone(&grid);
    let grid = Rc::clone(&grid);
    ckpt::checkpoint!();
    println!("{}", Rc::strong_count(&grid));
    let grid = *grid + 1;
    ckpt::checkpoint!();
    println!("{grid}");
}

fn owners(list: &Arc<Mutex<Vec<u64>>>) -> usize {
    Arc::strong_count(list)
}

#[ckpt::instrument(calls(step, by_value), owners)]
pub fn asked_in_called_functions() {
    let list = Arc::new(Mutex::new(vec![1]));
    let other = list.clone();
    other.lock().unwrap().push(2);
    for k in 0..2 {
        step(&list, k);
        println!("{}", owners(&list));
    }
    by_value(list.clone(), Arc::clone(&list));
    println!("{}", owners(&list));
    by_value(list.clone(), list);
}

#[ckpt::instrument]
fn step(list: &Arc<Mutex<Vec<u64>>>, k: u64) {
    let mine = Arc::clone(list);
    mine.lock().unwrap().push(k);
    ckpt::checkpoint!();
    println!("{k} {:?} {}", list.lock().unwrap(), Arc::strong_count(list));
}

#[ckpt::instrument]
fn by_value(list: Arc<Mutex<Vec<u64>>>, other: Arc<Mutex<Vec<u64>>>) {
    other.lock().unwrap().push(9);
    for _ in 0..2 {
        ckpt::checkpoint!();
        println!("{}", Arc::strong_count(&list));
    }
}

#[ckpt::instrument]
pub fn weak_pointers() {
    let grid = Rc::new(5u64);
    let owner = Rc::clone(&grid);
    #[ckpt(reexecute)]
    let weak = Rc::downgrade(&owner);
    println!("{}", weak.strong_count());
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {} {:?}", Rc::weak_count(&grid), Rc::strong_count(&grid));
    }
    drop(grid);
    println!("{}", weak.upgrade().is_some());
}

#[ckpt::instrument]
pub fn weak_pointer_that_is_done_with() {
    let mut grid = Rc::new(5u64);
    #[ckpt(reexecute)]
    let _weak = Rc::downgrade(&grid);
    #[ckpt(reexecute)]
    let once = Rc::downgrade(&grid);
    println!("{}", once.upgrade().is_some());
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {} {:?}", Rc::weak_count(&grid), Rc::get_mut(&mut grid));
    }
}

#[derive(ckpt::Checkpoint)]
struct Node {
    value: f64,
    parent: RefCell<Weak<Node>>,
    children: RefCell<Vec<Rc<Node>>>,
}

impl Node {
    fn new(value: f64) -> Rc<Node> {
        Rc::new(Node {
            value,
            parent: RefCell::default(),
            children: RefCell::default(),
        })
    }
    fn add(self: &Rc<Node>, child: &Rc<Node>) {
        *child.parent.borrow_mut() = Rc::downgrade(self);
        self.children.borrow_mut().push(Rc::clone(child));
    }
    fn way_up(&self) -> String {
        match self.parent.borrow().upgrade() {
            Some(parent) => format!("{} < {}", self.value, parent.way_up()),
            None => self.value.to_string(),
        }
    }
}

#[ckpt::instrument(owners)]
pub fn a_tree_that_knows_its_parents() {
    let root = Node::new(0.5);
    let mut last = Rc::clone(&root);
    for k in 0..3 {
        ckpt::checkpoint!();
        let child = Node::new(f64::from(k));
        last.add(&child);
        last.add(&Node::new(-f64::from(k)));
        last = child;
        println!("{k} {} {}", last.way_up(), Rc::strong_count(&root));
    }
    let list = root.children.borrow();
    let ways: Vec<String> = list.iter().map(|child| child.way_up()).collect();
    println!("{ways:?} {} {}", Rc::weak_count(&root), Rc::weak_count(&last));
}

#[ckpt::instrument(owners)]
pub fn observers_that_go() {
    let mut owners: Vec<Arc<Mutex<u64>>> = (0..3).map(|k| Arc::new(Mutex::new(k))).collect();
    let mut observers: Vec<sync::Weak<Mutex<u64>>> = owners.iter().map(Arc::downgrade).collect();
    for k in 0..4 {
        ckpt::checkpoint!();
        if k == 1 {
            owners.remove(0);
        }
        for observer in &observers {
            if let Some(seen) = observer.upgrade() {
                *seen.lock().unwrap() += k;
            }
        }
        if k == 2 {
            observers.retain(|observer| observer.strong_count() > 0);
        }
        println!("{k} {} {owners:?}", observers.len());
    }
}

#[ckpt::instrument]
pub fn last_owner_of_a_weak_pointer() {
    let owner = Rc::new(5u64);
    #[ckpt(reexecute)]
    let weak = Rc::downgrade(&owner);
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {:?}", weak.upgrade());
    }
}

#[ckpt::instrument]
pub fn closures_that_own_pointers() {
    let grid = Rc::new(vec![1u64, 2]);
    #[ckpt(reexecute)]
    let sum = {
        let grid = Rc::clone(&grid);
        move || grid.iter().sum::<u64>()
    };
    println!("{}", sum());
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {}", Rc::strong_count(&grid));
    }
}

#[ckpt::instrument]
pub fn given_away_and_taken_back() {
    let grid = Rc::new(1u64);
    let mut held = Some(grid.clone());
    #[ckpt(save)]
    let late;
    println!("{held:?}");
    ckpt::checkpoint!();
    println!("{}", Rc::strong_count(&grid));
    #[ckpt(save)]
    let taken = held.take();
    println!("{taken:?}");
    late = grid.clone();
    println!("{late}");
    ckpt::checkpoint!();
    println!("{}", Rc::strong_count(&grid));
    drop(taken);
    ckpt::checkpoint!();
    println!("{}", Rc::strong_count(&grid));
}

#[ckpt::instrument]
pub fn matched_and_gone_over() {
    let grid = Rc::new(vec![1u64, 2, 3]);
    match Some(grid.clone()) {
        Some(inner) => {
            println!("{inner:?}");
            ckpt::checkpoint!();
            println!("{}", Rc::strong_count(&grid));
        }
        None => println!("nothing"),
    }
    for one in vec![grid.clone(), grid.clone()] {
        println!("{one:?}");
        ckpt::checkpoint!();
        println!("{}", Rc::strong_count(&grid));
    }
    for value in grid.clone().iter() {
        ckpt::checkpoint!();
        println!("{value} {}", Rc::strong_count(&grid));
    }
    let (left, right) = (grid.clone(), 4);
    println!("{left:?}");
    let Some(other) = Some(grid.clone()) else {
        return;
    };
    println!("{other:?}");
    ckpt::checkpoint!();
    println!("{right} {}", Rc::strong_count(&grid));
}

#[ckpt::instrument(calls(two_of_them), owners)]
pub fn given_away_as_an_argument() {
    let list = Arc::new(Mutex::new(vec![1]));
    two_of_them(list.clone(), list);
}

#[ckpt::instrument]
fn two_of_them(list: Arc<Mutex<Vec<u64>>>, other: Arc<Mutex<Vec<u64>>>) {
    other.lock().unwrap().push(9);
    for _ in 0..2 {
        ckpt::checkpoint!();
        println!("{}", Arc::strong_count(&list));
    }
}

#[ckpt::instrument(calls(one_of_them), owners)]
pub fn argument_that_is_done_with() {
    let list = Arc::new(Mutex::new(vec![1]));
    let other = list.clone();
    one_of_them(list, &other);
}

#[ckpt::instrument]
fn one_of_them(list: Arc<Mutex<Vec<u64>>>, other: &Arc<Mutex<Vec<u64>>>) {
    list.lock().unwrap().push(9);
    for _ in 0..2 {
        ckpt::checkpoint!();
        println!("{}", Arc::strong_count(other));
    }
}

#[ckpt::instrument(calls(step))]
pub fn in_temporaries() {
    let grid = Rc::new(vec![1u64, 2]);
    if grid.clone().len() == 2 {
        ckpt::checkpoint!();
        println!("{}", Rc::strong_count(&grid));
    }
    let mut rounds = 0;
    while Rc::clone(&grid).len() > rounds {
        ckpt::checkpoint!();
        println!("{}", Rc::strong_count(&grid));
        rounds += 1;
    }
    let list = Arc::new(Mutex::new(vec![1]));
    step(&list.clone(), 1);
    println!("{}", Arc::strong_count(&list));
}

#[ckpt::instrument]
pub fn given_later() {
    let grid = Rc::new(2u64);
    #[ckpt(save)]
    let mut held = None;
    let mut seen: Vec<Rc<u64>> = Vec::new();
    for k in 0..4 {
        if k == 1 {
            held = Some(Rc::clone(&grid));
        }
        if k == 2 {
            seen.push(grid.clone());
        }
        ckpt::checkpoint!();
        println!("{k} {}", Rc::strong_count(&grid));
    }
    println!("{held:?}");
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {}", Rc::strong_count(&grid));
    }
}
