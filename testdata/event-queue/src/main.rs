// Discrete event simulation of a small hospital
use std::cell::RefCell;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::rc::Rc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Ward { Triage, Xray, Doctor, Bed }

#[derive(Debug, Clone, PartialEq)]
enum Kind { Arrive, Done { patient: u32, ward: Ward }, Shift { open: bool }, Stop }

#[derive(Debug, Clone, PartialEq)]
struct Event { time: f64, seq: u64, kind: Kind }
impl Eq for Event {}
impl Ord for Event { fn cmp(&self, o: &Self) -> Ordering { self.time.partial_cmp(&o.time).unwrap().then_with(|| self.seq.cmp(&o.seq)) } }
impl PartialOrd for Event { fn partial_cmp(&self, o: &Self) -> Option<Ordering> { Some(self.cmp(o)) } }

struct Rng { s: [u64; 4] }
impl Rng {
    fn seeded(mut z: u64) -> Rng { let mut s = [0; 4]; for e in s.iter_mut() { z = z.wrapping_add(0x9E3779B97F4A7C15); let mut x = z; x = (x ^ (x >> 30)).wrapping_mul(0xBF58476D1CE4E5B9); x = (x ^ (x >> 27)).wrapping_mul(0x94D049BB133111EB); *e = x ^ (x >> 31); } Rng { s } }
    fn next(&mut self) -> u64 { let r = self.s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9); let t = self.s[1] << 17; self.s[2] ^= self.s[0]; self.s[3] ^= self.s[1]; self.s[1] ^= self.s[2]; self.s[0] ^= self.s[3]; self.s[2] ^= t; self.s[3] = self.s[3].rotate_left(45); r }
    fn exp(&mut self, mean: f64) -> f64 { -mean * (1.0 - (self.next() >> 11) as f64 / (1u64 << 53) as f64).ln() }
}

#[derive(Default, Debug)]
struct Stats { served: usize, waited: f64, longest: f64, lost: usize }

struct Station { capacity: usize, busy: usize, mean: f64, queue: VecDeque<(u32, f64)>, stats: Rc<RefCell<Stats>> }

struct Sim { clock: f64, seq: u64, events: BinaryHeap<Reverse<Event>>, stations: HashMap<Ward, Station>, rng: Rng, arrived: HashMap<u32, f64>, next_id: u32, total: Rc<RefCell<Stats>>, open: bool }

impl Sim {
    fn new(seed: u64) -> Self {
        let total = Rc::new(RefCell::new(Stats::default()));
        let stations = [(Ward::Triage, 2, 3.0), (Ward::Xray, 1, 6.0), (Ward::Doctor, 4, 17.0), (Ward::Bed, 12, 140.0)]
            .into_iter()
            .map(|(w, capacity, mean)| (w, Station { capacity, busy: 0, mean, queue: VecDeque::new(), stats: Rc::new(RefCell::new(Stats::default())) }))
            .collect();
        let mut sim = Sim { clock: 0.0, seq: 0, events: BinaryHeap::new(), stations, rng: Rng::seeded(seed), arrived: HashMap::new(), next_id: 0, total, open: true };
        sim.schedule(0.0, Kind::Arrive);
        sim.schedule(480.0, Kind::Shift { open: false });
        sim
    }
    fn schedule(&mut self, after: f64, kind: Kind) { self.seq += 1; self.events.push(Reverse(Event { time: self.clock + after, seq: self.seq, kind })); }
    fn enter(&mut self, ward: Ward, patient: u32) {
        let now = self.clock;
        let st = self.stations.get_mut(&ward).expect("no such ward");
        if st.busy < st.capacity {
            st.busy += 1;
            let t = self.rng.exp(st.mean);
            self.schedule(t, Kind::Done { patient, ward });
        } else if st.queue.len() > 40 {
            st.stats.borrow_mut().lost += 1;
            self.arrived.remove(&patient);
        } else {
            st.queue.push_back((patient, now));
        }
    }
    fn leave(&mut self, ward: Ward) {
        let now = self.clock;
        let st = self.stations.get_mut(&ward).unwrap();
        let next = st.queue.pop_front();
        match next {
            Some((p, since)) => {
                let mut s = st.stats.borrow_mut();
                s.served += 1;
                s.waited += now - since;
                s.longest = s.longest.max(now - since);
                drop(s);
                let t = self.rng.exp(st.mean);
                self.schedule(t, Kind::Done { patient: p, ward });
            }
            None => st.busy -= 1,
        }
    }
    fn run(&mut self, until: f64) {
        self.schedule(until, Kind::Stop);
        while let Some(Reverse(Event { time, kind, .. })) = self.events.pop() {
            self.clock = time;
            match kind {
                Kind::Arrive => {
                    let gap = if self.open { 7.0 } else { 25.0 };
                    let t = self.rng.exp(gap);
                    self.schedule(t, Kind::Arrive);
                    let id = self.next_id;
                    self.next_id += 1;
                    self.arrived.insert(id, self.clock);
                    self.enter(Ward::Triage, id);
                }
                Kind::Done { patient, ward } => {
                    self.leave(ward);
                    let r = self.rng.next() % 100;
                    match (ward, r) {
                        (Ward::Triage, 0..=29) => self.enter(Ward::Xray, patient),
                        (Ward::Triage, _) | (Ward::Xray, _) => self.enter(Ward::Doctor, patient),
                        (Ward::Doctor, 0..=14) => self.enter(Ward::Bed, patient),
                        _ => {
                            if let Some(t0) = self.arrived.remove(&patient) {
                                let mut t = self.total.borrow_mut();
                                t.served += 1;
                                t.waited += self.clock - t0;
                                t.longest = t.longest.max(self.clock - t0);
                            }
                        }
                    }
                }
                Kind::Shift { open } => { self.open = open; self.schedule(if open { 480.0 } else { 960.0 }, Kind::Shift { open: !open }) }
                Kind::Stop => break,
            }
        }
    }
}

fn main() {
    let mut sim = Sim::new(99);
    let watch = Rc::clone(&sim.total);
    sim.run(400_000.0);
    println!("{:.6} {} events, {:?}", sim.clock, sim.seq, watch.borrow());
    let mut wards: Vec<_> = sim.stations.iter().collect();
    wards.sort_by_key(|(w, _)| **w);
    for (w, s) in wards { println!("{w:?} {} {:?}", s.busy, s.stats.borrow()); }
}
