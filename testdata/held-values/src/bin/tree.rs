//! A tree whose nodes know their parents, a cache whose entries are linked both ways, and observers that go.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::{self, Arc, Mutex};

type Link = Rc<RefCell<Node>>;

struct Node {
    key: i64,
    depth: usize,
    parent: Option<Weak<RefCell<Node>>>,
    left: Option<Link>,
    right: Option<Link>,
}

#[derive(Default)]
struct Tree {
    root: Option<Link>,
    size: usize,
}

impl Tree {
    fn insert(&mut self, key: i64) -> Link {
        self.size += 1;
        let node = Rc::new(RefCell::new(Node { key, depth: 0, parent: None, left: None, right: None }));
        let Some(mut at) = self.root.clone() else {
            self.root = Some(Rc::clone(&node));
            return node;
        };
        loop {
            let goes_left = key < at.borrow().key;
            let next = if goes_left { at.borrow().left.clone() } else { at.borrow().right.clone() };
            match next {
                Some(next) => at = next,
                None => {
                    node.borrow_mut().parent = Some(Rc::downgrade(&at));
                    node.borrow_mut().depth = at.borrow().depth + 1;
                    let child = Some(Rc::clone(&node));
                    if goes_left {
                        at.borrow_mut().left = child;
                    } else {
                        at.borrow_mut().right = child;
                    }
                    return node;
                }
            }
        }
    }
}

fn way_up(node: &Link) -> i64 {
    let parent = node.borrow().parent.as_ref().and_then(Weak::upgrade);
    node.borrow().key % 1000 + parent.map_or(0, |parent| way_up(&parent))
}

struct Entry {
    key: u32,
    value: u64,
    before: Weak<RefCell<Entry>>,
    after: Option<Rc<RefCell<Entry>>>,
}

#[derive(Default)]
struct Cache {
    entries: HashMap<u32, Rc<RefCell<Entry>>>,
    first: Option<Rc<RefCell<Entry>>>,
    last: Weak<RefCell<Entry>>,
    misses: usize,
}

impl Cache {
    fn unlink(&mut self, entry: &Rc<RefCell<Entry>>) {
        let before = std::mem::take(&mut entry.borrow_mut().before).upgrade();
        let after = entry.borrow_mut().after.take();
        match &after {
            Some(after) => after.borrow_mut().before = before.as_ref().map(Rc::downgrade).unwrap_or_default(),
            None => self.last = before.as_ref().map(Rc::downgrade).unwrap_or_default(),
        }
        match &before {
            Some(before) => before.borrow_mut().after = after,
            None => self.first = after,
        }
    }

    fn put_first(&mut self, entry: Rc<RefCell<Entry>>) {
        entry.borrow_mut().after = self.first.take();
        match &entry.borrow().after {
            Some(after) => after.borrow_mut().before = Rc::downgrade(&entry),
            None => self.last = Rc::downgrade(&entry),
        }
        self.first = Some(entry);
    }

    fn get(&mut self, key: u32) -> u64 {
        if let Some(entry) = self.entries.get(&key).cloned() {
            self.unlink(&entry);
            self.put_first(Rc::clone(&entry));
            let value = entry.borrow().value;
            return value;
        }
        self.misses += 1;
        if self.entries.len() == 60 {
            let last = self.last.upgrade().expect("an entry");
            self.unlink(&last);
            self.entries.remove(&last.borrow().key);
        }
        let value = u64::from(key).pow(2);
        let entry = Rc::new(RefCell::new(Entry { key, value, before: Weak::new(), after: None }));
        self.entries.insert(key, Rc::clone(&entry));
        self.put_first(entry);
        value
    }
}

fn main() {
    let mut tree = Tree::default();
    let mut cache = Cache::default();
    let mut owners: Vec<Arc<Mutex<u64>>> = (0..4).map(|k| Arc::new(Mutex::new(k))).collect();
    let mut observers: Vec<sync::Weak<Mutex<u64>>> = owners.iter().map(Arc::downgrade).collect();
    let mut seed = 12345u64;
    let mut sum = 0i64;
    for step in 0..1500 {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let node = tree.insert((seed >> 33) as i64 % 100_000);
        sum = sum.wrapping_mul(7).wrapping_add(way_up(&node));
        let value = cache.get((seed >> 40) as u32 % 90);
        if step % 400 == 399 {
            owners.pop();
        }
        observers.retain(|observer| observer.strong_count() > 0);
        for observer in &observers {
            if let Some(seen) = observer.upgrade() {
                let mut seen = seen.lock().unwrap();
                *seen = seen.wrapping_mul(3).wrapping_add(value);
            }
        }
        if step % 300 == 0 {
            println!("{step}: {sum}, {} misses, {} observers", cache.misses, observers.len());
        }
    }
    println!("{} nodes, {sum}, {} misses, {owners:?}", tree.size, cache.misses);
}
