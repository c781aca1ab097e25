use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::Rng;

use crate::disease::Health;

pub type PersonRef = Rc<RefCell<Person>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Home,
    School,
    Work,
    Street,
}

#[derive(Debug)]
pub struct Person {
    pub id: u32,
    pub age: u8,
    pub health: Health,
    pub contacts: BTreeMap<Place, Vec<Weak<RefCell<Person>>>>,
    pub infected_on: Option<u32>,
    pub infected_by: Option<Weak<RefCell<Person>>>,
    pub victims: usize,
}

impl Person {
    pub fn infect(&mut self, day: u32, source: Option<&PersonRef>, rng: &mut SmallRng) {
        self.health = Health::Exposed { days_left: rng.gen_range(2..6) };
        self.infected_on = Some(day);
        self.infected_by = source.map(Rc::downgrade);
    }
}

pub struct Town {
    people: Vec<PersonRef>,
}

fn meet(group: &[PersonRef], place: Place) {
    for a in group {
        let others = group.iter().filter(|b| !Rc::ptr_eq(a, b)).map(Rc::downgrade);
        a.borrow_mut().contacts.entry(place).or_default().extend(others);
    }
}

impl Town {
    pub fn build(population: usize, rng: &mut SmallRng) -> Town {
        let mut people: Vec<PersonRef> = Vec::with_capacity(population);
        while people.len() < population {
            let size = rng.gen_range(1..=5).min(population - people.len());
            let from = people.len();
            for member in 0..size {
                let age = if member < 2 { rng.gen_range(20..90) } else { rng.gen_range(0..20) };
                people.push(Rc::new(RefCell::new(Person {
                    id: people.len() as u32,
                    age,
                    health: Health::Susceptible,
                    contacts: BTreeMap::new(),
                    infected_on: None,
                    infected_by: None,
                    victims: 0,
                })));
            }
            meet(&people[from..], Place::Home);
        }

        let (mut pupils, mut workers): (Vec<_>, Vec<_>) =
            people.iter().filter(|p| (5..65).contains(&p.borrow().age)).cloned().partition(|p| p.borrow().age < 20);
        pupils.sort_by_key(|p| p.borrow().age);
        workers.shuffle(rng);
        for class in pupils.chunks(22) {
            meet(class, Place::School);
        }
        for office in workers.chunks(14) {
            meet(office, Place::Work);
        }
        for person in &people {
            for _ in 0..3 {
                let Some(other) = people.choose(rng) else { continue };
                person.borrow_mut().contacts.entry(Place::Street).or_default().push(Rc::downgrade(other));
            }
        }
        Town { people }
    }

    pub fn people(&self) -> &[PersonRef] {
        &self.people
    }

    pub fn links(&self) -> usize {
        self.people.iter().map(|p| p.borrow().contacts.values().map(Vec::len).sum::<usize>()).sum()
    }
}
