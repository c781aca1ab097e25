//! What is a region, and what is refused.

use crate::passes::analyse;
use crate::try_expand;

/// The first thing that is wrong with a function of this body; nothing where it is taken.
fn refused(body: &str) -> Option<String> {
    let text = format!("fn f() {{ {body} }}");
    let item = text.parse().expect("Rust");
    match try_expand("".parse().expect("Rust"), &item, false) {
        Ok(_) => None,
        Err(errors) => errors
            .iter()
            .next()
            .map(|error| error.words().what.to_string()[7..].to_owned()),
    }
}

const GIVEN: &str = "move |_| { for i in 0..9 { ckpt::checkpoint!(); } }";
const BODY: &str = "move || { for i in 0..9 { ckpt::checkpoint!(); } }";

#[test]
fn threads_that_are_waited_for_are_members() {
    for body in [
        format!("thread::scope(|s| {{ for k in 0..3 {{ s.spawn({BODY}); }} }});"),
        format!(
            "thread::scope(|s| {{ let a = s.spawn({BODY}); let b = s.spawn({BODY}); (a.join(), b.join()) }});"
        ),
        format!(
            "let hs: Vec<_> = (0..3).map(|k| thread::spawn({BODY})).collect(); for h in hs {{ h.join().unwrap(); }}"
        ),
        format!(
            "let x = Arc::new(Mutex::new(0)); let y = Arc::clone(&x); let h = thread::spawn({BODY}); drop(y); h.join().unwrap();"
        ),
        format!("thread::scope(|s| {{ for k in 0..3 {{ s.spawn({BODY}); }} drop(sender); drop(other) }});"),
        format!("crossbeam::scope(|s| {{ for k in 0..3 {{ s.spawn({GIVEN}); }} drop(sender); }}).unwrap();"),
        format!("crossbeam::scope(|s| {{ for k in 0..3 {{ s.spawn({GIVEN}); }} }}).unwrap();"),
        format!("thread::scope(|s| {{ s.spawn({BODY}); for i in 0..9 {{ ckpt::checkpoint!(); }} }});"),
        format!(
            "let h = thread::spawn({BODY}); let own = {{ ckpt::checkpoint!(); 3 }}; println!(\"{{own}} {{:?}}\", h.join());"
        ),
        format!(
            "let mut hs = vec![]; let (tx, rx) = mpsc::channel(); go(); for k in 0..3 {{ hs.push(thread::spawn({BODY})); }} for h in hs {{ h.join().unwrap(); }}"
        ),
        format!(
            "let h = thread::spawn({{ let own = Arc::clone(&x); {BODY} }}); h.join().unwrap();"
        ),
        format!("thread::scope(|s| {{ s.spawn({{ let at = &list; {BODY} }}); s.spawn({BODY}); }});"),
        "let t = ckpt::team(3).run(|member| { for i in 0..9 { ckpt::checkpoint!(); member.barrier(); } });"
            .into(),
        "team(2).run_on(&mut grid, |_, part| { for i in 0..9 { ckpt::checkpoint!(); part[0] += i; } });"
            .into(),
        "let mut x = 0; thread::scope(|s| { s.spawn(|| { for i in 0..9 { ckpt::checkpoint!(); x += i; } }); });".into(),
        format!(
            "thread::scope(|s| {{ let h = s.spawn({BODY}); let mut all = Vec::new(); let none = vec![0; n]; println!(\"{{}} {{n}}\", all.len()); all.push(h.join().unwrap()); }});"
        ),
        format!(
            "let h = thread::spawn({BODY}); let k = thread::spawn({BODY}); let one = h.join().unwrap(); total += one; println!(\"{{one}}\"); let other = k.join().unwrap(); g(total + other);"
        ),
        format!(
            "thread::scope(|s| {{ let mut hs = Vec::new(); hs.push(s.spawn({BODY})); let mut last = hs.len() - 1; for h in hs {{ let at = 0; g(h.join(), at, last); last -= 1; }} }});"
        ),
    ] {
        assert_eq!(refused(&body), None, "{body}");
    }
}

/// The first thing that is wrong with a method that starts a thread with this body.
fn refused_of_method(receiver: &str, body: &str) -> Option<String> {
    let text = format!("fn f({receiver}) {{ thread::scope(|s| {{ s.spawn(|| {{ {body} }}); }}); }}");
    let made = try_expand("".parse().expect("Rust"), &text.parse().expect("Rust"), false);
    let errors = made.err()?;
    errors
        .iter()
        .next()
        .map(|error| error.words().what.to_string()[7..].to_owned())
}

#[test]
fn threads_may_look_at_self_and_not_change_it() {
    let looks = "for i in 0..self.rows { ckpt::checkpoint!(); println!(\"{}\", self.grid[i]); self.show(); }";
    assert_eq!(refused_of_method("&self", looks), None);
    let refused = Some("a thread with a site captures `self` of a method that may change it".to_owned());
    assert_eq!(refused_of_method("&mut self", looks), refused);
    assert_eq!(refused_of_method("self", looks), refused);
}

#[test]
fn what_would_wait_too_long_or_not_be_held_is_refused() {
    let work = "work between the start of threads with sites and their end";
    let other = "a thread without a site among threads with sites";
    for (body, expected) in [
        (
            format!("thread::scope(|s| {{ s.spawn({BODY}); work(0); }});"),
            work,
        ),
        (
            format!("thread::scope(|s| {{ s.spawn({BODY}); drop(tx); work(0); drop(rx); }});"),
            work,
        ),
        (
            format!(
                "thread::scope(|s| {{ let h = s.spawn({BODY}); for x in rx {{ g(x); }} h.join().unwrap(); }});"
            ),
            work,
        ),
        (
            format!("thread::scope(|s| {{ s.spawn({BODY}); println!(\"{{}}\", rx.recv().unwrap()); }});"),
            work,
        ),
        (
            format!("thread::scope(|s| {{ s.spawn({BODY}); sender = None; }});"),
            work,
        ),
        (
            format!("let h = thread::spawn({BODY}); for x in rx {{ g(x); }} h.join().unwrap();"),
            "`g` is called among the statements that start threads with sites",
        ),
        (
            format!("let h = thread::spawn({BODY}); for x in &rx {{ sum += x; }} h.join().unwrap();"),
            work,
        ),
        (
            format!("let h = thread::spawn({BODY}); let sum: u64 = rx.iter().sum(); h.join().unwrap();"),
            work,
        ),
        (
            format!(
                "let h = thread::spawn({BODY}); let k = thread::spawn({BODY}); h.join().unwrap(); work(); k.join().unwrap();"
            ),
            work,
        ),
        (
            format!(
                "thread::scope(|s| {{ s.spawn({BODY}); for i in 0..9 {{ ckpt::checkpoint!(); return; }} }});"
            ),
            work,
        ),
        (
            format!("rayon::scope(|s| {{ s.spawn({GIVEN}); }});"),
            "a site inside a closure",
        ),
        (
            "team(2).run_on(&mut grid, |m, [a, b]| { ckpt::checkpoint!(); });".into(),
            "the closure of a team takes its argument apart",
        ),
        (
            format!("thread::scope(|s| {{ s.spawn(|| log()); s.spawn({BODY}); }});"),
            other,
        ),
        (
            format!("thread::scope(|s| {{ s.spawn(log); s.spawn({BODY}); }});"),
            other,
        ),
        (
            "thread::scope(|s| { s.spawn(|| { s.spawn(|| log()); ckpt::checkpoint!(); }); });".into(),
            "a thread with a site starts threads of its own",
        ),
        (
            format!("thread::scope(|s| {{ let n = counter.load(Relaxed); s.spawn({BODY}); }});"),
            "`.load(..)` is called among the statements that start threads with sites",
        ),
        (
            format!("thread::scope(|s| {{ let h = s.spawn({BODY}).join(); }});"),
            "threads with sites are started and joined in one statement",
        ),
        (format!("thread::spawn({BODY});"), "a site inside a closure"),
    ] {
        assert_eq!(refused(&body).as_deref(), Some(expected), "{body}");
    }
}

/// The variables that move for good into the threads of the regions of a function with this body.
fn moved(body: &str) -> Vec<String> {
    let text = format!("fn f(given: Vec<f64>) {{ {body} }}");
    let item = text.parse().expect("Rust");
    let stages = analyse("".parse().expect("Rust"), &item, false).expect(body);
    let captures = stages.regions.members.iter().flat_map(|member| &member.captures);
    let moved = captures.filter(|one| one.moved);
    moved.map(|one| one.ident.to_string()).collect()
}

#[test]
fn what_only_one_thread_has_moves_into_it() {
    const USES: &str = "{ for i in 0..9 { ckpt::checkpoint!(); g(&data); } }";
    let own = format!("let data = make(); let h = thread::spawn(move || {USES}); h.join().unwrap();");
    assert_eq!(moved(&own), ["data"]);
    let given = format!(
        "let h = thread::spawn(move || {}); h.join().unwrap();",
        USES.replace("data", "given")
    );
    assert_eq!(moved(&given), ["given"]);
    let changed = "let mut data = make(); data.push(1); let h = thread::spawn(move || { for i in 0..9 { ckpt::checkpoint!(); data.push(i); } }); h.join().unwrap();";
    assert_eq!(moved(changed), ["data"]);
    let scoped = format!("let data = make(); thread::scope(|s| {{ s.spawn(move || {USES}); }});");
    assert_eq!(moved(&scoped), ["data"]);
    for body in [
        // The function has it.
        format!("let data = make(); thread::scope(|s| {{ s.spawn(|| {USES}); }}); g(&data);"),
        format!("let data = make(); thread::scope(|s| {{ s.spawn(|| {USES}); }});"),
        // It is made again.
        format!("let all = Arc::new(make()); let data = Arc::clone(&all); let h = thread::spawn(move || {USES}); h.join().unwrap(); g(&all);"),
        // What starts the thread looks at it.
        format!("let data = make(); thread::scope(|s| {{ let n = data.len(); s.spawn(move || {USES}); }});"),
        // It may not be started.
        format!("let data = make(); thread::scope(|s| {{ if n > 3 {{ s.spawn(move || {USES}); }} }});"),
        // A number is nobody's.
        "let data = 3_u64; let h = thread::spawn(move || { for i in 0..9 { ckpt::checkpoint!(); g(data); } }); h.join().unwrap();".into(),
    ] {
        assert_eq!(moved(&body), [""; 0], "{body}");
    }
}

/// What starts the threads of a function with this body, whose other variables are parameters.
fn starts(body: &str) -> String {
    let text = format!("fn f(pixels: &mut [u8], rows: usize, mut width: usize) {{ {body} }}");
    let stages = analyse("".parse().expect("Rust"), &text.parse().expect("Rust"), false).expect(body);
    quote::ToTokens::to_token_stream(&stages.function).to_string()
}

#[test]
fn a_list_of_parts_that_is_handed_out_is_none() {
    const STARTS: &str = "s.spawn(move || { ckpt::checkpoint!(); render(band); });";
    for (makes, goes, parts) in [
        (
            "let bands: Vec<&mut [u8]> = pixels.chunks_mut(rows * 3).collect();",
            "for (i, band) in bands.into_iter().enumerate()",
            "inpixels.chunks_mut(rows*3).enumerate(){",
        ),
        (
            "let bands = pixels.chunks_mut(rows).collect::<Vec<_>>(); let all = rows * 2; println!(\"{all}\");",
            "for band in bands",
            "inpixels.chunks_mut(rows){",
        ),
    ] {
        let text = starts(&format!("{makes} thread::scope(|s| {goes} {{ {STARTS} }});"));
        assert!(
            text.replace(' ', "").contains(parts) && !text.contains("collect"),
            "{text}"
        );
    }
    for (makes, goes) in [
        // How large they are may change.
        (
            "let bands: Vec<&mut [u8]> = pixels.chunks_mut(width).collect(); width += 1;",
            "for band in bands",
        ),
        // It is looked at.
        (
            "let bands: Vec<&mut [u8]> = pixels.chunks_mut(rows).collect(); let n = bands.len();",
            "for band in bands",
        ),
        // It may have another order.
        (
            "let bands: BTreeSet<&mut [u8]> = pixels.chunks_mut(rows).collect();",
            "for band in bands",
        ),
        // Something happens before its parts are lent.
        (
            "let bands: Vec<&mut [u8]> = pixels.chunks_mut(rows).collect(); go();",
            "for band in bands",
        ),
    ] {
        let text = starts(&format!("{makes} thread::scope(|s| {goes} {{ {STARTS} }});"));
        assert!(text.contains("collect"), "{text}");
    }
}

/// Whether the thread of a region may capture only a part of what it names in this way.
fn is_in_parts(body: &str) -> bool {
    let text = format!(
        "fn f() {{ let pair = make(); let h = thread::spawn(move || {{ for i in 0..9 {{ ckpt::checkpoint!(); {body} }} }}); h.join().unwrap(); }}"
    );
    let item = text.parse().expect("Rust");
    let stages = analyse("".parse().expect("Rust"), &item, false).expect(body);
    stages.regions.members[0].captures[0].in_parts
}

#[test]
fn a_closure_may_capture_the_fields_that_it_names_alone() {
    for part in [
        "g(pair.left[i]);",
        "g(&pair.0);",
        "let Pair { left, .. } = &pair.left;",
        "pair.left.len();",
    ] {
        assert!(is_in_parts(part), "{part}");
    }
    for whole in [
        "g(&pair);",
        "pair.len();",
        "g(pair.left, &pair);",
        "println!(\"{pair:?}\");",
        "g(pair[i]);",
    ] {
        assert!(!is_in_parts(whole), "{whole}");
    }
}
