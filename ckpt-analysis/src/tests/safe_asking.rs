//! Tests of requests and probes that do not wait: whether a message is there already is a matter of time.

use super::safe_points::{check, check_with, program};

fn ring(mark: &str, body: &str) {
    check(&program(&format!(
        "let next = world.process_at_rank((rank + 1) % size); let before = world.process_at_rank((rank + size - 1) % size);
         let mut x = f64::from(rank); let mut y = 0.0f64; let mut tries = 0; let mut polls = 0u64;
         for step in 0..100 {{ /*{mark}*/ {body} }}"
    )));
}

#[test]
fn a_request_that_is_tested_until_it_is_done() {
    for wait in [
        "let mut request = before.immediate_receive_into(scope, &mut y); next.send(&x);
         loop { match request.test() { Ok(_) => break, Err(again) => { request = again; x = compute(x); polls += 1; } } }",
        "let mut request = before.immediate_receive_into(scope, &mut y); next.send(&x);
         while let Err(again) = request.test() { request = again; polls += 1; }",
        "let request = before.immediate_receive_into(scope, &mut y); next.send(&x);
         let mut pending = Some(request);
         while let Some(one) = pending.take() { match one.test() { Ok(_) => {} Err(again) => { pending = Some(again); x = compute(x); } } }",
        "let mut request = next.immediate_send(scope, &x); y = before.receive::<f64>().0;
         while let Err(again) = request.test() { request = again; compute(1.0); }",
    ] {
        ring("safe", &format!("mpi::request::scope(|scope| {{ {wait} }});"));
    }
}

#[test]
fn what_is_done_without_an_answer_may_not_matter_to_others() {
    for wait in [
        // It gives up.
        "let mut request = before.immediate_receive_into(scope, &mut y); next.send(&x);
         loop { match request.test() { Ok(_) => break, Err(again) => { request = again; tries += 1; if tries > 3 { world.barrier(); break; } } } }",
        // It sends meanwhile.
        "let mut request = before.immediate_receive_into(scope, &mut y); next.send(&x);
         while let Err(again) = request.test() { request = again; next.send_with_tag(&x, 3); }",
        // It asks once.
        "let request = before.immediate_receive_into(scope, &mut y); next.send(&x);
         if request.test().is_ok() { world.barrier(); }",
    ] {
        ring("unsafe", &format!("mpi::request::scope(|scope| {{ {wait} }});"));
    }
    // How often it had to ask differs between the ranks.
    ring(
        "unsafe",
        "tries = 0; mpi::request::scope(|scope| { let mut request = before.immediate_receive_into(scope, &mut y); next.send(&x);
         while let Err(again) = request.test() { request = again; tries += 1; } }); if tries > 0 { world.barrier(); }",
    );
    // It is begun before the site.
    check(&program(
        "let next = world.process_at_rank((rank + 1) % size); let before = world.process_at_rank((rank + size - 1) % size);
         for step in 0..100 { let mut request = before.immediate_receive::<f64>();
             /*unsafe*/
             next.send(&1.0);
             request.get(); }",
    ));
}

#[test]
fn a_probe_that_is_repeated_until_a_message_is_there() {
    let farm = |ask: &str| {
        format!(
            "let mut x = 0.0f64; let mut idle = 0u64;
             for step in 0..20 {{
                 /*mark*/
                 if rank == 0 {{ let mut open = size - 1; while open > 0 {{ {ask} }} }}
                 else {{ world.process_at_rank(0).send(&x); }}
                 world.barrier();
             }}"
        )
    };
    for ask in [
        "if let Some(status) = world.any_process().immediate_probe() { x += world.process_at_rank(status.source_rank()).receive::<f64>().0; open -= 1; } else { idle += 1; }",
        "match world.any_process().immediate_probe() { Some(status) => { x += world.process_at_rank(status.source_rank()).receive::<f64>().0; open -= 1; } None => compute(x) }",
        "if let Some((message, _)) = world.any_process().immediate_matched_probe() { x += message.matched_receive::<f64>().0; open -= 1; }",
        "let status = loop { if let Some(status) = world.any_process().immediate_probe() { break status; } idle += 1; }; x += world.process_at_rank(status.source_rank()).receive::<f64>().0; open -= 1;",
    ] {
        let text = program(&farm(ask));
        check(&text.replace("mark", "safe"));
        let hasty = text.replace("open > 0", "open > 1");
        for (_, verdict) in check_with(&hasty.replace("mark", "unsafe"), Some(3)) {
            assert!(verdict.is_err(), "{verdict:?}\n{hasty}");
        }
    }
    // Once, and on without it.
    let once = farm(
        "open -= 1; if let Some(status) = world.any_process().immediate_probe() { x += world.process_at_rank(status.source_rank()).receive::<f64>().0; }",
    );
    for (_, verdict) in check_with(&program(&once.replace("mark", "unsafe")), Some(3)) {
        let told = verdict.unwrap_err().to_string();
        assert!(
            told.contains("immediate_probe") && told.contains("matter of time"),
            "{told}"
        );
    }
}

#[test]
fn communicators_of_groups_are_followed() {
    for make in [
        "let even = world.group().include(&(0..size).step_by(2).collect::<Vec<_>>()); let part = world.split_by_subgroup_collective(&even);",
        "let all = world.group(); let odd = all.exclude(&(0..size).step_by(2).collect::<Vec<_>>()); let even = all.difference(&odd); let part = world.split_by_subgroup(&even);",
        "let mine: Vec<i32> = (0..size).filter(|one| one % 2 == rank % 2).collect(); let part = world.split_by_subgroup_with_tag(&world.group().include(&mine), 3);",
    ] {
        check(&program(&format!(
            "{make} let mut x = 1.0f64;
             for step in 0..100 {{
                 /*safe*/
                 if let Some(part) = &part {{
                     let (rank, size) = (part.rank(), part.size());
                     part.process_at_rank((rank + 1) % size).send(&x);
                     x = part.process_at_rank((rank + size - 1) % size).receive::<f64>().0;
                     part.barrier();
                 }}
             }}"
        )));
        check(&program(&format!(
            "{make} let mut x = 1.0f64;
             for step in 0..100 {{
                 /*unsafe*/
                 if let Some(part) = &part {{
                     if step > 0 && part.rank() > 0 {{ x = part.process_at_rank(part.rank() - 1).receive::<f64>().0; }}
                     if part.rank() + 1 < part.size() {{ part.process_at_rank(part.rank() + 1).send(&x); }}
                 }}
             }}"
        )));
    }
    check(&program(
        "let some = world.group().include(&members()); let part = world.split_by_subgroup_collective(&some);
         for step in 0..100 { /*unsafe*/ if let Some(part) = &part { part.barrier(); } }",
    ));
}
