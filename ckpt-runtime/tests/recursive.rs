//! Types that contain themselves: their values are rows of tables, as many columns as the types have.

mod common;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;

use ckpt::Checkpoint;
use ckpt::store::{Node, NodeKind};
use common::{convert, refuse, round_trip, through_a_file};
use proptest::prelude::*;

#[derive(Checkpoint, Debug, PartialEq, Clone)]
struct Tree {
    left: Option<Box<Tree>>,
    key: u32,
    right: Option<Box<Tree>>,
}

fn tree(depth: u32, key: u32) -> Tree {
    let below = |key| (depth > 0).then(|| Box::new(tree(depth - 1, key)));
    Tree {
        left: below(2 * key),
        key,
        right: below(2 * key + 1),
    }
}

#[derive(Checkpoint, Debug)]
struct List {
    value: u64,
    next: Option<Box<List>>,
}

impl Drop for List {
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut one) = next {
            next = one.next.take();
        }
    }
}

fn chain(length: u64) -> Option<Box<List>> {
    (0..length).fold(None, |next, value| Some(Box::new(List { value, next })))
}

#[derive(Checkpoint, Debug, PartialEq, Clone)]
enum Json {
    Null,
    Number(f64),
    Text(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
    Queue {
        first: VecDeque<Json>,
        all: HashMap<u8, Json>,
    },
}

#[derive(Checkpoint, Debug, PartialEq, Clone, Eq, Hash)]
enum Expression {
    Number(i64),
    Sum(Box<Expression>, Box<Expression>),
    Block(Vec<Statement>),
}

#[derive(Checkpoint, Debug, PartialEq, Clone, Eq, Hash)]
struct Statement {
    name: String,
    value: Option<Box<Expression>>,
    pair: [Option<Box<Statement>>; 2],
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        (-1.0..1.0).prop_map(Json::Number),
        "[a-c]{0,3}".prop_map(Json::Text)
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::btree_map("[a-c]{0,3}", inner.clone(), 0..6).prop_map(Json::Object),
            (
                prop::collection::vec_deque(inner.clone(), 0..3),
                prop::collection::hash_map(0_u8..9, inner, 0..3)
            )
                .prop_map(|(first, all)| Json::Queue { first, all }),
        ]
    })
}

fn expression() -> impl Strategy<Value = Expression> {
    let leaf = any::<i64>().prop_map(Expression::Number);
    leaf.prop_recursive(5, 60, 4, |inner| {
        let statement = ("[a-c]{0,3}", prop::option::of(inner.clone()));
        let statement = statement.prop_map(|(name, value)| Statement {
            name,
            value: value.map(Box::new),
            pair: [None, None],
        });
        let pairs = (statement.clone(), prop::option::of(statement)).prop_map(|(one, other)| Statement {
            pair: [other.map(Box::new), None],
            ..one
        });
        prop_oneof![
            (inner.clone(), inner).prop_map(|(a, b)| Expression::Sum(Box::new(a), Box::new(b))),
            prop::collection::vec(pairs, 0..4).prop_map(Expression::Block),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn enums_that_contain_themselves_come_back(value in json(), list in prop::collection::vec(json(), 0..4)) {
        round_trip(&value);
        round_trip(&Box::new(value.clone()));
        round_trip(&list);
        round_trip(&(list.clone(), Some(value), list));
    }

    #[test]
    fn types_that_contain_each_other_come_back(list in prop::collection::vec(expression(), 0..4)) {
        round_trip(&list);
        round_trip(&list.iter().cloned().collect::<HashSet<_>>());
        round_trip(&list.into_iter().map(Some).collect::<Vec<_>>());
    }
}

fn datasets(node: &Node) -> usize {
    match &node.kind {
        NodeKind::Dataset { .. } => 1,
        _ => node.children().iter().map(datasets).sum(),
    }
}

#[test]
fn columns_are_as_many_as_the_type_has() {
    let large = through_a_file(&tree(12, 1));
    assert_eq!(
        datasets(large.tree()),
        datasets(through_a_file(&tree(3, 1)).tree())
    );
    assert_eq!(large.decode::<Tree>(0, "x").unwrap(), tree(12, 1));
    // Key, two flags and the number where it is: nothing else for each of 8,191 nodes.
    assert!(large.tree().bytes() < 8191 * 15, "{}", large.tree().bytes());
}

#[test]
fn what_a_box_leads_to_may_be_lent() {
    assert_eq!(convert::<Tree, Box<Tree>>(&tree(3, 1)), Box::new(tree(3, 1)));
    assert_eq!(convert::<Box<Tree>, Tree>(&Box::new(tree(3, 1))), tree(3, 1));
    let list = vec![Json::Null, Json::Array(vec![Json::Null])];
    assert_eq!(convert::<[Json], Vec<Json>>(&list), list);
    assert_eq!(convert::<Vec<Json>, VecDeque<Json>>(&list), VecDeque::from(list));
}

#[test]
fn long_chains_come_back() {
    let length = 300_000;
    let back: Option<Box<List>> = convert(&chain(length));
    let values = std::iter::successors(back.as_deref(), |one| one.next.as_deref());
    assert!(values.map(|one| one.value).eq((0..length).rev()));
}

/// Owned and shared at once: the order of the rows is that of all references.
#[derive(Checkpoint, Debug, PartialEq)]
struct Mixed {
    id: u32,
    owns: Option<Box<Mixed>>,
    shares: Vec<Rc<RefCell<Mixed>>>,
}

#[test]
fn owned_and_shared_objects_may_lead_to_one_another() {
    let mut last: Vec<Rc<RefCell<Mixed>>> = Vec::new();
    let mut node = |id: u32, owns: Option<Box<Mixed>>| {
        let shares = last.iter().rev().take(2).cloned().collect();
        let inner = Mixed {
            id: id + 100,
            owns,
            shares,
        };
        let all = Mixed {
            id,
            owns: Some(Box::new(inner)),
            shares: last.last().cloned().into_iter().collect(),
        };
        last.push(Rc::new(RefCell::new(all)));
    };
    // Comparing goes along every path, of which there are three times as many with each.
    for id in 0..8 {
        let alone = Mixed {
            id: id + 200,
            owns: Some(Box::new(Mixed {
                id: id + 300,
                owns: None,
                shares: vec![],
            })),
            shares: vec![],
        };
        node(id, (id % 3 > 0).then(|| Box::new(alone)));
    }
    let back: Vec<Rc<RefCell<Mixed>>> = convert(&last);
    assert_eq!(back, last);
    let first = &back[6];
    let again = &back[7].borrow().shares[0];
    assert!(Rc::ptr_eq(first, again));
}

#[derive(Checkpoint)]
struct Twice<'a> {
    text: std::borrow::Cow<'a, str>,
    below: Vec<Twice<'a>>,
}

#[test]
fn types_that_borrow_may_contain_themselves() {
    let text = String::from("leaf");
    let leaf = || Twice {
        text: (&text).into(),
        below: vec![],
    };
    let value = Twice {
        text: "root".into(),
        below: vec![leaf(), leaf()],
    };
    let restored = through_a_file(&value);
    let back: Twice<'_> = restored.decode(0, "x").unwrap();
    assert_eq!(back.below[1].text, "leaf");
}

#[derive(Checkpoint, Debug)]
struct OtherTree {
    left: Option<Box<OtherTree>>,
    key: i8,
    right: Option<Box<OtherTree>>,
}

#[test]
fn another_type_is_refused() {
    let message = refuse::<Tree, OtherTree>(&tree(3, 1));
    assert!(message.contains("key"), "{message}");
    #[derive(Checkpoint, Debug)]
    #[allow(dead_code)]
    struct Lists {
        left: Option<Vec<u8>>,
        key: u32,
        right: Option<Vec<u8>>,
    }
    let message = refuse::<Tree, Lists>(&tree(3, 1));
    assert!(message.contains("left"), "{message}");
}
