//! An agent-based epidemic on a town of households, schools and workplaces.
//!
//! People are nodes of a graph (`Rc<RefCell<Person>>`); each remembers who infected them, so that the
//! chains of transmission can be told at the end.

mod disease;
mod town;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::rc::Rc;

use disease::{Health, Policy};
use rand::rngs::SmallRng;
use rand::SeedableRng;
use town::{Person, PersonRef, Town};

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Tally {
    susceptible: usize,
    exposed: usize,
    infectious: usize,
    hospital: usize,
    recovered: usize,
    dead: usize,
}

impl Tally {
    fn of<'a>(people: impl IntoIterator<Item = &'a PersonRef>) -> Self {
        let mut t = Tally::default();
        for p in people {
            let slot = match p.borrow().health {
                Health::Susceptible => &mut t.susceptible,
                Health::Exposed { .. } => &mut t.exposed,
                Health::Infectious { .. } => &mut t.infectious,
                Health::Hospital { .. } => &mut t.hospital,
                Health::Recovered { .. } => &mut t.recovered,
                Health::Dead => &mut t.dead,
            };
            *slot += 1;
        }
        t
    }

    fn active(&self) -> usize {
        self.exposed + self.infectious + self.hospital
    }
}

/// Follows the chain of infections backwards, as long as it leads to earlier days: the generations above this person.
fn depth(person: &PersonRef) -> usize {
    let me = person.borrow();
    match me.infected_by.as_ref().and_then(|source| source.upgrade()) {
        Some(p) if p.borrow().infected_on < me.infected_on => 1 + depth(&p),
        Some(_) => 1,
        None => 0,
    }
}

fn one_day(town: &Town, day: u32, policy: &Policy, rng: &mut SmallRng) -> usize {
    let mut new: Vec<(PersonRef, PersonRef)> = Vec::new();
    for person in town.people() {
        let me = person.borrow();
        if !me.health.spreads() {
            continue;
        }
        for (place, contacts) in me.contacts.iter() {
            if policy.closed(*place) {
                continue;
            }
            for other in contacts.iter().filter_map(|w| w.upgrade()) {
                if Rc::ptr_eq(&other, person) || other.borrow().health != Health::Susceptible {
                    continue;
                }
                if disease::transmits(*place, &me, policy, rng) {
                    new.push((Rc::clone(person), other));
                }
            }
        }
    }
    let mut infections = 0;
    for (source, victim) in new {
        let mut v = victim.borrow_mut();
        if v.health == Health::Susceptible {
            v.infect(day, Some(&source), rng);
            infections += 1;
            drop(v);
            source.borrow_mut().victims += 1;
        }
    }
    for person in town.people() {
        let mut p = person.borrow_mut();
        let next = p.health.clone().next(p.age, rng);
        p.health = next;
    }
    infections
}

fn main() -> Result<(), Box<dyn Error>> {
    let population = std::env::args().nth(1).map_or(Ok(25_000), |a| a.parse::<usize>())?;
    let mut rng = SmallRng::seed_from_u64(2020);
    let town = Town::build(population, &mut rng);
    println!("{} people, {} links", town.people().len(), town.links());

    for person in town.people().iter().step_by(town.people().len() / 5) {
        person.borrow_mut().infect(0, None, &mut rng);
    }

    let mut policy: Box<Policy> = Box::default();
    let mut out = File::create("epidemic.tsv")?;
    writeln!(out, "day\tnew\tS\tE\tI\tH\tR\tD\tpolicy")?;

    let mut day = 0;
    let mut worst: Option<(u32, Tally)> = None;
    let last = loop {
        day += 1;
        let new = one_day(&town, day, &policy, &mut rng);
        let tally = Tally::of(town.people());
        writeln!(
            out,
            "{day}\t{new}\t{}\t{}\t{}\t{}\t{}\t{}\t{policy}",
            tally.susceptible, tally.exposed, tally.infectious, tally.hospital, tally.recovered, tally.dead
        )?;

        if worst.as_ref().map_or(true, |(_, w)| tally.infectious > w.infectious) {
            worst = Some((day, tally));
        }
        if let Some(next) = policy.reviewed(tally.hospital, tally.infectious) {
            if std::mem::discriminant(&next) != std::mem::discriminant(&*policy) {
                println!("day {day}: {policy} -> {next}");
            }
            *policy = next;
        }
        if tally.active() == 0 || day >= 250 {
            break tally;
        }
    };

    println!("over after {day} days: {last:?}");
    if let Some((when, Tally { infectious, .. })) = worst {
        println!("peak on day {when}: {infectious} infectious");
    }

    let mut chains: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    let mut superspreader: Option<Rc<RefCell<Person>>> = None;
    for p in town.people() {
        if p.borrow().infected_on.is_some() {
            chains.entry(depth(p)).or_default().push(p.borrow().id);
        }
        let more = superspreader.as_ref().is_none_or(|s| s.borrow().victims < p.borrow().victims);
        if more {
            superspreader = Some(p.clone());
        }
    }
    let mut out = File::create("chains.txt")?;
    for (generation, people) in &chains {
        writeln!(out, "{generation} {} first {:?}", people.len(), people.iter().take(5).collect::<Vec<_>>())?;
    }
    let s = superspreader.ok_or("an empty town")?;
    println!("{} generations; number {} infected {} others", chains.len(), s.borrow().id, s.borrow().victims);
    Ok(())
}
