//! Every implementation there and back, without files, as a variable of its own and inside of lists.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::ffi::OsString;
use std::marker::PhantomData;
use std::num::{NonZeroI8, NonZeroU64, NonZeroUsize, Wrapping};
use std::ops::Range;
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use proptest::prelude::*;

use super::{
    Block, Checkpoint, Column, Context, Cursor, Decoder, Encoder, LoadError, LoadProblem, Objects, Source,
    Tables,
};

struct Nowhere;
impl Source for Nowhere {
    fn read(&self, _: &Block, _: &mut [u8]) -> Result<(), LoadError> {
        Err(LoadError::invalid("there is no file"))
    }
}

/// The columns of a value, and the shared objects.
pub(super) fn encode<T: Checkpoint + ?Sized>(
    value: &T,
) -> Result<(Column, Vec<super::ObjectTable>), super::SaveError> {
    encoded(|to| value.save(to))
}

/// The same of what saves itself.
pub(super) fn encoded(
    mut save: impl FnMut(&mut Encoder<'_>),
) -> Result<(Column, Vec<super::ObjectTable>), super::SaveError> {
    encoded_by(&mut save)
}

/// Once for all types: of these there are more than a thousand.
fn encoded_by(
    save: &mut dyn FnMut(&mut Encoder<'_>),
) -> Result<(Column, Vec<super::ObjectTable>), super::SaveError> {
    let mut objects = Objects::default();
    objects.enter("x");
    let mut column = Column::Empty;
    save(&mut Encoder::new(&mut column, false, &mut objects));
    objects.finish().map(|finished| (column, finished.tables))
}

pub(super) fn decode<T: Checkpoint>(saved: &(Column, Vec<super::ObjectTable>)) -> Result<T, LoadError> {
    decoded(saved, T::load)
}

/// What `load` makes of the columns, all of them.
pub(super) fn decoded<T>(
    saved: &(Column, Vec<super::ObjectTable>),
    mut load: impl FnMut(&mut Decoder<'_>) -> Result<T, LoadError>,
) -> Result<T, LoadError> {
    let mut value = None;
    decoded_by(saved, &mut |decoder| {
        value = Some(load(decoder)?);
        Ok(())
    })?;
    Ok(value.expect("it is there where nothing fails"))
}

/// Once for all types.
fn decoded_by(
    (column, tables): &(Column, Vec<super::ObjectTable>),
    load: &mut dyn FnMut(&mut Decoder<'_>) -> Result<(), LoadError>,
) -> Result<(), LoadError> {
    let tables = Tables::new(
        tables
            .iter()
            .map(|table| (table.ids.clone(), Cursor::of(&table.items))),
        crate::handles::ReopenedFiles::anywhere(),
    );
    let context = Context {
        source: &Nowhere,
        tables: &tables,
    };
    let mut cursor = Cursor::of(column);
    let mut decoder = Decoder::new(&mut cursor, false, &context);
    load(&mut decoder)?;
    decoder.finish()
}

pub(crate) fn round_trip<T: Checkpoint>(value: &T) -> T {
    decode(&encode(value).unwrap()).unwrap()
}

/// What is made of the columns that `save` writes: those of another machine, or of another version of a type.
#[cfg(feature = "rand")]
pub(crate) fn as_saved_by<T: Checkpoint>(save: impl FnOnce(&mut Encoder<'_>)) -> Result<T, LoadError> {
    let mut objects = Objects::default();
    let mut column = Column::Empty;
    save(&mut Encoder::new(&mut column, false, &mut objects));
    decode(&(column, Vec::new()))
}

/// The value after the bytes of one of its fields were changed in the file.
pub(crate) fn changed<T: Checkpoint>(value: &T, field: &str, bytes: &[u8]) -> Result<T, LoadError> {
    let (mut column, tables) = encode(value).unwrap();
    let Column::Group(group) = &mut column else {
        panic!("no struct")
    };
    let (_, found) = group.children.iter_mut().find(|(name, _)| name == field).unwrap();
    let Column::Data(data) = found else {
        panic!("no plain field")
    };
    data.bytes = bytes.to_vec().into();
    decode(&(column, tables))
}

/// Alone, in lists, in lists of lists, in arrays and options.
#[track_caller]
pub(crate) fn everywhere<T: Checkpoint + PartialEq + std::fmt::Debug + Clone>(values: &[T]) {
    for value in values {
        assert_eq!(round_trip(value), *value);
        assert_eq!(
            round_trip(&[value.clone(), value.clone()]),
            [value.clone(), value.clone()]
        );
        assert_eq!(round_trip(&Some(value.clone())), Some(value.clone()));
    }
    let list = values.to_vec();
    assert_eq!(round_trip(&list), list);
    assert_eq!(round_trip(&Vec::<T>::new()), vec![]);
    let lists = vec![list.clone(), vec![], list.clone()];
    assert_eq!(round_trip(&lists), lists);
    let options: Vec<Option<T>> = values
        .iter()
        .flat_map(|value| [Some(value.clone()), None])
        .collect();
    assert_eq!(round_trip(&options), options);
    let arrays: Vec<[T; 2]> = values
        .iter()
        .map(|value| [value.clone(), value.clone()])
        .collect();
    assert_eq!(round_trip(&arrays), arrays);
    let none: Vec<[T; 0]> = vec![[], []];
    assert_eq!(round_trip(&none), none);
    let pairs: Vec<(T, Option<[T; 1]>)> = values
        .iter()
        .map(|value| (value.clone(), Some([value.clone()])))
        .collect();
    assert_eq!(round_trip(&pairs), pairs);
    let nested: Vec<(Vec<T>, VecDeque<T>)> = vec![(list.clone(), VecDeque::new()), (vec![], list.into())];
    assert_eq!(round_trip(&nested), nested);
}

#[test]
fn numbers() {
    everywhere(&[0_u8, 255]);
    everywhere(&[0_u16, u16::MAX]);
    everywhere(&[u32::MAX]);
    everywhere(&[u64::MAX, 1]);
    everywhere(&[u128::MAX, 1 << 70]);
    everywhere(&[i8::MIN, -1]);
    everywhere(&[i16::MIN]);
    everywhere(&[i32::MIN]);
    everywhere(&[i64::MIN]);
    everywhere(&[i128::MIN]);
    everywhere(&[usize::MAX, 0]);
    everywhere(&[isize::MIN, 0]);
    everywhere(&[true, false]);
    everywhere(&['a', '\u{10ffff}', '\0']);
    everywhere(&[f32::MIN_POSITIVE, -0.0, f32::INFINITY]);
    everywhere(&[f64::MAX, -0.0, 1e-310]);
    everywhere(&[Wrapping(3_u8)]);
    everywhere(&[NonZeroU64::MAX, NonZeroU64::MIN]);
    everywhere(&[NonZeroUsize::MIN]);
    everywhere(&[NonZeroI8::MIN]);
    everywhere(&[(), ()]);
}

#[test]
fn floats_keep_every_bit() {
    let odd = f64::from_bits(0x7ff4_0000_dead_beef);
    assert_eq!(round_trip(&vec![odd])[0].to_bits(), odd.to_bits());
    assert_eq!(round_trip(&-0.0_f32).to_bits(), (-0.0_f32).to_bits());
}

#[test]
fn text() {
    everywhere(&[String::new(), "päron \0 \u{1F980}".to_owned(), "x".repeat(300)]);
    everywhere(&[PathBuf::from("/tmp/a b"), PathBuf::new()]);
    let bytes: OsString = std::os::unix::ffi::OsStringExt::from_vec(vec![0xff, 0x41, 0xfe]);
    everywhere(&[bytes.clone(), OsString::from("a")]);
    everywhere(&[Box::<str>::from("box")]);
    everywhere(&[Cow::Borrowed("borrowed"), Cow::Owned("owned".to_owned())]);
    everywhere(&["literal", ""]);
}

#[test]
fn containers() {
    everywhere(&[Box::new([1, 2, 3])]);
    everywhere(&[vec![1.5], vec![]]);
    everywhere(&[VecDeque::from([1, 2]), VecDeque::new()]);
    everywhere(&[
        BTreeMap::from([("b".to_owned(), 1), ("a".to_owned(), 2)]),
        BTreeMap::new(),
    ]);
    everywhere(&[HashMap::from([(3_i32, 'x'), (-1, 'y')]), HashMap::new()]);
    everywhere(&[
        HashSet::from([(1_u8, "p".to_owned()), (0, "q".to_owned())]),
        HashSet::new(),
    ]);
    everywhere(&[BTreeSet::from([[1, 2], [0, 9]]), BTreeSet::new()]);
    everywhere(&[HashMap::from([
        (vec![1_u8], HashMap::from([(Some(1), ())])),
        (vec![], HashMap::new()),
    ])]);
    everywhere(&[Ok(1_u8), Err("no".to_owned())]);
    everywhere(&[Some(None), None, Some(Some(3))]);
    everywhere(&[(
        1_u8,
        2.5_f32,
        "x".to_owned(),
        (),
        [1_u64; 3],
        Some('c'),
        true,
        8_i8,
        9_u16,
        10_i64,
        11_u128,
        (12,),
    )]);
    everywhere(&[std::cmp::Ordering::Less, std::cmp::Ordering::Greater]);
    everywhere(&[Reverse(3)]);
    everywhere(&[Duration::new(5, 999_999_999)]);
    everywhere(&[PhantomData::<Mutex<()>>]);
    everywhere(&[Cell::new(3), Cell::new(4)]);
    everywhere(&[RefCell::new(vec![3])]);
    everywhere(&[OnceCell::new(), OnceCell::from(3)]);
    everywhere(&[std::ops::Bound::Included(1), std::ops::Bound::Unbounded]);
    let heap = BinaryHeap::from(vec![3, 9, 1, 9, 2]);
    assert_eq!(round_trip(&heap).into_vec(), heap.into_vec());
    let mut rest = vec![1, 2, 3].into_iter();
    rest.next();
    assert_eq!(round_trip(&rest).as_slice(), [2, 3]);
    assert_eq!(*round_trip(&Mutex::new(7)).lock().unwrap(), 7);
    assert_eq!(*round_trip(&RwLock::new("w".to_owned())).read().unwrap(), "w");
    let atomic = std::sync::atomic::AtomicI32::new(-4);
    assert_eq!(round_trip(&atomic).into_inner(), -4);
}

#[test]
fn small_types_of_the_library() {
    use std::collections::LinkedList;
    use std::net::{IpAddr, Ipv6Addr, SocketAddr};
    use std::task::Poll;
    everywhere(&[
        LinkedList::from(["a".to_owned(), "b".to_owned()]),
        LinkedList::new(),
    ]);
    everywhere(&[std::num::Saturating(3_i8)]);
    everywhere(&[Poll::Ready(3), Poll::Pending]);
    let v6 = Ipv6Addr::new(1, 2, 3, 4, 5, 6, 7, 8);
    everywhere(&[IpAddr::from([127, 0, 0, 1]), IpAddr::from(v6)]);
    everywhere(&[SocketAddr::from(([1, 2, 3, 4], 80)), SocketAddr::from((v6, 443))]);
    everywhere(&[Ok::<u8, std::convert::Infallible>(3)]);
    everywhere(&[Box::pin(3)]);
    everywhere(&[c"one".to_owned(), c"".to_owned()]);
    everywhere(&[PathBuf::from("a/b").into_boxed_path()]);
    everywhere(&[OsString::from("x").into_boxed_os_str()]);
    let texts = round_trip(&["static", "other", "static"]);
    assert_eq!(texts, ["static", "other", "static"]);
    assert!(std::ptr::eq(texts[0], texts[2]), "one text is leaked once");
    let bytes: &[u8] = b"some bytes";
    everywhere(&[&bytes[5..], &bytes[..0], bytes]);
    everywhere(&[[(1u64, 'a'), (2, 'b')].as_slice()]);
    let mut args = std::env::args();
    args.next();
    assert_eq!(round_trip(&args).collect::<Vec<_>>(), args.collect::<Vec<_>>());
    round_trip(&(std::sync::Condvar::new(), std::hash::RandomState::new()));
    round_trip(&std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::new());
}

#[test]
fn ranges_remember_how_far_they_got() {
    everywhere(&[0..5, Range { start: 5, end: 0 }]);
    everywhere(&[3..]);
    everywhere(&[..3]);
    everywhere(&[..=3]);
    everywhere(&[..]);
    everywhere(&[0.5..1.5]);
    everywhere(&[0.5..=1.5]);
    let mut half = 0..=5_u8;
    half.next();
    half.next_back();
    everywhere(&[half, 0..=255, 7..=7]);
    let mut done = 250..=255_u8;
    assert_eq!(done.by_ref().count(), 6);
    let again = round_trip(&done);
    assert_eq!(again, done);
    assert_eq!(again.count(), 0);
    let mut word = 'a'..='c';
    assert_eq!(word.by_ref().count(), 3);
    assert_eq!(round_trip(&word).next(), None);
}

#[test]
fn range_adapters_go_on_where_they_stood() {
    fn check<I: Iterator + DoubleEndedIterator + Clone + Checkpoint>(iterator: I)
    where
        I::Item: PartialEq + std::fmt::Debug,
    {
        let count = iterator.clone().take(1000).count();
        for steps in 0..=count + 1 {
            let mut at = iterator.clone();
            at.by_ref().take(steps).for_each(drop);
            assert!(round_trip(&at).eq(at.clone()), "after {steps}");
            at.next_back();
            assert!(round_trip(&at).rev().eq(at.rev()), "backwards after {steps}");
        }
    }
    check((0..10_usize).rev());
    check((250..=255_u8).rev());
    check((-128..=127_i8).rev());
    check((0..0_i64).rev());
    check((3..20_usize).step_by(4));
    check((-100..100_i8).step_by(150));
    check((0..=255_u8).step_by(85));
    check((0..=255_u8).step_by(1));
    check((5..5_i32).step_by(2));
    check((u16::MAX - 10..=u16::MAX).step_by(3));
}

#[test]
fn shared_objects_stay_shared() {
    let one = Rc::new(RefCell::new(vec![1, 2]));
    let value = (
        one.clone(),
        vec![one.clone(), Rc::new(RefCell::new(vec![]))],
        Some(one),
    );
    let (a, list, b) = round_trip(&value);
    a.borrow_mut().push(3);
    assert_eq!(*list[0].borrow(), [1, 2, 3]);
    assert!(Rc::ptr_eq(&a, &b.unwrap()));
    assert_eq!(*list[1].borrow(), [0; 0]);

    let text: Arc<str> = Arc::from("shared");
    let slice: Arc<[u8]> = Arc::from([1, 2]);
    let (x, y, z) = round_trip(&(text.clone(), text, slice));
    assert!(Arc::ptr_eq(&x, &y));
    assert_eq!(*z, [1, 2]);
}

#[test]
fn tokens_that_are_used_up() {
    let words = ["a", "b", "c"].map(str::to_owned);
    let mut tokens = Vec::from(words.clone()).into_iter().peekable();
    assert!(round_trip(&tokens).eq(words.clone()));
    tokens.next();
    tokens.peek();
    assert!(round_trip(&tokens).eq(words[1..].to_vec()));
    assert!(
        round_trip(&vec![tokens.clone(), tokens])[1]
            .clone()
            .eq(words[1..].to_vec())
    );
}

/// A list of `Rc`s with a tail that others share, longer than any stack would bear.
struct Link {
    number: u32,
    next: Option<Rc<Link>>,
    after: u8,
}

impl Checkpoint for Link {
    fn save(&self, to: &mut Encoder<'_>) {
        const NAMES: &[Cow<'static, str>] = &[
            Cow::Borrowed("number"),
            Cow::Borrowed("next"),
            Cow::Borrowed("after"),
        ];
        self.number.save(&mut to.field(NAMES, 0));
        self.next.save(&mut to.field(NAMES, 1));
        self.after.save(&mut to.field(NAMES, 2));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Ok(Link {
            number: from.field(&["number"])?,
            next: from.field(&["next"])?,
            after: from.field(&["after"])?,
        })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut link) = next.and_then(Rc::into_inner) {
            next = link.next.take();
        }
    }
}

#[test]
fn long_chains_of_shared_objects() {
    let mut head = Rc::new(Link {
        number: 0,
        next: None,
        after: 0,
    });
    for number in 1..100_000 {
        head = Rc::new(Link {
            number,
            next: Some(head),
            after: number as u8,
        });
    }
    let middle = head.next.clone();
    let (again, middle_again) = round_trip(&(head.clone(), middle));
    assert!(Rc::ptr_eq(
        again.next.as_ref().unwrap(),
        middle_again.as_ref().unwrap()
    ));
    let (mut a, mut b, mut count) = (Some(&head), Some(&again), 0);
    while let (Some(x), Some(y)) = (a, b) {
        assert_eq!((x.number, x.after), (y.number, y.after));
        (a, b, count) = (x.next.as_ref(), y.next.as_ref(), count + 1);
    }
    assert_eq!(count, 100_000);
    drop(middle_again);
}

struct Ring(RefCell<Option<Rc<Ring>>>);

impl Checkpoint for Ring {
    fn save(&self, to: &mut Encoder<'_>) {
        self.0.save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        RefCell::load(from).map(Ring)
    }
}

#[test]
fn a_cycle_is_refused() {
    let ring = Rc::new(Ring(RefCell::new(None)));
    *ring.0.borrow_mut() = Some(ring.clone());
    let error = encode(&ring).unwrap_err();
    assert_eq!(error.variable, "x");
    assert!(error.why.contains("cycle"), "{}", error.why);
    ring.0.take();
}

/// A tree whose nodes know their parents.
struct Node {
    name: String,
    parent: RefCell<Weak<Node>>,
    me: Weak<Node>,
    children: RefCell<Vec<Rc<Node>>>,
}

impl Checkpoint for Node {
    fn save(&self, to: &mut Encoder<'_>) {
        const NAMES: &[Cow<'static, str>] = &[
            Cow::Borrowed("name"),
            Cow::Borrowed("parent"),
            Cow::Borrowed("me"),
            Cow::Borrowed("children"),
        ];
        self.name.save(&mut to.field(NAMES, 0));
        self.parent.save(&mut to.field(NAMES, 1));
        self.me.save(&mut to.field(NAMES, 2));
        self.children.save(&mut to.field(NAMES, 3));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Ok(Node {
            name: from.field(&["name"])?,
            parent: from.field(&["parent"])?,
            me: from.field(&["me"])?,
            children: from.field(&["children"])?,
        })
    }
}

impl Node {
    fn new(name: &str) -> Rc<Node> {
        Rc::new_cyclic(|me| Node {
            name: name.to_owned(),
            parent: RefCell::default(),
            me: me.clone(),
            children: RefCell::default(),
        })
    }
    fn add(self: &Rc<Node>, child: Rc<Node>) {
        *child.parent.borrow_mut() = Rc::downgrade(self);
        self.children.borrow_mut().push(child);
    }
    /// The names from here to the root, as the pointers to parents lead.
    fn way(&self) -> Vec<String> {
        let above = self.parent.borrow().upgrade();
        let above = above.map(|parent| parent.way());
        [vec![self.name.clone()], above.unwrap_or_default()].concat()
    }
}

#[test]
fn weak_pointers_lead_where_they_led() {
    let root = Node::new("root");
    let inner = Node::new("inner");
    root.add(inner.clone());
    root.add(Node::new("other"));
    inner.add(Node::new("leaf"));
    let leaf = inner.children.borrow()[0].clone();
    let gone = Rc::downgrade(&Rc::new(1));
    let kept = Arc::new(Mutex::new(2));
    let value = (
        Rc::downgrade(&leaf),
        leaf.clone(),
        root.clone(),
        vec![gone.clone(), gone],
        (Arc::downgrade(&kept), vec![kept]),
    );
    let (weak, again, top, gone, (to_kept, kept)) = round_trip(&value);
    assert!(Rc::ptr_eq(&weak.upgrade().unwrap(), &again));
    assert_eq!(again.way(), ["leaf", "inner", "root"]);
    let up = again.parent.borrow().upgrade().unwrap();
    assert!(Rc::ptr_eq(&up, &top.children.borrow()[0]));
    assert!(Rc::ptr_eq(&up.me.upgrade().unwrap(), &up));
    assert_eq!(top.children.borrow()[1].way(), ["other", "root"]);
    assert!(top.parent.borrow().upgrade().is_none());
    assert!(gone.iter().all(|gone| gone.upgrade().is_none()));
    *to_kept.upgrade().unwrap().lock().unwrap() = 7;
    assert_eq!(*kept[0].lock().unwrap(), 7);
    let counts = |rc: &Rc<Node>| (Rc::strong_count(rc), Rc::weak_count(rc));
    drop((up, value, weak));
    assert_eq!(counts(&top), counts(&root));
    assert_eq!(counts(&again), counts(&leaf));
    drop(leaf);
    drop(inner);
    assert_eq!(
        counts(&top.children.borrow()[0]),
        counts(&root.children.borrow()[0])
    );

    everywhere_weak(&root);
}

/// In lists and options, beside what they lead to.
fn everywhere_weak(root: &Rc<Node>) {
    let value = (
        vec![Some(Rc::downgrade(root)), None, Some(Weak::new())],
        [Rc::downgrade(root), Weak::new()],
        root.clone(),
    );
    let (list, [first, second], root) = round_trip(&value);
    let is_root = |weak: &Weak<Node>| weak.upgrade().is_some_and(|found| Rc::ptr_eq(&found, &root));
    assert!(is_root(list[0].as_ref().unwrap()) && is_root(&first));
    assert!(list[1].is_none() && list[2].as_ref().unwrap().upgrade().is_none());
    assert!(second.upgrade().is_none());
}

#[test]
fn long_chains_with_weak_pointers_back() {
    struct Back {
        number: u32,
        next: Option<Rc<Back>>,
        before: RefCell<Weak<Back>>,
    }
    impl Checkpoint for Back {
        fn save(&self, to: &mut Encoder<'_>) {
            const NAMES: &[Cow<'static, str>] = &[
                Cow::Borrowed("number"),
                Cow::Borrowed("next"),
                Cow::Borrowed("before"),
            ];
            self.number.save(&mut to.field(NAMES, 0));
            self.next.save(&mut to.field(NAMES, 1));
            self.before.save(&mut to.field(NAMES, 2));
        }
        fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
            Ok(Back {
                number: from.field(&["number"])?,
                next: from.field(&["next"])?,
                before: from.field(&["before"])?,
            })
        }
    }
    impl Drop for Back {
        fn drop(&mut self) {
            let mut next = self.next.take();
            while let Some(mut link) = next.and_then(Rc::into_inner) {
                next = link.next.take();
            }
        }
    }
    let mut head = Rc::new(Back {
        number: 0,
        next: None,
        before: RefCell::default(),
    });
    for number in 1..50_000 {
        let next = Rc::new(Back {
            number,
            next: Some(head.clone()),
            before: RefCell::default(),
        });
        *head.before.borrow_mut() = Rc::downgrade(&next);
        head = next;
    }
    let again = round_trip(&head);
    let mut last = again.clone();
    while let Some(next) = last.next.clone() {
        last = next;
    }
    let mut count = 0;
    loop {
        assert_eq!(last.number, count);
        let Some(before) = last.before.borrow().upgrade() else {
            break;
        };
        (last, count) = (before, count + 1);
    }
    assert_eq!(count, 49_999);
    assert!(Rc::ptr_eq(&last, &again));
}

#[test]
fn what_only_a_weak_pointer_leads_to_is_refused() {
    let outside = Rc::new(5);
    let error = encode(&vec![Rc::downgrade(&outside)]).unwrap_err();
    assert!(error.why.contains("keeps alive"), "{}", error.why);
    assert!(encode(&(Rc::downgrade(&outside), outside)).is_ok());
}

#[test]
fn one_object_has_one_type() {
    let text: Rc<[u8; 2]> = Rc::new([1, 2]);
    let slice: Rc<[u8]> = text.clone();
    let error = encode(&(text, slice)).unwrap_err();
    assert!(error.why.contains("two types"), "{}", error.why);
}

#[test]
fn what_cannot_be_saved_now_says_so() {
    let cell = vec![RefCell::new(1)];
    let borrowed = cell[0].borrow_mut();
    let error = encode(&cell).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("E2301: variable `x` cannot be saved: a `RefCell` in it is mutably borrowed")
    );
    drop(borrowed);
    let lock = Mutex::new(1);
    let guard = lock.lock().unwrap();
    assert!(encode(&lock).unwrap_err().why.contains("is locked at the site"));
    drop(guard);
}

/// Contains itself: its columns must end.
#[derive(Debug, Clone, PartialEq)]
struct Tree {
    value: u16,
    children: Vec<Tree>,
    left: Option<Box<Tree>>,
}

impl Checkpoint for Tree {
    fn save(&self, to: &mut Encoder<'_>) {
        const NAMES: &[Cow<'static, str>] = &[
            Cow::Borrowed("value"),
            Cow::Borrowed("children"),
            Cow::Borrowed("left"),
        ];
        self.value.save(&mut to.field(NAMES, 0));
        self.children.save(&mut to.field(NAMES, 1));
        self.left.save(&mut to.field(NAMES, 2));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Ok(Tree {
            value: from.field(&["value"])?,
            children: from.field(&["children"])?,
            left: from.field(&["left"])?,
        })
    }
}

fn tree(value: u16, depth: u16) -> Tree {
    let children = (0..depth.min(3))
        .map(|k| tree(value * 3 + k, depth - 1))
        .collect();
    Tree {
        value,
        children,
        left: (depth > 0).then(|| Box::new(tree(value + 1, depth - 1))),
    }
}

#[test]
fn types_that_contain_themselves() {
    everywhere(&[tree(0, 0), tree(1, 4)]);
}

#[test]
fn too_deep_is_refused_without_exhausting_the_stack() {
    let mut deep = tree(0, 0);
    for _ in 0..1_000 {
        deep = Tree {
            value: 1,
            children: vec![],
            left: Some(Box::new(deep)),
        };
    }
    assert!(encode(&deep).unwrap_err().why.contains("nested deeper than 256"));
}

#[test]
fn a_list_is_saved_alike_whatever_holds_it() {
    let columns = encode(&vec![1.5, 2.5]).unwrap();
    assert_eq!(encode(&[1.5, 2.5]).unwrap(), columns);
    assert_eq!(encode(&[1.5, 2.5][..]).unwrap(), columns);
    assert_eq!(encode(&Box::new(vec![1.5, 2.5])).unwrap(), columns);
    assert_eq!(encode("text").unwrap(), encode(&"text".to_owned()).unwrap());
    let rows = encode(&vec![[1_u8, 2], [3, 4]]).unwrap();
    assert_eq!(encode(&[[1_u8, 2], [3, 4]]).unwrap(), rows);
}

#[test]
fn equal_hash_maps_are_saved_alike() {
    let forward: HashMap<String, i32> = (0..1000).map(|k| (format!("key {k}"), k)).collect();
    let backward: HashMap<String, i32> = (0..1000).rev().map(|k| (format!("key {k}"), k)).collect();
    assert_eq!(encode(&forward).unwrap(), encode(&backward).unwrap());
    let set: HashSet<i64> = [3, -5, 0].into();
    assert_eq!(encode(&set).unwrap(), encode(&vec![-5_i64, 0, 3]).unwrap());
    let words: HashSet<String> = ["b".into(), "ab".into(), "a".into(), String::new()].into();
    assert_eq!(
        encode(&words).unwrap(),
        encode(&vec!["".to_owned(), "a".into(), "ab".into(), "b".into()]).unwrap()
    );
}

#[test]
fn keys_are_sorted_by_all_of_their_bytes() {
    let long = "a name of more than sixteen bytes";
    let mut words: Vec<String> = ["", "\0", "a", "a\0", "a\0\0b", "b"].map(String::from).to_vec();
    words.extend((0..50).map(|k| format!("{long} {k}")));
    words.extend((0..20).map(|k| long[..k].to_owned()));
    let set: HashSet<String> = words.iter().cloned().collect();
    let sorted: BTreeSet<String> = words.into_iter().collect();
    assert_eq!(encode(&set).unwrap(), encode(&sorted).unwrap());
    let keys = || (0..60_u64).map(|k| (k % 2, k % 3, k));
    let set: HashSet<(u64, u64, u64)> = keys().collect();
    let sorted: BTreeSet<(u64, u64, u64)> = keys().collect();
    assert_eq!(encode(&set).unwrap(), encode(&sorted).unwrap());
}

#[test]
fn a_wrong_type_is_refused() {
    let saved = encode(&vec![1_u32, 2, 3]).unwrap();
    assert!(matches!(
        decode::<Vec<i32>>(&saved).unwrap_err().problem,
        LoadProblem::Mismatch { .. }
    ));
    assert!(decode::<u32>(&saved).is_err());
    assert!(decode::<String>(&saved).is_err());
    assert!(decode::<Vec<(u32, u32)>>(&saved).is_err());
    let error = decode::<[u32; 2]>(&saved).unwrap_err();
    assert_eq!(
        error.to_string(),
        "E2302: the program expects an array of 2, the checkpoint holds one of 3"
    );
    assert!(decode::<u64>(&encode(&1_u32).unwrap()).is_err());
    assert!(decode::<NonZeroU64>(&encode(&0_u64).unwrap()).is_err());
    let nested = encode(&(1_u8, vec![(2_u8, true)])).unwrap();
    let error = decode::<(u8, Vec<(u8, u8)>)>(&nested).unwrap_err();
    assert_eq!(error.path, "1/1");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: proptest::test_runner::RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_nesting(value in prop::collection::vec(
        (any::<u64>(), prop::option::of(any::<String>()), prop::collection::btree_map(any::<i16>(), prop::collection::vec(any::<f32>(), 0..4), 0..4)),
        0..8,
    )) {
        let again = round_trip(&value);
        prop_assert_eq!(format!("{again:?}"), format!("{value:?}"));
    }

    #[test]
    fn any_hash_map(value in prop::collection::hash_map(prop::option::of(prop::collection::vec(any::<i8>(), 0..3)), any::<bool>(), 0..20)) {
        prop_assert_eq!(round_trip(&value), value);
    }

    #[test]
    fn any_results(value in prop::collection::vec(prop::result::maybe_ok(any::<u8>(), any::<[u16; 3]>()), 0..20)) {
        prop_assert_eq!(round_trip(&value), value);
    }
}
