//! `#[derive(Checkpoint)]` through real files, also between two versions of a program.

mod common;

use std::collections::HashMap;
use std::marker::PhantomData;

use ckpt::Checkpoint;
use common::{convert, refuse, round_trip};

#[derive(Checkpoint, Debug, Clone, PartialEq, Default)]
struct Particle {
    pos: [f64; 3],
    id: u64,
    name: Option<String>,
}

#[derive(Checkpoint, Debug, Clone, PartialEq)]
struct Meters(f32);

#[derive(Checkpoint, Debug, Clone, PartialEq)]
struct Nothing;

#[derive(Checkpoint, Debug, Clone, PartialEq)]
enum Event {
    Idle,
    Move { by: Meters, particle: Particle },
    Hit(u32, Vec<u8>),
    Empty {},
}

#[derive(Checkpoint, Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Plain {
    A,
    B = 17,
}

#[derive(Checkpoint, Debug, Clone, PartialEq)]
struct Generic<T, const N: usize, S = ()>
where
    T: Clone,
{
    items: Vec<T>,
    grid: [[T; N]; 2],
    mark: PhantomData<S>,
    r#type: u8,
}

#[derive(Checkpoint, Debug, Clone, PartialEq)]
struct List<T> {
    value: T,
    next: Option<Box<List<T>>>,
    tree: Vec<List<T>>,
}

#[derive(Checkpoint, Debug, Clone, PartialEq)]
struct ByItem<I: Iterator> {
    last: Option<I::Item>,
    #[ckpt(skip)]
    source: Option<I>,
}

fn particle(id: u64) -> Particle {
    Particle {
        pos: [id as f64, 0.5, -1.0],
        id,
        name: id.is_multiple_of(3).then(|| format!("p{id}")),
    }
}

#[test]
fn structs_and_enums() {
    round_trip(&particle(3));
    round_trip(&(0..100).map(particle).collect::<Vec<_>>());
    round_trip(&Meters(1.5));
    round_trip(&vec![Nothing, Nothing]);
    let events = vec![
        Event::Hit(3, vec![1, 2]),
        Event::Idle,
        Event::Move {
            by: Meters(2.5),
            particle: particle(9),
        },
        Event::Empty {},
        Event::Hit(4, vec![]),
    ];
    round_trip(&events);
    events.iter().for_each(round_trip);
    round_trip(&HashMap::from([
        (Plain::B, vec![Plain::A, Plain::B]),
        (Plain::A, vec![]),
    ]));
    round_trip(&vec![(Some(Plain::A), events.clone()), (None, vec![])]);
}

#[test]
fn generics() {
    round_trip(&Generic::<u16, 2> {
        items: vec![1],
        grid: [[1, 2], [3, 4]],
        mark: PhantomData,
        r#type: 3,
    });
    round_trip(&vec![Generic::<_, 1, &'static [u8]> {
        items: vec!["x".to_owned()],
        grid: [["y".to_owned()], [String::new()]],
        mark: PhantomData,
        r#type: 3,
    }]);
    let leaf = List {
        value: 1.5,
        next: None,
        tree: vec![],
    };
    let list = List {
        value: 2.5,
        next: Some(Box::new(leaf.clone())),
        tree: vec![leaf.clone(), leaf],
    };
    round_trip(&list);
    round_trip(&vec![list.clone(), list]);
    round_trip(&ByItem::<std::ops::Range<u8>> {
        last: Some(3),
        source: None,
    });
}

mod old {
    use super::*;

    #[derive(Checkpoint)]
    pub struct Sim {
        pub time: f64,
        pub steps: u32,
        pub mode: Mode,
    }

    #[derive(Checkpoint)]
    pub enum Mode {
        Fast,
        Slow { factor: u8 },
        Gone,
    }
}

fn seven() -> u8 {
    7
}

mod new {
    use super::*;

    #[derive(Checkpoint, Debug, PartialEq)]
    pub struct Sim {
        #[ckpt(default)]
        pub label: String,
        #[ckpt(rename = "steps", alias = "iterations")]
        pub count: u32,
        pub mode: Mode,
        #[ckpt(alias = "time")]
        pub clock: f64,
        #[ckpt(skip, default = "super::seven")]
        pub cache: u8,
        #[ckpt(default = "seven")]
        pub order: u8,
    }

    #[derive(Checkpoint, Debug, PartialEq)]
    pub enum Mode {
        Extra(u64),
        #[ckpt(alias = "Slow")]
        Careful {
            #[ckpt(default)]
            extra: i8,
            factor: u8,
        },
        #[ckpt(rename = "Fast")]
        Quick,
    }
}

#[test]
fn fields_and_variants_are_found_by_name() {
    let sims = vec![
        old::Sim {
            time: 1.5,
            steps: 3,
            mode: old::Mode::Slow { factor: 2 },
        },
        old::Sim {
            time: 2.5,
            steps: 4,
            mode: old::Mode::Fast,
        },
    ];
    let expected = |clock, count, mode| new::Sim {
        label: String::new(),
        count,
        mode,
        clock,
        cache: 7,
        order: 7,
    };
    let careful = || new::Mode::Careful { extra: 0, factor: 2 };
    assert_eq!(convert::<_, new::Sim>(&sims[0]), expected(1.5, 3, careful()));
    let all: Vec<new::Sim> = convert(&sims);
    assert_eq!(
        all,
        [expected(1.5, 3, careful()), expected(2.5, 4, new::Mode::Quick)]
    );
}

/// Versions of a type with less in it.
mod less {
    use super::*;

    #[derive(Checkpoint, Debug, PartialEq)]
    pub struct Sim {
        pub mode: Mode,
        pub steps: u32,
    }

    #[derive(Checkpoint, Debug, PartialEq)]
    pub enum Mode {
        Slow {
            #[ckpt(default)]
            extra: i8,
        },
        Fast,
    }

    #[derive(Checkpoint, Debug, PartialEq)]
    pub struct Named {
        pub id: u64,
    }
}

#[test]
fn what_is_gone_from_a_struct_is_passed_over() {
    let sim = |mode| old::Sim {
        time: 1.5,
        steps: 3,
        mode,
    };
    let expected = less::Sim {
        mode: less::Mode::Fast,
        steps: 3,
    };
    assert_eq!(convert::<_, less::Sim>(&sim(old::Mode::Fast)), expected);
    let all: Vec<less::Sim> = convert(&vec![sim(old::Mode::Fast), sim(old::Mode::Fast)]);
    assert_eq!(
        all,
        [
            expected,
            less::Sim {
                mode: less::Mode::Fast,
                steps: 3
            }
        ]
    );
    // Numbers, arrays, options and texts.
    let particles: Vec<Particle> = (0..4).map(particle).collect();
    let named: Vec<less::Named> = convert(&particles);
    assert_eq!(named.iter().map(|one| one.id).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(convert::<_, less::Named>(&particles[2]).id, 2);
    // A variant that has nothing left of what it had is not read as one that never had anything.
    assert_eq!(
        refuse::<_, less::Sim>(&sim(old::Mode::Slow { factor: 9 })),
        "at `mode/Slow/factor`: E2307: the column holds 1 more elements than the value needs"
    );
}

#[derive(Checkpoint, Debug)]
#[allow(dead_code)]
struct Strict {
    time: f64,
    missing: u8,
}

#[test]
fn what_does_not_fit_is_named() {
    let sim = old::Sim {
        time: 1.5,
        steps: 3,
        mode: old::Mode::Gone,
    };
    assert_eq!(
        refuse::<_, Strict>(&sim),
        "E2303: the checkpoint has no field `missing` (it has: time, steps, mode); `#[ckpt(default)]` on the field accepts that, `#[ckpt(alias = \"old\")]` that it had another name"
    );
    assert_eq!(
        refuse::<_, new::Sim>(&sim),
        "at `mode`: E2304: the checkpoint holds the variant `Gone`, which the program's enum does not have (it has: Extra, Careful, Fast)"
    );
    assert!(refuse::<_, Vec<Strict>>(&vec![sim]).contains("missing"));
    assert_eq!(
        refuse::<_, Meters>(&(1.5_f64,)),
        "at `0`: E2302: the program expects one f32, the checkpoint holds one f64"
    );
}

#[cfg(feature = "serde")]
mod by_serde {
    use super::*;

    #[derive(Checkpoint, Debug, Clone, PartialEq)]
    struct Mixed<T> {
        #[ckpt(serde)]
        address: std::net::IpAddr,
        #[ckpt(serde)]
        value: T,
        plain: u8,
    }

    #[derive(serde::Serialize, serde::Deserialize, Debug, Clone, PartialEq)]
    enum Odd {
        Unit,
        New(Option<Option<()>>),
        Tuple(f32, char, i128),
        Struct {
            map: std::collections::BTreeMap<(u8, i16), Vec<f64>>,
            dollar: HashMap<String, u8>,
        },
    }

    #[test]
    fn values_without_columns() {
        let odd = vec![
            Odd::Unit,
            Odd::New(Some(None)),
            Odd::New(None),
            Odd::New(Some(Some(()))),
            Odd::Tuple(f32::NEG_INFINITY, '\n', i128::MIN),
            Odd::Tuple(0.1, 'x', 3),
            Odd::Struct {
                map: [((1, -2), vec![f64::INFINITY, -0.0, 0.1, 1e300])].into(),
                dollar: HashMap::from([("$map".to_owned(), 1)]),
            },
        ];
        let mixed: Vec<Mixed<Odd>> = odd
            .into_iter()
            .map(|value| Mixed {
                address: "::1".parse().unwrap(),
                value,
                plain: 3,
            })
            .collect();
        round_trip(&mixed);
        mixed.iter().for_each(round_trip);
        round_trip(&ckpt::value::Serde(mixed[0].address));
    }

    #[test]
    fn nan_keeps_its_bits() {
        let odd = ckpt::value::Serde((f64::from_bits(0x7ff8_0000_0000_1234), f32::from_bits(0x7fc0_1234)));
        let again: ckpt::value::Serde<(f64, f32)> = convert(&odd);
        assert_eq!(
            (again.0.0.to_bits(), again.0.1.to_bits()),
            (0x7ff8_0000_0000_1234, 0x7fc0_1234)
        );
    }
}

#[derive(Checkpoint)]
struct Counted {
    seen: std::cell::Cell<u32>,
}

#[derive(Checkpoint)]
struct Cached {
    list: Vec<u8>,
    #[ckpt(skip)]
    last: Option<u8>,
}

/// What is not copied while a checkpoint is taken could be changed, for all the optimiser knows, by whatever is called later.
#[test]
fn a_copy_of_its_bits_stands_for_a_struct_if_it_does_for_its_fields() {
    const { assert!(Particle::BITS && Event::BITS && Plain::BITS && Nothing::BITS) };
    const { assert!(List::<Vec<Counted>>::BITS && <[Meters; 3]>::BITS) };
    const { assert!(!Counted::BITS && !Cached::BITS && !List::<Counted>::BITS) };
}
