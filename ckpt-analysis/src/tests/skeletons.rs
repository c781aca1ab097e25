//! Random communication skeletons: what the analysis calls safe is checked against a simulator that tries every order in
//! which the ranks may go on. `CKPT_SKELETONS=500` makes that many programs; without it a share of them.
//! `CKPT_SKELETONS_SEED` makes others.

use super::analysed;
use super::simulator::{Event, Truth, simulate};

/// Programs without the option.
const SHARE: u64 = 40;

/// Turns of the main loop.
const TURNS: i64 = 3;

/// Numbers of ranks: the simulator goes through every order, so few.
const RANKS: [i64; 3] = [1, 2, 3];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    fn chance(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }
}

/// Who sends to whom.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// To the rank below, which has one above.
    Down,
    Up,
    /// Around the ring, by this many.
    Ring(i64),
    Pairs,
    /// From all to one.
    Gather(bool),
    /// From one to all.
    Scatter,
    /// Every other turn to the right.
    Alternate,
}

/// What a statement of the loop's body does.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// The sending half of an exchange, and the receiving half; whether any source or any tag will do; whether it is of
    /// the turn before.
    Send(Shape, i64),
    Receive {
        shape: Shape,
        tag: Option<i64>,
        any: bool,
        late: bool,
        /// Whether it asks until the message is there.
        asks: bool,
    },
    /// Workers ask the first rank, which answers whoever comes.
    Ask,
    /// Everyone goes through: barrier, sum, broadcast, gather.
    All(u64),
    Nothing,
}

struct Skeleton {
    parts: Vec<Part>,
    /// Whether the number of turns comes from the command line.
    of_any_length: bool,
}

fn skeleton(random: &mut Random) -> Skeleton {
    let mut parts: Vec<(u64, Part)> = Vec::new();
    for index in 0..1 + random.below(3) {
        match random.below(8) {
            0 => parts.push((random.below(100), Part::All(random.below(4)))),
            1 => parts.push((random.below(100), Part::Ask)),
            _ => {
                let shape = match random.below(8) {
                    0 => Shape::Down,
                    1 => Shape::Up,
                    2 => Shape::Ring(1),
                    3 => Shape::Ring(2),
                    4 => Shape::Pairs,
                    5 => Shape::Gather(random.chance(2)),
                    6 => Shape::Scatter,
                    _ => Shape::Alternate,
                };
                let tag = 10 * index as i64 + random.below(2) as i64;
                let (send, receive) = (random.below(100), random.below(100));
                // Half of the exchanges begin and end in one turn; the others where they fall.
                let (send, receive) = if random.chance(2) {
                    (send.min(receive), send.max(receive))
                } else {
                    (send, receive)
                };
                let any = matches!(shape, Shape::Gather(true)) || random.chance(10);
                let wanted = if random.chance(4) { None } else { Some(tag) };
                parts.push((send, Part::Send(shape, tag)));
                let late = receive < send;
                parts.push((
                    receive,
                    Part::Receive {
                        shape,
                        tag: wanted,
                        any,
                        late,
                        asks: random.chance(4),
                    },
                ));
            }
        }
    }
    if random.chance(3) {
        parts.push((random.below(100), Part::All(random.below(2))));
    }
    parts.push((random.below(100), Part::Nothing));
    parts.sort_by_key(|(at, _)| *at);
    Skeleton {
        parts: parts.into_iter().map(|(_, part)| part).collect(),
        of_any_length: random.chance(3),
    }
}

/// Where a rank sends in a turn.
fn targets(shape: Shape, rank: i64, size: i64, turn: i64) -> Vec<i64> {
    let inside = |one: i64| {
        if (0..size).contains(&one) {
            vec![one]
        } else {
            Vec::new()
        }
    };
    match shape {
        Shape::Down => inside(rank - 1),
        Shape::Up => inside(rank + 1),
        Shape::Ring(by) => vec![(rank + by) % size],
        Shape::Pairs => inside(rank ^ 1),
        Shape::Gather(_) => {
            if rank == 0 {
                Vec::new()
            } else {
                vec![0]
            }
        }
        Shape::Scatter => {
            if rank == 0 {
                (1..size).collect()
            } else {
                Vec::new()
            }
        }
        Shape::Alternate => {
            if turn % 2 == rank % 2 {
                vec![(rank + 1) % size]
            } else {
                Vec::new()
            }
        }
    }
}

/// From whom a rank receives.
fn sources(shape: Shape, rank: i64, size: i64, turn: i64) -> Vec<i64> {
    let senders = (0..size).flat_map(|from| {
        targets(shape, from, size, turn)
            .into_iter()
            .map(move |to| (from, to))
    });
    senders
        .filter(|(_, to)| *to == rank)
        .map(|(from, _)| from)
        .collect()
}

impl Skeleton {
    fn events(&self, rank: i64, size: i64, site: usize) -> Vec<Event> {
        let mut events = Vec::new();
        for turn in 0..TURNS {
            for (at, part) in self.parts.iter().enumerate() {
                if at == site {
                    events.push(Event::Site);
                }
                self.part(*part, rank, size, turn, &mut events);
            }
        }
        // What was sent in the last turn and is received in the next.
        for part in &self.parts {
            if let Part::Receive { late: true, .. } = part {
                self.part(*part, rank, size, TURNS, &mut events);
            }
        }
        events
    }

    fn part(&self, part: Part, rank: i64, size: i64, turn: i64, events: &mut Vec<Event>) {
        match part {
            Part::Send(shape, tag) => {
                let all = targets(shape, rank, size, turn).into_iter();
                events.extend(all.map(|to| Event::Send { to: to as usize, tag }));
            }
            Part::Receive {
                shape,
                tag,
                any,
                late,
                ..
            } => {
                let of = if late { turn - 1 } else { turn };
                if of >= 0 {
                    for from in sources(shape, rank, size, of) {
                        let from = (!any).then_some(from as usize);
                        events.push(Event::Receive { from, tag });
                    }
                }
            }
            Part::Ask if rank == 0 => (1..size).for_each(|_| events.push(Event::Answer { tag: 99 })),
            Part::Ask => {
                events.push(Event::Send { to: 0, tag: 99 });
                events.push(Event::Receive {
                    from: Some(0),
                    tag: Some(99),
                });
            }
            Part::All(kind) => events.push(Event::All(kind)),
            Part::Nothing => {}
        }
    }

    fn text(&self) -> String {
        let mut body = String::new();
        for part in &self.parts {
            body += &format!("        {}\n", statement(*part, "it"));
        }
        let mut behind = String::new();
        for part in &self.parts {
            if let Part::Receive { late: true, .. } = part {
                behind += &format!("    {{ let it = n; {} }}\n", statement(*part, "it"));
            }
        }
        let n = match self.of_any_length {
            true => format!("std::env::args().nth(1).map_or({TURNS}, |word| word.parse().unwrap())"),
            false => TURNS.to_string(),
        };
        format!(
            "use mpi::traits::*;\nfn main() {{\n    let universe = mpi::initialize().unwrap();\n    let world = universe.world();\n    \
             let (rank, size) = (world.rank(), world.size());\n    let mut x = f64::from(rank);\n    let n: i32 = {n};\n    for it in 0..n {{\n{body}    }}\n{behind}    \
             println!(\"{{x}}\");\n}}\n"
        )
    }
}

/// One statement.
fn statement(part: Part, it: &str) -> String {
    match part {
        Part::Send(shape, tag) => {
            let send = |to: &str| format!("world.process_at_rank({to}).send_with_tag(&x, {tag});");
            match shape {
                Shape::Down => format!("if rank > 0 {{ {} }}", send("rank - 1")),
                Shape::Up => format!("if rank < size - 1 {{ {} }}", send("rank + 1")),
                Shape::Ring(by) => send(&format!("(rank + {by}) % size")),
                Shape::Pairs => format!("{{ let partner = rank ^ 1; if partner < size {{ {} }} }}", send("partner")),
                Shape::Gather(_) => format!("if rank != 0 {{ {} }}", send("0")),
                Shape::Scatter => format!("if rank == 0 {{ for to in 1..size {{ {} }} }}", send("to")),
                Shape::Alternate => format!("if {it} % 2 == rank % 2 {{ {} }}", send("(rank + 1) % size")),
            }
        }
        Part::Receive { shape, tag, any, late, asks } => {
            let probe = match tag {
                Some(tag) => format!("immediate_probe_with_tag({tag})"),
                None => "immediate_probe()".into(),
            };
            let call = match tag {
                Some(tag) => format!("receive_with_tag::<f64>({tag})"),
                None => "receive::<f64>()".into(),
            };
            let whom = |from: &str| match any {
                true => "world.any_process()".to_owned(),
                false => format!("world.process_at_rank({from})"),
            };
            let receive = |from: &str| match any {
                _ if asks => format!(
                    "loop {{ if let Some(status) = {}.{probe} {{ x += world.process_at_rank(status.source_rank())\
                     .receive_with_tag::<f64>(status.tag()).0; break; }} x *= 0.5; }}",
                    whom(from)
                ),
                true => format!("x += world.any_process().{call}.0;"),
                false => format!("x += world.process_at_rank({from}).{call}.0;"),
            };
            let of = if late { format!("({it} - 1)") } else { it.to_owned() };
            let text = match shape {
                Shape::Down => format!("if rank < size - 1 {{ {} }}", receive("rank + 1")),
                Shape::Up => format!("if rank > 0 {{ {} }}", receive("rank - 1")),
                Shape::Ring(by) => receive(&format!("(rank - {by}).rem_euclid(size)")),
                Shape::Pairs => format!("{{ let partner = rank ^ 1; if partner < size {{ {} }} }}", receive("partner")),
                Shape::Gather(_) => format!("if rank == 0 {{ for from in 1..size {{ {} }} }}", receive("from")),
                Shape::Scatter => format!("if rank != 0 {{ {} }}", receive("0")),
                Shape::Alternate => format!(
                    "{{ let left = (rank + size - 1) % size; if {of} % 2 == left % 2 {{ {} }} }}",
                    receive("left")
                ),
            };
            if late { format!("if {it} > 0 {{ {text} }}") } else { text }
        }
        Part::Ask => "if rank == 0 { for _ in 1..size { let (y, status) = world.any_process().receive_with_tag::<f64>(99); \
             world.process_at_rank(status.source_rank()).send_with_tag(&(y + 1.0), 99); } } else { let boss = world.process_at_rank(0); \
             boss.send_with_tag(&x, 99); x = boss.receive_with_tag::<f64>(99).0; }"
            .into(),
        Part::All(0) => "world.barrier();".into(),
        Part::All(1) => {
            "{ let mut sum = 0.0; world.all_reduce_into(&x, &mut sum, mpi::collective::SystemOperation::sum()); x = sum; }".into()
        }
        Part::All(2) => "world.process_at_rank(0).broadcast_into(&mut x);".into(),
        Part::All(_) => "if rank == 0 { let mut all = vec![0.0; size as usize]; world.process_at_rank(0).gather_into_root(&x, &mut all[..]); } \
             else { world.process_at_rank(0).gather_into(&x); }"
            .into(),
        Part::Nothing => "x *= 0.5;".into(),
    }
}

#[derive(Debug, Default)]
struct Score {
    programs: usize,
    truly_safe: usize,
    found: usize,
    truly_unsafe: usize,
    deadlocks: usize,
}

fn check_one(skeleton: &Skeleton, score: &mut Score) {
    let text = skeleton.text();
    let analysis = analysed(&[("main.rs", &text)]);
    let main = analysis.items.main_of(0).expect("a main");
    let body_at = analysis.graph.loops[0].body_at.expect("a body");
    for size in RANKS {
        let points = analysis
            .safe_points(main, Some(size as usize))
            .expect("it uses MPI");
        let boundaries = points.boundaries_of(main.0, body_at);
        assert_eq!(boundaries.len(), skeleton.parts.len(), "{text}");
        for (site, (at, _)) in boundaries.into_iter().enumerate() {
            let lists = (0..size).map(|rank| skeleton.events(rank, size, site)).collect();
            let truth = simulate(lists);
            let verdict = points.check(&[(main.0, at)]);
            match truth {
                Truth::Safe => {
                    score.truly_safe += 1;
                    score.found += usize::from(verdict.is_ok());
                }
                Truth::Crossed(how) => {
                    score.truly_unsafe += 1;
                    assert!(
                        verdict.is_err(),
                        "taken for safe with {size} ranks, statement {site}, but {how}: {verdict:?}\n{text}"
                    );
                }
                Truth::Stuck | Truth::TooMany => score.deadlocks += 1,
            }
        }
    }
}

#[test]
fn nothing_is_taken_for_safe_that_is_not() {
    let asked = std::env::var("CKPT_SKELETONS")
        .ok()
        .and_then(|text| text.parse().ok());
    let mut score = Score::default();
    let asked_seed = std::env::var("CKPT_SKELETONS_SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    let mut seed = asked_seed.unwrap_or(0);
    while (score.programs as u64) < asked.unwrap_or(SHARE) {
        let mut random = Random(seed);
        seed += 1;
        (0..4).for_each(|_| _ = random.below(2));
        check_one(&skeleton(&mut random), &mut score);
        score.programs += 1;
    }
    let share = 100.0 * score.found as f64 / score.truly_safe.max(1) as f64;
    println!("{score:?}: {share:.1} % of the safe points found");
    assert!(score.truly_unsafe > 0 && share > 90.0, "{score:?}: {share:.1} %");
}
