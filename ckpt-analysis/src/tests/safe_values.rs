//! What has to be known of values to tell whether a message crosses: the same on all ranks, or not, through lists, closures,
//! messages and cases.

use super::safe_points::{check, check_with, program};

/// A loop whose body decides about a message on something that is not the same on all ranks.
fn differs(setup: &str, body: &str) {
    check(&program(&format!(
        "let n: usize = std::env::args().nth(1).map_or(10, |s| s.parse().unwrap());
         let mut stop = false;
         {setup}
         for step in 0..100 {{ /*unsafe*/ {body} if stop {{ world.barrier(); }} }}"
    )));
}

/// The same, decided alike.
fn same(setup: &str, body: &str) {
    check(&program(&format!(
        "let n: usize = std::env::args().nth(1).map_or(10, |s| s.parse().unwrap());
         let mut stop = false;
         {setup}
         for step in 0..100 {{ /*safe*/ {body} if stop {{ world.barrier(); }} }}"
    )));
}

#[test]
fn what_a_move_closure_assigns_is_its_own() {
    // Inside, the counter is 1 at once; outside it stays what it was, which differs between the ranks.
    differs(
        "let mut k = rank; let mut next = move || { k = 7; k };",
        "next(); stop = k == 7;",
    );
    same(
        "let mut k = 3; let mut next = move || { k += rank; k };",
        "next(); stop = k == 3;",
    );
    same(
        "let k = 3; let twice = move |x: i32| x * k;",
        "stop = twice(2) == 6;",
    );
}

#[test]
fn a_constant_of_a_block_says_nothing_of_another() {
    let decides = "if K == 1 { stop = rank > 0; }";
    differs("{ const K: i32 = 2; stop = K > 5; } const K: i32 = 1;", decides);
    let text = program(&format!(
        "let mut stop = false;
         for step in 0..100 {{ /*unsafe*/ {{ const K: i32 = 2; stop = K > 5; }} {decides} if stop {{ world.barrier(); }} }}"
    ));
    check(&format!("{text} const K: i32 = 1;"));
    same("", "{ const K: i32 = 2; if K == 1 { stop = rank > 0; } }");
}

#[test]
fn a_closure_that_outlives_its_call_is_not_followed() {
    let text = program(
        "let mut f = counter(rank); let mut g = counter(0);
         for step in 0..100 { /*unsafe*/ if f() > g() { world.barrier(); } }",
    );
    check(&format!(
        "{text} fn counter(from: i32) -> impl FnMut() -> i32 {{ let mut k = from; move || {{ k += 1; k }} }}"
    ));
}

#[test]
fn elements_that_are_written_by_reference_are_written() {
    for write in [
        "for x in list.iter_mut() { *x = rank; }",
        "for x in &mut list { *x = rank; }",
        "list.iter_mut().for_each(|x| *x = rank);",
        "for (i, x) in list.iter_mut().enumerate() { *x = rank + i as i32; }",
        "for (x, y) in list.iter_mut().zip(0..) { *x = rank + y; }",
        "if let Some(x) = list.first_mut() { *x = rank; }",
        "if let Some((x, _)) = list.split_first_mut() { *x = rank; }",
        "list[0..2].copy_from_slice(&[rank, rank]);",
        "list.fill(rank);",
        "let part = &mut list[0..2]; part[0] = rank; part[1] = rank;",
        "let part = &mut list[n..]; part[0] = rank;",
        "world.process_at_rank(rank).send(&rank); world.process_at_rank(rank).receive_into(&mut list[0..1]);",
        "list.chunks_mut(2).for_each(|c| c[0] = rank);",
        "let x = list.iter_mut().max().unwrap(); *x = rank;",
    ] {
        for list in [
            "vec![0; n]",
            "vec![0; 10]",
            "vec![0; 100]",
            "std::env::args().map(|_| 0).collect::<Vec<i32>>()",
        ] {
            differs(
                &format!("let mut list = {list};"),
                &format!("{write} stop = list[0] > 0;"),
            );
        }
    }
}

/// One rank sends where another receives, which is the same question in two types.
#[test]
fn a_number_stays_the_same_number_in_another_type() {
    for other in [
        "n.try_into().unwrap()",
        "(&n).try_into().expect(\"a small number\")",
        "i32::try_from(n).unwrap()",
        "(i32::try_from(n)).expect(\"a small number\")",
        "mpi::Count::try_from(n).unwrap()",
        "n.try_into().ok().unwrap()",
        "n.into()",
        "i64::from(n)",
    ] {
        check(&program(&format!(
            "let n: usize = std::env::args().nth(1).map_or(10, |s| s.parse().unwrap());
             let m = {other};
             for step in 0..100 {{
                 /*safe*/
                 if rank == 0 && size > 1 && m > 3 {{ world.process_at_rank(1).send(&1); }}
                 if rank == 1 && n > 3 {{ world.process_at_rank(0).receive::<i32>(); }}
             }}"
        )));
    }
    for (setup, decides) in [
        ("let r: usize = rank.try_into().unwrap();", "stop = r > 0;"),
        ("let r = usize::try_from(rank).unwrap();", "stop = r > 0;"),
        ("let r = i64::from(rank);", "stop = r > 0;"),
        ("let r: i64 = rank.into();", "stop = r > 0;"),
        ("", "stop = usize::try_from(rank - 1).is_ok();"),
    ] {
        differs(setup, decides);
    }
    same("", "stop = i64::try_from(rank - 1).is_ok();");
}

/// The neighbours of a rank, as numbers of another type that not all of them are.
#[test]
fn a_number_that_has_no_value_of_another_type() {
    for left in ["usize::try_from(rank - 1)", "u32::try_from(rank - 1)"] {
        check(&program(&format!(
            "for step in 0..100 {{
                 /*safe*/
                 if rank + 1 < size {{ world.process_at_rank(rank + 1).send(&1); }}
                 if let Ok(left) = {left} {{ world.process_at_rank(left as i32).receive::<i32>(); }}
             }}"
        )));
    }
}

#[test]
fn an_element_with_the_index_of_the_rank_differs() {
    differs(
        "let list: Vec<i32> = std::env::args().map(|s| s.len() as i32).collect(); let list = list;",
        "stop = list[rank as usize] > 3;",
    );
    differs(
        "let mut list: Vec<i32> = std::env::args().map(|s| s.len() as i32).collect();",
        "let x = &mut list[rank as usize]; stop = *x > 3;",
    );
    same(
        "let list: Vec<i32> = std::env::args().map(|s| s.len() as i32).collect();",
        "stop = list[0] > 3;",
    );
}

#[test]
fn the_length_of_a_list_stays_when_its_elements_change() {
    same(
        "let mut u = vec![0.0; n];",
        "for i in 0..u.len() { u[i] += f64::from(rank); } u[0] *= 2.0; for x in u.iter_mut() { *x += 1.0; } stop = u.len() > 20;",
    );
    same(
        "let mut u = vec![vec![0.0; n]; n];",
        "for row in u.iter_mut() { for x in row.iter_mut() { *x += f64::from(rank); } } stop = u.len() > 20;",
    );
    differs(
        "let mut u = vec![0.0; n];",
        "if rank > 0 { u.push(1.0); } stop = u.len() > 20;",
    );
    differs(
        "let mut u = vec![vec![0.0; n]; n];",
        "u[0].truncate(rank as usize); stop = u[0].len() > 20;",
    );
}

/// A pipeline over rows that are as many on all ranks, to the right and to the left in turn.
#[test]
fn a_wavefront_over_rows_changes_its_direction() {
    let text = program(
        "let n: usize = std::env::args().nth(1).map_or(10, |s| s.parse().unwrap());
         let mut grid = vec![vec![0.0f64; n]; n];
         for number in 0..n {
             /*safe*/
             let (before, after) = if number % 2 == 0 { (rank - 1, rank + 1) } else { (rank + 1, rank - 1) };
             for (row, cells) in grid.iter_mut().enumerate() {
                 let border = if (0..size).contains(&before) { world.process_at_rank(before).receive::<f64>().0 } else { 0.5 };
                 for cell in cells.iter_mut() { *cell += border * row as f64; }
                 if (0..size).contains(&after) { world.process_at_rank(after).send(&cells[0]); }
             }
         }",
    );
    check(&text);
    // A row less on one rank, and a message is left over.
    check(&text.replace("/*safe*/", "/*unsafe*/").replace(
        "vec![vec![0.0f64; n]; n]",
        "vec![vec![0.0f64; n]; n + rank as usize]",
    ));
}

const FARM: &str = "let n: u64 = std::env::args().nth(1).map_or(10, |s| s.parse().unwrap());
     for round in 0..n {
         /*safe*/
         if rank == 0 {
             let (mut next, mut working) = (0, 0);
             for w in 1..size {
                 let task = if next < n { next } else { u64::MAX };
                 world.process_at_rank(w).send(&task);
                 if task != u64::MAX { next += 1; working += 1; }
             }
             while working > 0 {
                 let (_, status) = world.any_process().receive::<f64>();
                 let task = if next < n { next } else { u64::MAX };
                 world.process_at_rank(status.source_rank()).send(&task);
                 if task == u64::MAX { working -= 1; } else { next += 1; }
             }
         } else {
             loop {
                 let (task, _) = world.process_at_rank(0).receive::<u64>();
                 if task == u64::MAX { break; }
                 world.process_at_rank(0).send(&(task as f64));
             }
         }
     }";

#[test]
fn workers_are_told_the_end_by_a_message() {
    let verdicts = |text: &str| [2, 3, 4].map(|ranks| check_with(&program(text), Some(ranks)).remove(0).1);
    for verdict in verdicts(FARM) {
        assert!(verdict.is_ok(), "{verdict:?}");
    }
    // The master counts one task too few: a worker's result is left over.
    let hasty = FARM.replace("while working > 0", "while working > 1");
    for verdict in verdicts(&hasty) {
        assert!(verdict.is_err(), "{verdict:?}");
    }
}

#[test]
fn ranks_in_each_dimension_come_from_the_command_line() {
    let text = |check: &str| {
        program(&format!(
            "let numbers: Vec<i32> = std::env::args().skip(1).map(|s| s.parse().unwrap()).collect();
             let (px, py) = (numbers[0], numbers[1]);
             {check}
             let (x, y) = (rank % px, rank / px);
             for step in 0..100 {{
                 /*mark*/
                 if x > 0 {{ world.process_at_rank(rank - 1).send(&1.0); }}
                 if x + 1 < px {{ let _ = world.process_at_rank(rank + 1).receive::<f64>(); }}
                 if y > 0 {{ world.process_at_rank(rank - px).send(&1.0); }}
                 if y + 1 < py {{ let _ = world.process_at_rank(rank + px).receive::<f64>(); }}
             }}"
        ))
    };
    for checked in [
        "assert_eq!(px * py, size);",
        "assert!(size == px * py, \"{px} times {py}\");",
        "if px * py != size { eprintln!(\"no\"); std::process::exit(1); }",
        "if px * py != size { world.abort(1); }",
    ] {
        check(&text(checked).replace("mark", "safe"));
    }
    check(&text("").replace("mark", "unsafe"));
}

#[test]
fn what_is_broadcast_into_a_list_is_the_same() {
    let text = program(
        "let mut header = [0i32; 2];
         if rank == 0 { header = [local(), local()]; }
         world.process_at_rank(0).broadcast_into(&mut header[..]);
         let [steps, tasks] = header;
         for step in 0..steps { /*safe*/ for task in 0..tasks { world.barrier(); } }",
    );
    check(&text);
    check(
        &text
            .replace("world.process_at_rank(0).broadcast_into(&mut header[..]);", "")
            .replace("/*safe*/", "/*unsafe*/"),
    );
}

#[test]
fn a_recursion_over_levels_is_followed() {
    check(&format!(
        "{} fn cycle(levels: &mut [Vec<f64>], world: &mpi::topology::SimpleCommunicator) {{
            let Some((fine, rest)) = levels.split_first_mut() else {{ return }};
            let (rank, size) = (world.rank(), world.size());
            if rank > 0 {{ world.process_at_rank(rank - 1).send(&fine[0]); }}
            if rank + 1 < size {{ fine[1] = world.process_at_rank(rank + 1).receive::<f64>().0; }}
            if !rest.is_empty() {{ cycle(rest, world); }}
            world.barrier();
        }}",
        program(
            "let mut levels = Vec::new(); let mut n = 64;
             while n >= 4 { levels.push(vec![0.0f64; n]); n /= 2; }
             for step in 0..100 { /*safe*/ cycle(&mut levels, &world); }"
        )
    ));
}

/// An early end of a helper without messages is no end of the program.
#[test]
fn a_question_mark_in_a_helper_is_an_answer() {
    let text = program(
        "for step in 0..100 {
             /*safe*/
             if let Some(to) = before(rank as usize) { world.process_at_rank(to as i32).send(&1.0); }
             if rank + 1 < size { let _ = world.process_at_rank(rank + 1).receive::<f64>(); }
         }",
    );
    check(&format!(
        "{text} fn before(rank: usize) -> Option<usize> {{ let other = rank.checked_sub(1)?; Some(other) }}"
    ));
}

#[test]
fn a_loop_that_goes_round_unequally_often_says_so() {
    let text = program(
        "let share = 1000 / size + if rank < 1000 % size { 1 } else { 0 };
         for i in 0..share { /*unsafe*/ work(i); }
         world.barrier();",
    );
    let verdicts = check_with(&text, Some(3));
    let obstacle = verdicts[0].1.as_ref().unwrap_err().to_string();
    assert!(
        obstacle.contains("all ranks must go equally often round the loops that hold it"),
        "{obstacle}"
    );
}

/// With `f64` it goes round eleven times, with `f32` ten.
#[test]
fn short_numbers_add_up_to_others() {
    for start in ["0.0_f32", "0.0 as f32", "ZERO", "zero"] {
        let text = program(&format!(
            "const ZERO: f32 = 0.0; let zero: f32 = 0.0; let tenth = 0.1;
             for step in 0..100 {{
                 /*unsafe*/
                 let (mut t, mut turns) = ({start}, 0);
                 while t < 1.0 {{ t += tenth; turns += 1; }}
                 if turns == 10 {{ world.process_at_rank((rank + 1) % size).send(&t); }}
             }}"
        ));
        check(&text);
        check(
            &text
                .replace("/*unsafe*/", "/*safe*/")
                .replace("f32", "f64")
                .replace("turns == 10", "turns == 10 && rank < 0"),
        );
    }
    let text = program(
        "for step in 0..100 { /*unsafe*/ if 300.0 as u8 == 255 { world.process_at_rank(0).send(&1); } }",
    );
    check(&text);
}

/// What the root has filled by other means, the others have by the broadcast.
#[test]
fn what_is_broadcast_is_the_same_however_it_was_filled() {
    let root = "let mine = vec![rank as f64; 30]; let root = world.process_at_rank(0);";
    for fill in [
        "c[0] = mine[3];",
        "c.fill(mine[3]);",
        "c.copy_from_slice(&mine[..6]);",
        "for i in 0..6 { c[i] = mine[i]; }",
        "c = mine[..6].to_vec();",
        "c = mine.iter().take(6).copied().collect();",
        "c[..6].copy_from_slice(&mine[..6]);",
    ] {
        for into in ["c[..]", "c"] {
            let setup = format!(
                "{root} let mut c = vec![0.0f64; 6]; if rank == 0 {{ {fill} }} root.broadcast_into(&mut {into});"
            );
            same(&setup, "stop = c[0] > 1.0;");
            same(&setup, "let mut s = 0.0; for x in &c { s += x; } stop = s > 1.0;");
            same(
                &setup,
                "let mut s = 0.0; for i in 0..6 { s += c[i]; c[i] *= 0.5; } stop = s > 1.0;",
            );
        }
    }
}

/// What a function of the program makes of the command line is the same on all ranks.
#[test]
fn a_command_line_that_is_read_by_hand() {
    let loops = [
        "let mut a = args; if let Some(v) = a.next() { config.steps = v.parse().map_err(|e| format!(\"{e}\"))?; }",
        "let mut a = args; config.steps = a.next().ok_or(\"no\")?.parse().unwrap();",
        "let mut a = args; if let Some(v) = a.next() { return Err(format!(\"{v}\")); }",
        "let mut a = args; while let Some(v) = a.next() { return Err(format!(\"{v}\")); }",
        "let mut a = args; while let Some(v) = a.next() { config.steps = v.parse().map_err(|e| format!(\"{e}\"))?; }",
        "while let Some(arg) = args.next() { if arg == \"--steps\" { config.steps = args.next().unwrap().parse().unwrap(); } }",
        "while let Some(arg) = args.next() { match arg.as_str() { \"--steps\" => config.steps = args.next().unwrap().parse().unwrap(), _ => return Err(arg) } }",
        "while let Some(arg) = args.next() { match arg.as_str() { \"--steps\" => config.steps = args.next().ok_or(\"no\")?.parse().map_err(|e| format!(\"{e}\"))?, other => return Err(format!(\"{other}\")) } }",
        "while let Some(arg) = args.next() { let mut value = || args.next().ok_or(format!(\"{arg}\")); match arg.as_str() { \"--steps\" => config.steps = value()?.parse().map_err(|e| format!(\"{e}\"))?, _ => {} } }",
        "let mut value = || args.next().ok_or(\"\".to_string()); config.steps = value()?.parse().map_err(|e| format!(\"{e}\"))?;",
    ];
    for body in loops {
        for given in ["args: impl Iterator<Item = String>", "args: std::env::Args"] {
            let text = program(
                "let config = match Config::parse(std::env::args()) { Ok(config) => config, Err(e) => { eprintln!(\"{e}\"); std::process::exit(1) } };
                 for step in 1..=config.steps { /*safe*/ if step % config.every == 0 { world.barrier(); } }",
            );
            let text = format!(
                "{text} struct Config {{ steps: u64, every: u64 }}
                 impl Config {{ fn parse({given}) -> Result<Self, String> {{
                     let mut config = Config {{ steps: 200, every: 50 }}; let mut args = args.skip(1); {body} Ok(config) }} }}"
            );
            check(&text);
        }
    }
}

/// A text tells ranks apart that put another number into it, and so does a closure that counts.
#[test]
fn texts_and_closures_that_differ() {
    for stop in [
        "stop = format!(\"{rank}\").len() > 1;",
        "stop = format!(\"{:?}\", rank) == \"3\";",
        "let of = Named(rank); stop = format!(\"{of}\").len() > 1;",
        "stop = name() == \"3\";",
        "stop = calls(rank) > 3;",
    ] {
        let text = program(&format!(
            "let mut stop = false; for step in 0..100 {{ /*unsafe*/ {stop} if stop {{ world.barrier(); }} }}"
        ));
        check(&format!(
            "{text} struct Named(i32);
             impl std::fmt::Display for Named {{
                 fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {{ write!(f, \"{{}}\", self.0) }}
             }}
             fn name() -> String {{ format!(\"{{}}\", std::process::id()) }}
             fn calls(n: i32) -> i32 {{ let mut k = 0; let mut next = || {{ k += n; k }}; next(); next() }}"
        ));
    }
    // What writes it looks at more than it is given.
    check(&format!(
        "{} struct Unit;
         impl std::fmt::Display for Unit {{
             fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {{
                 let id = std::process::id(); write!(f, \"{{id}}\")
             }}
         }}",
        program(
            "for step in 0..100 { /*unsafe*/ let t = format!(\"{}\", Unit); if t.len() > 4 { world.barrier(); } }"
        )
    ));
    same("", "let t = format!(\"{n}-{}\", step); stop = t.len() > 3;");
    same("let add = |x: usize| x + n;", "stop = add(step) > 30;");
}

/// Rank 0 finds out from what the others send whether it goes on, and tells each of them.
fn told(mark: &str, going: &str, answer: &str, taken: &str) -> String {
    let rest = program(&format!(
        "let mut going = true; let mut state = State {{ going: true }}; let mut other = true;
         while {going} {{ /*{mark}*/
             if rank == 0 {{
                 let mut all = true;
                 for source in 1..size {{
                     let (v, _) = world.process_at_rank(source).receive_vec::<u8>();
                     all = all && good(&v);
                 }}
                 {going} = !all;
                 for to in 1..size {{ {answer} }}
             }} else {{
                 let v = local();
                 world.process_at_rank(0).send(&v[..]);
                 {taken}
             }}
         }}"
    ));
    format!(
        "{rest} fn good(v: &Vec<u8>) -> bool {{ let mut found = false; for x in v.iter() {{ if *x == 3 {{ found = true; }} }} found }}
         struct State {{ going: bool }}"
    )
}

#[test]
fn what_one_rank_sends_to_each_is_the_same_on_all() {
    for going in ["going", "state.going"] {
        let send = format!("world.process_at_rank(to).send(&{going});");
        let into = format!("world.process_at_rank(0).receive_into(&mut {going});");
        let value = format!("{going} = world.process_at_rank(0).receive::<bool>().0;");
        check(&told("safe", going, &send, &into));
        check(&told("safe", going, &send, &value));
        // Something else is sent, another value to each, or the value is another behind that.
        let other = "other = local(); world.process_at_rank(to).send(&other);";
        check(&told("unsafe", going, other, &into));
        for changed in [
            format!("{going} = local(); {send}"),
            format!("if to == 2 {{ {going} = local(); }} {send}"),
            format!("{send} {going} = local();"),
            format!("if to > 1 {{ {send} }}"),
        ] {
            check(&told("unsafe", going, &changed, &into));
        }
    }
}
