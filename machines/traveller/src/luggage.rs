//! What the traveller carries. Everything is printed as whole numbers and bits.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{CString, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use rand_pcg::Pcg64;

/// Its numbers are not those of its places, and no `#[repr]` says how wide they are.
#[cfg(not(feature = "next"))]
#[derive(ckpt::Checkpoint, Clone, Debug, PartialEq)]
pub enum Season {
    Spring,
    Summer { days: u8 },
    Autumn(char, i16),
}

/// The same in the next version: in another order, with a new variant, and one under another name.
#[cfg(feature = "next")]
#[derive(ckpt::Checkpoint, Clone, Debug, PartialEq)]
pub enum Season {
    Monsoon,
    Autumn(char, i16),
    #[ckpt(alias = "Spring")]
    Blossom,
    Summer {
        days: u8,
    },
}

#[cfg(feature = "next")]
impl Season {
    #[allow(non_upper_case_globals)]
    const Spring: Season = Season::Blossom;
}

/// Plain values without a hole in file order, with holes in memory that are others on every machine: an `f64` is
/// aligned to 4 bytes on i686 and to 8 elsewhere.
#[cfg(not(feature = "next"))]
#[derive(ckpt::Checkpoint, Clone, Debug, PartialEq)]
pub struct Body {
    tag: u8,
    mass: f64,
    short: i16,
    position: [f64; 3],
    spin: f32,
    old: u32,
    id: u64,
}

/// The same in the next version: in another order, `old` is gone, `spin` is called otherwise, `charge` is new.
#[cfg(feature = "next")]
#[derive(ckpt::Checkpoint, Clone, Debug, PartialEq)]
pub struct Body {
    position: [f64; 3],
    id: u64,
    mass: f64,
    #[ckpt(alias = "spin")]
    rotation: f32,
    #[ckpt(default)]
    charge: Option<i64>,
    #[cfg(feature = "demanding")]
    colour: u8,
    short: i16,
    tag: u8,
}

impl Body {
    fn new(tag: u8) -> Body {
        Body {
            tag,
            mass: 1.0 + f64::from(tag) / 3.0,
            short: -7 * i16::from(tag),
            position: [0.1, -0.2, 0.3].map(|x| x * f64::from(tag)),
            #[cfg(not(feature = "next"))]
            spin: 0.7,
            #[cfg(feature = "next")]
            rotation: 0.7,
            #[cfg(not(feature = "next"))]
            old: 3,
            #[cfg(feature = "next")]
            charge: None,
            #[cfg(feature = "demanding")]
            colour: 0,
            id: u64::MAX - u64::from(tag),
        }
    }

    fn spin(&mut self) -> &mut f32 {
        #[cfg(not(feature = "next"))]
        return &mut self.spin;
        #[cfg(feature = "next")]
        return &mut self.rotation;
    }
}

/// Saved as text, through serde.
#[derive(serde::Serialize, serde::Deserialize, Clone, Debug, PartialEq)]
pub struct Ticket {
    words: usize,
    price: f64,
    numbers: (u128, i64),
    zones: BTreeMap<u32, Vec<u8>>,
    class: Class,
    letter: char,
}

#[derive(serde::Serialize, serde::Deserialize, Clone, Debug, PartialEq)]
pub enum Class {
    First,
    Second(Option<f32>),
}

/// A type that contains itself.
#[derive(ckpt::Checkpoint, Clone, Debug)]
pub struct Route {
    stop: i32,
    next: Option<Box<Route>>,
}

#[ckpt::object(Train, Boat)]
pub trait Vehicle {
    fn go(&mut self) -> i64;
}

#[derive(ckpt::Checkpoint)]
pub struct Train {
    waggons: Vec<isize>,
}

#[derive(ckpt::Checkpoint)]
pub struct Boat {
    depth: f32,
}

impl Vehicle for Train {
    fn go(&mut self) -> i64 {
        self.waggons[0] -= 3;
        self.waggons[0] as i64
    }
}

impl Vehicle for Boat {
    fn go(&mut self) -> i64 {
        self.depth = self.depth * 1.5 / 1.25;
        i64::from(self.depth.to_bits())
    }
}

#[derive(ckpt::Checkpoint)]
pub struct Luggage {
    size: usize,
    sizes: Vec<usize>,
    signed: Vec<isize>,
    wide: u128,
    wides: Vec<i128>,
    halves: Vec<u16>,
    letters: Vec<char>,
    words: Vec<String>,
    flags: Vec<bool>,
    doubles: Vec<f64>,
    singles: Vec<f32>,
    pub weights: Vec<f64>,
    /// Large: half of it is zero, and little of the rest changes from one checkpoint to the next.
    atlas: Vec<f64>,
    grid: Vec<[[i32; 2]; 3]>,
    seasons: Vec<Season>,
    season: Season,
    bodies: Vec<Body>,
    ages: HashMap<String, u64>,
    names: HashMap<OsString, i32>,
    seen: HashSet<u32>,
    path: PathBuf,
    text: CString,
    elapsed: Duration,
    since: SystemTime,
    #[ckpt(serde)]
    ticket: Ticket,
    standard: StdRng,
    pcg: Pcg64,
    steps: AtomicUsize,
    shared: [Rc<Cell<i64>>; 3],
    route: Route,
    vehicles: Vec<Box<dyn Vehicle>>,
}

impl Luggage {
    pub fn pack(size: usize) -> Luggage {
        let shared = Rc::new(Cell::new(i64::MIN));
        let stops = [3, -2, 1];
        let route = stops
            .iter()
            .fold(None, |next, &stop| Some(Box::new(Route { stop, next })));
        Luggage {
            size,
            sizes: vec![0, 1, size, u32::MAX as usize],
            signed: vec![-1, isize::from(i16::MIN), i32::MIN as isize, i32::MAX as isize],
            wide: 0x0123_4567_89ab_cdef_0011_2233_4455_6677,
            wides: vec![i128::MIN, -1, 0, i128::MAX],
            halves: (0..1000).map(|k| k * 65).collect(),
            letters: vec!['a', 'ß', '\u{0}', '\u{10FFFF}', '漢'],
            words: vec!["".into(), "Zürich".into(), "a\0b".into()],
            flags: vec![true, false, true],
            doubles: UNUSUAL.iter().map(|&bits| f64::from_bits(bits)).collect(),
            singles: UNUSUAL_SINGLE.iter().map(|&bits| f32::from_bits(bits)).collect(),
            weights: Vec::new(),
            atlas: (0..40_000_u32)
                .map(|k| f64::from(k.saturating_sub(20_000)) / 3.0)
                .collect(),
            grid: vec![[[1, -2], [3, -4], [5, i32::MIN]]; 4],
            seasons: vec![
                Season::Summer { days: 200 },
                Season::Spring,
                Season::Autumn('é', -300),
            ],
            season: Season::Spring,
            bodies: (0..5).map(Body::new).collect(),
            ages: (0..40).map(|k| (format!("n{k}"), k << 33)).collect(),
            names: HashMap::from([(OsString::from_vec(b"na\xffme".to_vec()), -1), ("name".into(), 1)]),
            seen: (0..40).map(|k| k * k).collect(),
            path: OsString::from_vec(b"some/where/\xfe\xff.dat".to_vec()).into(),
            text: CString::from(c"caf\xe9"),
            elapsed: Duration::new(1 << 34, 999_999_999),
            since: UNIX_EPOCH + Duration::new(5_000_000_000, 1),
            ticket: Ticket {
                words: 77,
                price: 0.1 + 0.2,
                numbers: (u128::MAX, i64::MIN),
                zones: BTreeMap::from([(9, vec![1, 2]), (u32::MAX, vec![])]),
                class: Class::Second(Some(f32::MIN_POSITIVE)),
                letter: 'ö',
            },
            standard: StdRng::seed_from_u64(11),
            pcg: Pcg64::seed_from_u64(12),
            steps: AtomicUsize::new(0),
            shared: [shared.clone(), Rc::new(Cell::new(7)), shared],
            route: Route { stop: 0, next: route },
            vehicles: vec![
                Box::new(Train { waggons: vec![-5, 8] }),
                Box::new(Boat { depth: 1.0 }),
            ],
        }
    }

    /// A day: everything is used, and most of it changes.
    pub fn change(&mut self, turn: u32, day: u32, weight: f64) -> f64 {
        let drawn = self.standard.next_u64() ^ self.pcg.next_u64();
        let k = u64::from(turn * 3 + day);
        self.sizes[0] += (drawn % 1000) as usize;
        self.signed[0] -= (drawn % 77) as isize;
        self.wide = self.wide.rotate_left(13).wrapping_add(u128::from(drawn));
        self.wides[1] = self.wides[1].wrapping_mul(0x1_0000_0000_0000_0003) - i128::from(k);
        let half = (k % 1000) as usize;
        self.halves[half] = self.halves[half].wrapping_mul(31).wrapping_add(k as u16);
        self.letters[0] = char::from_u32(0x3b1 + (k % 25) as u32).unwrap_or('?');
        self.words[0].push(self.letters[0]);
        self.flags[1] ^= drawn & 1 == 1;
        self.doubles[0] = (self.doubles[0] * 1.7 + weight).sqrt() / 3.0;
        self.singles[0] = (self.singles[0] * 1.7 + 0.3).sqrt() / 3.0;
        self.atlas[39_000 + half] += weight;
        self.grid[(k % 4) as usize][1][0] += 5;
        self.seasons.rotate_left(1);
        self.season = match &self.season {
            Season::Summer { days } if *days > 1 => Season::Summer { days: days - 1 },
            Season::Summer { .. } => Season::Autumn('ж', 2),
            Season::Autumn(letter, left) if *left > 0 => Season::Autumn(*letter, left - 1),
            Season::Autumn(..) => Season::Spring,
            _ => Season::Summer { days: 2 },
        };
        for body in &mut self.bodies {
            body.mass = body.mass * 1.01 / 1.02 + 0.001;
            body.position.rotate_left(1);
            body.position[0] += body.mass;
            *body.spin() *= -0.9;
        }
        *self.ages.entry(format!("n{}", k % 50)).or_default() += drawn >> 40;
        self.seen.insert((drawn % 100_000) as u32);
        self.names.values_mut().for_each(|value| *value += 1);
        self.elapsed += Duration::from_nanos(drawn >> 20);
        self.since += Duration::from_nanos(3);
        self.ticket.price /= 1.5;
        self.ticket.words += 1;
        self.ticket.numbers.0 -= u128::from(drawn);
        self.steps.fetch_add(3, Ordering::SeqCst);
        // Two of the three are one.
        self.shared[0].set(self.shared[0].get() + 1);
        self.shared[1].set(self.shared[1].get() - 1);
        self.route.stop += 1;
        let gone: i64 = self.vehicles.iter_mut().map(|vehicle| vehicle.go()).sum();
        weight * 0.5 + (gone % 1000) as f64 / 7.0
    }

    /// A number for all of it.
    pub fn seal(&self) -> String {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.text().bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        format!("{hash:016x}")
    }

    pub fn show(&self) {
        print!("{}", self.text());
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let bits = |list: &[f64]| {
            list.iter()
                .map(|x| format!("{:016x}", x.to_bits()))
                .collect::<Vec<_>>()
        };
        let single = |list: &[f32]| {
            list.iter()
                .map(|x| format!("{:08x}", x.to_bits()))
                .collect::<Vec<_>>()
        };
        let mut line = |name: &str, what: &dyn std::fmt::Debug| {
            let _ = writeln!(out, "{name} {what:?}");
        };
        line("sizes", &(self.size, &self.sizes, &self.signed));
        line("wide", &(self.wide, &self.wides));
        line(
            "halves",
            &self.halves.iter().map(|&half| u64::from(half)).sum::<u64>(),
        );
        line("letters", &(&self.letters, &self.words, &self.flags));
        line("doubles", &bits(&self.doubles));
        line("singles", &single(&self.singles));
        line("weights", &bits(&self.weights));
        line("atlas", &self.atlas.iter().sum::<f64>().to_bits());
        line("grid", &self.grid);
        line(
            "seasons",
            &format!("{:?} {:?}", self.season, self.seasons).replace("Blossom", "Spring"),
        );
        for body in &self.bodies {
            let spin = body.clone().spin().to_bits();
            line(
                "body",
                &(
                    body.tag,
                    body.mass.to_bits(),
                    body.short,
                    body.position.map(f64::to_bits),
                    spin,
                    body.id,
                ),
            );
        }
        let ages: BTreeMap<_, _> = self.ages.iter().collect();
        let names: BTreeMap<_, _> = self
            .names
            .iter()
            .map(|(name, value)| (name.as_bytes(), value))
            .collect();
        let mut seen: Vec<_> = self.seen.iter().collect();
        seen.sort();
        line("tables", &(ages, names, seen));
        line("texts", &(self.path.as_os_str().as_bytes(), &self.text));
        line("times", &(self.elapsed, self.since.duration_since(UNIX_EPOCH)));
        line("ticket", &(&self.ticket, self.ticket.price.to_bits()));
        line(
            "drawn",
            &(self.standard.clone().next_u64(), self.pcg.clone().next_u64()),
        );
        line("steps", &self.steps);
        line(
            "shared",
            &(&self.shared, Rc::ptr_eq(&self.shared[0], &self.shared[2])),
        );
        line("route", &self.route);
        out
    }
}

/// Doubles that are not changed by a copy, but might be by a conversion: quiet and signalling NaNs with payloads, zeros
/// with signs, infinities, subnormals, the smallest and the largest numbers.
const UNUSUAL: [u64; 11] = [
    0x3ff0_0000_0000_0000,
    0x7ff8_0000_dead_beef,
    0xfff8_0000_0000_0001,
    0x7ff0_0000_0000_0001,
    0x8000_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x0000_0000_0000_0001,
    0x800f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
];

const UNUSUAL_SINGLE: [u32; 8] = [
    0x3f80_0000,
    0x7fc0_beef,
    0xffc0_0001,
    0x7f80_0001,
    0x8000_0000,
    0xff80_0000,
    0x0000_0001,
    0x807f_ffff,
];
