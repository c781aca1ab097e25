//! Where the sites of programs that pass messages go.

use super::{placed, sites};
use crate::placement::Holder;
use crate::{LoopId, Placement};

fn main_with(body: &str) -> String {
    format!(
        "use mpi::traits::*;
         fn work(u: &mut [f64]) {{ for k in 0..2000 {{ for i in 1..u.len() {{ u[i] = 0.5 * (u[i - 1] + u[i]); }} }} }}
         fn main() {{
             let universe = mpi::initialize().unwrap(); let world = universe.world();
             let (rank, size) = (world.rank(), world.size());
             let mut u = vec![1.0f64; 1000];
             {body}
         }}"
    )
}

fn place(body: &str) -> Placement {
    placed(&[("main.rs", &main_with(body))]).1
}

const RING: &str = "let right = world.process_at_rank((rank + 1) % size); let left = world.process_at_rank((rank + size - 1) % size);";

#[test]
fn a_safe_loop_is_taken_and_told_why() {
    let placement = place(&format!(
        "{RING} for step in 0..1000 {{ right.send(&u[..]); left.receive_into(&mut u[..]); work(&mut u); }}"
    ));
    assert_eq!(sites(&placement), ["for step in 0..1000"]);
    let told = placement.sites[0].safe.as_deref().unwrap();
    assert_eq!(
        told,
        "no message crosses it with 1, 2, 3, 4, 5 and 8 ranks, however often the loops go round"
    );
}

#[test]
fn a_site_moves_to_the_next_safe_statement() {
    let text = main_with(&format!(
        "{RING} right.send(&u[..]);
         for step in 0..1000 {{ left.receive_into(&mut u[..]); work(&mut u); right.send(&u[..]); }}
         left.receive_into(&mut u[..]);"
    ));
    let (_, placement) = placed(&[("main.rs", &text)]);
    let site = &placement.sites[0];
    assert!(matches!(site.site.holder, Holder::Inside(_)), "{:?}", site.site);
    assert!(text[site.site.at..].starts_with("work(&mut u);"));
    assert!(site.why.contains("a message may be on its way"), "{}", site.why);
    assert!(placement.rejected.is_empty(), "{:?}", placement.rejected);
}

#[test]
fn a_site_moves_to_the_loop_around() {
    let placement = place(
        "for round in 0..50 {
             for step in 0..200 { work(&mut u); if step >= rank && step < 190 + rank { world.process_at_rank((rank + 1) % size).send(&u[0]); } }
             for step in 0..190 { world.process_at_rank((rank + size - 1) % size).receive::<f64>(); }
         }",
    );
    assert_eq!(sites(&placement), ["for round in 0..50"]);
}

#[test]
fn with_no_safe_point_the_call_in_the_way_is_named() {
    let placement = place(
        "for step in 0..1000 {
             work(&mut u); u[0] += f64::from(std::process::id());
             if u[0] > u[1] { world.process_at_rank((rank + 1) % size).send(&u[0]); }
         }",
    );
    assert!(placement.sites.is_empty());
    let reason = &placement.rejected[0].reasons[0];
    assert!(
        reason
            .cause
            .words()
            .what
            .to_string()
            .contains("it is not a safe point")
            && reason.cause.words().what.to_string().contains("depends on data"),
        "{reason}"
    );
    assert_eq!(reason.line, Some(9));
}

#[test]
fn a_site_of_the_user_is_checked_unless_vouched_for() {
    let body = |site: &str| {
        format!(
            "{RING} for step in 0..1000 {{ right.send(&u[..]); {site} left.receive_into(&mut u[..]); work(&mut u); }}"
        )
    };
    let refused = place(&body("ckpt::checkpoint!();"));
    assert!(refused.sites.is_empty());
    let what = &refused.rejected[0].reasons[0].cause.words().what.to_string();
    assert!(
        what.contains("`send`") && what.contains("still on its way"),
        "{what}"
    );
    let vouched = place(&body("ckpt::checkpoint!(safe);"));
    assert_eq!(vouched.sites.len(), 1);
    assert!(
        vouched.sites[0]
            .safe
            .as_deref()
            .unwrap()
            .starts_with("you vouch for it")
    );
}

/// An attribute sees one function only: which loop it would choose is not looked at, and so not taken.
#[test]
fn an_attribute_does_not_choose_the_loop() {
    let text = |attribute: &str, site: &str| {
        let ring = "right.send(&u[..]); left.receive_into(&mut u[..]); work(&mut u);";
        main_with(&format!("{RING} for step in 0..1000 {{ {site} {ring} }}"))
            .replace("fn main", &format!("#[ckpt::main{attribute}] fn main"))
    };
    for attribute in ["", "()", "(calls())", "(means(pure(calls)))"] {
        let (_, placement) = placed(&[("main.rs", &text(attribute, ""))]);
        assert!(placement.sites.is_empty(), "{attribute}");
        let reason = &placement.rejected[0].reasons[0];
        assert!(
            reason
                .cause
                .words()
                .what
                .to_string()
                .contains("its attribute would choose a loop of `main`"),
            "{reason}"
        );
    }
    let (_, placement) = placed(&[("main.rs", &text("", "ckpt::checkpoint!();"))]);
    assert!(placement.rejected.is_empty(), "{:?}", placement.rejected);
    let safe = placement.sites[0].safe.as_deref().unwrap();
    assert!(safe.starts_with("no message crosses it"), "{safe}");
}

/// Also where the function is not `main`, and where no message is exchanged in it.
#[test]
fn sites_in_other_functions_are_looked_at() {
    let text = |body: &str| {
        let ring = "right.send(&u[..]); left.receive_into(&mut u[..]);";
        main_with(&format!("{RING} for step in 0..100 {{ {ring} relax(&mut u); }}"))
            .replace("fn main", "#[ckpt::main(calls(relax))] fn main")
            + &format!(
                "#[ckpt::instrument] fn relax(u: &mut [f64]) {{ for turn in 0..2000 {{ {body} work(u); }} }}"
            )
    };
    let (_, placement) = placed(&[("main.rs", &text(""))]);
    assert!(placement.sites.is_empty());
    let (_, placement) = placed(&[("main.rs", &text("ckpt::checkpoint!();"))]);
    assert!(placement.rejected.is_empty(), "{:?}", placement.rejected);
    assert!(
        placement.sites[0]
            .safe
            .as_deref()
            .unwrap()
            .starts_with("no message")
    );
}

#[test]
fn threads_that_send_to_each_other_are_no_matter() {
    let (_, placement) = placed(&[(
        "main.rs",
        "use std::sync::mpsc; fn main() { let (tx, rx) = mpsc::channel(); let mut s = 0.0; for i in 0..100000 { tx.send(i).unwrap(); let v: i32 = rx.recv().unwrap(); for k in 0..v { s += (k as f64).sqrt(); } } println!(\"{s}\"); }",
    )]);
    assert!(placement.sites.iter().all(|site| site.safe.is_none()));
    assert!(
        placement
            .rejected
            .iter()
            .flat_map(|one| &one.reasons)
            .all(|one| !one.cause.words().what.to_string().contains("safe point"))
    );
}

/// Each gets its own, and a place behind it where the ranks wait for each other.
#[test]
fn loops_without_messages_one_after_the_other() {
    let (_, placement) = placed(&[(
        "main.rs",
        include_str!("../../../mpi/programs/phases/src/main.rs"),
    )]);
    let sites = placement.sites.iter();
    let found: Vec<(bool, bool, &str)> = sites
        .map(|one| {
            let holder = one.site.holder;
            let (within, behind) = (Holder::Phase, Holder::PhaseEnd);
            let is = |of: &dyn Fn(LoopId) -> Holder| (0..9).any(|id| of(LoopId(id)) == holder);
            (is(&within), is(&behind), one.header.as_str())
        })
        .collect();
    let loops = [
        "for item in chunk..2 * chunk",
        "for item in (rank..items).step_by(size)",
        "while left > 0.25",
    ];
    let expected: Vec<_> = loops
        .into_iter()
        .flat_map(|header| [(true, false, header), (false, true, header)])
        .collect();
    assert_eq!(found, expected, "{:?}", placement.rejected);
}
