//! Trait objects of a program's own traits in checkpoints.

mod common;

use ckpt::Checkpoint;
use ckpt::snapshot::SnapshotBuilder;
use common::{PLAN, convert, refuse, through_a_file};

#[ckpt::object(Explicit, schemes::Implicit, schemes::Off, Both)]
trait Solver {
    fn step(&mut self, by: f64) -> f64;
}

#[derive(Checkpoint, Debug)]
struct Explicit {
    value: f64,
}

impl Solver for Explicit {
    fn step(&mut self, by: f64) -> f64 {
        self.value += by;
        self.value
    }
}

mod schemes {
    #[derive(ckpt::Checkpoint, Debug)]
    pub enum Implicit {
        Newton { residual: Vec<f64> },
        Picard(u32),
    }

    impl super::Solver for Implicit {
        fn step(&mut self, by: f64) -> f64 {
            match self {
                Implicit::Newton { residual } => {
                    residual.push(by);
                    residual.iter().sum()
                }
                Implicit::Picard(count) => {
                    *count += 1;
                    f64::from(*count)
                }
            }
        }
    }

    #[derive(ckpt::Checkpoint)]
    pub struct Off;

    impl super::Solver for Off {
        fn step(&mut self, _: f64) -> f64 {
            0.0
        }
    }
}

/// Holds others of its kind.
#[derive(Checkpoint)]
struct Both {
    each: Vec<Box<dyn Solver>>,
}

impl Solver for Both {
    fn step(&mut self, by: f64) -> f64 {
        self.each.iter_mut().map(|one| one.step(by)).sum()
    }
}

fn several() -> Vec<Box<dyn Solver>> {
    let newton = schemes::Implicit::Newton {
        residual: vec![0.5, 0.25],
    };
    vec![
        Box::new(Explicit { value: 1.0 }),
        Box::new(schemes::Off),
        Box::new(newton),
        Box::new(Explicit { value: -3.5 }),
        Box::new(Both {
            each: vec![
                Box::new(schemes::Implicit::Picard(4)),
                Box::new(Explicit { value: 9.0 }),
            ],
        }),
    ]
}

fn steps(mut solvers: Vec<Box<dyn Solver>>) -> Vec<f64> {
    solvers.iter_mut().map(|one| one.step(0.125)).collect()
}

#[test]
fn every_object_comes_back_as_its_own_type() {
    let back: Vec<Box<dyn Solver>> = convert(&several());
    assert_eq!(steps(back), steps(several()));
    for one in several() {
        let mut back: Box<dyn Solver> = convert(&one);
        let mut one = one;
        assert_eq!(back.step(2.0), one.step(2.0));
    }
    let none: Vec<Box<dyn Solver>> = convert(&Vec::<Box<dyn Solver>>::new());
    assert!(none.is_empty());
}

#[test]
fn the_file_shows_the_types_and_their_columns() {
    let restored = through_a_file(&several());
    let tree = format!("{:?}", restored.tree());
    for name in ["variant", "Explicit", "Implicit", "Both"] {
        assert!(tree.contains(&format!("\"{name}\"")), "{name}: {tree}");
    }
}

/// A caller lends its own value to a callee that sees a trait object.
#[test]
fn what_was_saved_as_an_object_is_found_by_the_owner_of_the_value() {
    let mut explicit = Explicit { value: 2.5 };
    let lent: &mut dyn Solver = &mut explicit;
    assert_eq!(convert::<dyn Solver, Explicit>(lent).value, 2.5);
    let boxed: Box<dyn Solver> = convert(lent);
    assert_eq!(steps(vec![boxed]), [2.625]);
    let mut implicit = schemes::Implicit::Picard(7);
    let lent: &mut dyn Solver = &mut implicit;
    let back: schemes::Implicit = convert(lent);
    assert!(matches!(back, schemes::Implicit::Picard(7)));
    let mut off = schemes::Off;
    let lent: &mut dyn Solver = &mut off;
    let schemes::Off = convert(lent);
}

/// Objects that happen to be of one type are objects all the same.
#[test]
fn a_list_of_objects_of_one_type_comes_back() {
    let list = |count: u32| -> Vec<Box<dyn Solver>> {
        let one = |value: u32| -> Box<dyn Solver> {
            Box::new(Explicit {
                value: f64::from(value),
            })
        };
        (0..count).map(one).collect()
    };
    for count in 1..3 {
        let back: Vec<Box<dyn Solver>> = convert(&list(count));
        assert_eq!(steps(back), steps(list(count)));
    }
    let nested: Vec<Vec<Box<dyn Solver>>> = convert(&vec![list(1), list(2)]);
    assert_eq!(nested.len(), 2);
    let pair: [Box<dyn Solver>; 2] = convert::<[Box<dyn Solver>; 2], _>(&list(2).try_into().ok().unwrap());
    assert_eq!(steps(pair.into()), steps(list(2)));
}

mod before {
    use super::Checkpoint;

    #[ckpt::object(Explicit, Steady)]
    pub trait Solver {}

    #[derive(Checkpoint)]
    pub struct Explicit {
        pub value: f64,
    }
    impl Solver for Explicit {}

    #[derive(Checkpoint)]
    pub struct Steady {
        pub speed: u8,
    }
    impl Solver for Steady {}
}

#[test]
fn types_are_found_by_name_and_unknown_ones_are_named() {
    let old: Box<dyn before::Solver> = Box::new(before::Explicit { value: 4.0 });
    let new: Box<dyn Solver> = convert(&old);
    assert_eq!(steps(vec![new]), [4.125]);
    let old: Box<dyn before::Solver> = Box::new(before::Steady { speed: 1 });
    let restored = through_a_file(&old);
    let Err(error) = restored.decode::<Box<dyn Solver>>(0, "x") else {
        panic!("it is read")
    };
    assert_eq!(
        error.to_string(),
        "E2305: the checkpoint holds a `Steady` behind `dyn Solver`, which `#[ckpt::object(..)]` on the trait does not have (it has: Explicit, Implicit, Off, Both)"
    );
    let message = refuse::<_, Explicit>(&old);
    assert!(message.contains("`value`"), "{message}");
}

#[ckpt::object(Listed, ..)]
trait Open {}
#[derive(Checkpoint)]
struct Listed(u8);
impl Open for Listed {}
struct Unlisted;
impl Open for Unlisted {}
impl<T: Open + ?Sized> Open for Box<T> {}

#[test]
fn a_type_that_an_open_list_lacks_is_refused_when_it_is_saved() {
    let listed: Box<dyn Open> = Box::new(Listed(3));
    assert!(matches!(convert::<_, Listed>(&listed), Listed(3)));
    let value: Vec<Box<dyn Open>> = vec![listed, Box::new(Unlisted)];
    let mut builder = SnapshotBuilder::new();
    let frame = builder.frame(&PLAN, 1);
    builder.value(frame, "x", 11, None, &value);
    let error = builder.finish().unwrap_err();
    assert_eq!(
        error.to_string(),
        "E2301: variable `x` cannot be saved: a `objects::Unlisted` stands behind `dyn Open` in it, which the list on the trait does not have; add it: `#[ckpt::object(Listed, objects::Unlisted)]`"
    );
}

/// As a library would have it: types of whoever uses it.
mod library {
    use super::Checkpoint;

    #[ckpt::object(Own, ..)]
    pub trait Shape {
        fn area(&self) -> f64;
    }
    #[derive(Checkpoint)]
    pub struct Own(pub f64);
    impl Shape for Own {
        fn area(&self) -> f64 {
            self.0
        }
    }

    #[ckpt::object(..)]
    pub trait OfOthers {
        fn number(&self) -> u8;
    }
}

#[derive(Checkpoint)]
struct Square(f64);
impl library::Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}
/// Objects in an object, and not `Send`.
#[derive(Checkpoint)]
struct Several(Vec<std::rc::Rc<dyn library::Shape>>);
impl library::Shape for Several {
    fn area(&self) -> f64 {
        self.0.iter().map(|one| one.area()).sum()
    }
}
mod more {
    /// A name that the library has as well.
    #[derive(ckpt::Checkpoint)]
    pub struct Own(pub f64);
    impl super::library::Shape for Own {
        fn area(&self) -> f64 {
            -self.0
        }
    }
}
impl library::OfOthers for Listed {
    fn number(&self) -> u8 {
        self.0
    }
}

#[test]
fn types_of_other_crates_are_listed_when_the_program_begins() {
    use library::{OfOthers, Own, Shape};
    use std::rc::{Rc, Weak};
    for _ in 0..2 {
        ckpt::objects!(dyn Shape: Square, Several, more::Own);
        ckpt::objects!(dyn library::OfOthers: Listed);
    }
    let shared: Rc<dyn Shape> = Rc::new(Square(3.0));
    let several = Several(vec![Rc::clone(&shared), shared, Rc::new(Own(1.0))]);
    let list: Vec<Box<dyn Shape>> = vec![Box::new(Own(2.0)), Box::new(several), Box::new(more::Own(5.0))];
    let back: Vec<Box<dyn Shape>> = convert(&list);
    let areas: Vec<f64> = back.iter().map(|one| one.area()).collect();
    assert_eq!(areas, [2.0, 19.0, -5.0]);
    let sent: Box<dyn Shape + Send> = Box::new(Square(2.0));
    let back: Box<dyn Shape + Send> = convert(&sent);
    assert_eq!(back.area(), 4.0);
    let of_others: (Rc<dyn OfOthers>, Weak<dyn OfOthers>) = (Rc::new(Listed(7)), Weak::<Listed>::new());
    let back: (Rc<dyn OfOthers>, Weak<dyn OfOthers>) = convert(&of_others);
    assert_eq!((back.0.number(), back.1.upgrade().is_none()), (7, true));
}

#[ckpt::object(Near, Far)]
trait Body: Send + std::fmt::Debug {
    /// Not of objects.
    fn twin(&self) -> Self
    where
        Self: Sized;
}
#[derive(Checkpoint, Debug)]
struct Near {
    at: [f64; 3],
}
impl Body for Near {
    fn twin(&self) -> Self {
        Near { at: self.at }
    }
}
#[derive(Checkpoint, Debug)]
struct Far(String);
impl Body for Far {
    fn twin(&self) -> Self {
        Far(self.0.clone())
    }
}

#[test]
fn objects_that_are_sent_between_threads_have_their_form_too() {
    let sent: Box<dyn Body + Send> = Box::new(Near { at: [1.0; 3] }.twin());
    let shared: Box<dyn Body + Send + Sync> = Box::new(Far("x".into()).twin());
    let back: (Box<dyn Body + Send>, Box<dyn Body + Send + Sync>) = convert(&(sent, shared));
    assert_eq!(format!("{back:?}"), "(Near { at: [1.0, 1.0, 1.0] }, Far(\"x\"))");
}

#[test]
fn a_trait_inside_a_function() {
    #[ckpt::object(Here)]
    trait Local {}
    #[derive(Checkpoint)]
    struct Here;
    impl Local for Here {}
    let here: Box<dyn Local> = Box::new(Here);
    let Here = convert(&here);
}
