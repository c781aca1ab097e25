//! Sites in the threads of a rank.

use super::safe_points::{check, check_with, program};

fn region(before: &str, turns: &str, body: &str, after: &str) -> String {
    let sets = "let sums = std::sync::Mutex::new(vec![0.0f64; 8]); let barrier = std::sync::Barrier::new(4);
        let stop = std::sync::atomic::AtomicBool::new(false); let mut x = rank as f64;";
    program(&format!(
        "{sets} let threads: usize = std::env::args().nth(1).unwrap().parse().unwrap();
         let next = world.process_at_rank((rank + 1) % size);
         let previous = world.process_at_rank((rank + size - 1) % size);
         for round in 0..5 {{
             {before}
             std::thread::scope(|s| {{
                 for k in 0..threads {{
                     let (sums, barrier, stop) = (&sums, &barrier, &stop);
                     s.spawn(move || {{
                         let mut own = 0.0;
                         {turns} {{
                             /*mark*/
                             own += 1.0; sums.lock().unwrap()[k] = own; barrier.wait();
                             {body}
                         }}
                     }});
                 }}
             }});
             {after}
         }}"
    ))
}

fn safe(text: &str) {
    check(&text.replace("/*mark*/", "/*safe*/"));
}

fn refused(text: &str, why: &str) {
    for (_, verdict) in check_with(&text.replace("/*mark*/", "/*unsafe*/"), None) {
        let told = verdict.expect_err(text).to_string();
        assert!(told.contains(why), "{told}\n{text}");
    }
}

const RING: &str = "let (y, _): (f64, _) = mpi::point_to_point::send_receive(&x, &next, &previous); x += y;";
const TURNS: &str = "for turn in 0..10";

#[test]
fn what_is_exchanged_before_and_behind_a_region_does_not_cross_it() {
    safe(&region(RING, TURNS, "", ""));
    safe(&region("", TURNS, "", RING));
    safe(&region(
        RING,
        TURNS,
        "if own > 5.0 { sums.lock().unwrap()[0] += own; }",
        "world.barrier();",
    ));
    safe(&region("", "for turn in 0..threads * 3", "", RING));
}

#[test]
fn a_message_that_is_under_way_while_threads_work_crosses() {
    refused(
        &region("next.send(&x);", TURNS, "", "x = previous.receive::<f64>().0;"),
        "on its way",
    );
    // The wavefront goes from rank to rank: those behind have received what those in front have not sent yet.
    let text = region(
        "if rank > 0 { x = world.process_at_rank(rank - 1).receive::<f64>().0; }",
        TURNS,
        "",
        "if rank < size - 1 { world.process_at_rank(rank + 1).send(&x); }",
    );
    for (_, verdict) in check_with(&text.replace("/*mark*/", "/*unsafe*/"), None) {
        verdict.expect_err("an orphan");
    }
}

#[test]
fn threads_that_exchange_messages_are_not_followed() {
    let told = "a region whose threads have sites exchanges messages";
    refused(&region("", TURNS, "if k == 0 { world.barrier(); }", ""), told);
    refused(
        &region(
            "",
            TURNS,
            "next.send(&own); let (y, _) = previous.receive::<f64>();",
            "",
        ),
        told,
    );
}

#[test]
fn all_ranks_stop_equally_often_in_a_region() {
    refused(&region("", "for turn in 0..rank", "", RING), "passed the site");
    refused(
        &region(
            "",
            "while !stop.load(std::sync::atomic::Ordering::Relaxed)",
            "",
            RING,
        ),
        "data",
    );
    refused(
        &region("", TURNS, "if sums.lock().unwrap()[0] > 3.0 { break; }", RING),
        "data",
    );
    refused(
        &region(
            "let threads = std::thread::available_parallelism().unwrap().get();",
            TURNS,
            "",
            RING,
        ),
        "data",
    );
}

/// Machines may have different numbers of cores: what one rank has asked for is the same once all have it from that rank.
#[test]
fn ranks_agree_on_a_number_of_threads() {
    let asks = "let mut threads = std::thread::available_parallelism().unwrap().get();";
    let agrees = "world.process_at_rank(0).broadcast_into(&mut threads);";
    safe(&region(&format!("{asks} {agrees}"), TURNS, "", RING));
    let least = "let mut least = 0usize; world.all_reduce_into(&threads, &mut least, mpi::collective::SystemOperation::min()); let threads = least;";
    safe(&region(&format!("{asks} {least}"), TURNS, "", RING));
}

#[test]
fn teams_and_functions_as_bodies_are_followed() {
    let team = |body: &str, after: &str| {
        format!(
            "fn work(k: usize, n: usize) {{ for turn in 0..n {{ /*mark*/ let y = k as f64; }} }} {}",
            program(&format!(
                "let mut x = 1.0f64; let mut part = vec![0.0f64; 10];
                 let next = world.process_at_rank((rank + 1) % size);
                 let previous = world.process_at_rank((rank + size - 1) % size);
                 for round in 0..5 {{ {body} {after} }}"
            ))
        )
    };
    safe(&team(
        "ckpt::team(3).run(|member| work(member.number(), 10));",
        RING,
    ));
    safe(&team(
        "let sums = ckpt::team(3).run_on(&mut part, |member, part| { work(part.len(), 10); 3.0 });",
        RING,
    ));
    safe(&team(
        "crossbeam::scope(|s| { s.spawn(|_| work(1, 10)); }).unwrap();",
        RING,
    ));
    let outlives = team(
        "let h = std::thread::spawn(|| work(1, 10)); h.join().unwrap();",
        RING,
    );
    refused(&outlives, "in `std::thread::scope` only");
    let share = team(
        "std::thread::scope(|s| { s.spawn(|| work(1, 10)); for turn in 0..10 { world.barrier(); } });",
        RING,
    );
    refused(&share, "exchanges messages");
}
