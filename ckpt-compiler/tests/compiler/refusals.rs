//! Refusals that `tests/ui` does not show as rustc prints them: the exact words, and the text that is underlined.

use ckpt_compiler::diagnostics::Words;
use ckpt_compiler::try_expand;
use quote::quote;

/// Asserts that the function is refused for one reason, with `step` marked where it is called: under the text `underlined`, with
/// what, why, and what to write instead.
#[track_caller]
fn assert_refused(source: &str, underlined: &str, [what, why, instead]: [&str; 3]) {
    let is_marked = source.contains("step(");
    let arguments = if is_marked { quote!(calls(step)) } else { quote!() };
    let item = source.parse().expect("the source is Rust");
    let Err(errors) = try_expand(arguments, &item, false) else {
        panic!("it is accepted")
    };
    let mut said: Vec<_> = errors
        .iter()
        .map(|one| {
            let Words { what, why, instead } = one.words();
            [
                without_code(&what.to_string()).to_owned(),
                why.to_string(),
                instead.to_string(),
            ]
        })
        .collect();
    said.dedup();
    assert_eq!(said, [[what, why, instead].map(str::to_owned)]);
    let places: Vec<String> = errors.iter().map(|one| text_of(source, one.place)).collect();
    assert!(places.iter().any(|text| text == underlined), "{places:?}");
}

/// What is said behind the code: each message has one.
fn without_code(what: &str) -> &str {
    let found = ckpt_compiler::Code::in_front_of(what);
    found.unwrap_or_else(|| panic!("`{what}` has no code")).1
}

/// The source text that a span covers.
fn text_of(source: &str, span: proc_macro2::Span) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let (start, end) = (span.start(), span.end());
    let cut =
        |line: &str, from: usize, to: usize| line.chars().skip(from).take(to - from).collect::<String>();
    if start.line == end.line {
        return cut(lines[start.line - 1], start.column, end.column);
    }
    let mut text = vec![cut(lines[start.line - 1], start.column, usize::MAX)];
    text.extend(
        lines[start.line..end.line - 1]
            .iter()
            .map(|line| (*line).to_owned()),
    );
    text.push(cut(lines[end.line - 1], 0, end.column));
    text.join("\n")
}

#[test]
fn a_site_in_an_async_block() {
    assert_refused(
        "fn f() { let future = async { ckpt::checkpoint!(); }; wait(future); }",
        "async",
        [
            "a site inside an `async` block",
            "a restart walks from statement to statement and cannot enter it",
            "write the loop in the function's own body, or make what is inside a function and instrument that",
        ],
    );
}

#[test]
fn a_marked_call_in_a_condition_that_binds() {
    assert_refused(
        "fn f() { if ready() && let Some(x) = step() && x > 3 { g(x); } }",
        "ready() && let Some(x) = step() && x > 3",
        [
            "a site inside a condition that binds variables",
            "the condition would have to be entered half-way at restart",
            "compute the value with a `let` before the condition",
        ],
    );
}

#[test]
fn a_site_under_a_chain_that_binds_references() {
    assert_refused(
        "fn f(list: &[u8]) { if !list.is_empty() && let Some(x) = &next(list) { ckpt::checkpoint!(); g(x); } else { h(); } }",
        "!list.is_empty() && let Some(x) = &next(list)",
        [
            "a site under an `if let` chain that binds references and has an `else`",
            "what the references are taken from would have to be evaluated again at restart",
            "nest the conditions, or bind values instead of references",
        ],
    );
}

#[test]
fn a_marked_call_in_a_const_block() {
    assert_refused(
        "fn f() { let x = 1 + const { step() }; g(x); }",
        "const",
        [
            "a site inside a constant",
            "a restart walks from statement to statement and cannot enter it",
            "write the loop in the function's own body, or make what is inside a function and instrument that",
        ],
    );
}

#[test]
fn a_marked_call_in_a_macro_whose_arguments_are_no_expressions() {
    assert_refused(
        "fn f() { println!(\"{}\" => step()); }",
        "println",
        [
            "a site inside a macro that ckpt does not know",
            "a restart walks from statement to statement and cannot enter it",
            "bind the call's result with `let` and use the variable in the macro",
        ],
    );
}

#[test]
fn a_marked_call_in_a_closure_in_a_macro() {
    assert_refused(
        "fn f() { println!(\"{:?}\", xs.iter().map(|x| step(x)).scan((), |_, x| Some(x)).max()); }",
        "step(x)",
        [
            "a site inside a closure",
            "a restart walks from statement to statement and cannot enter it",
            "write the loop in the function's own body, or make what is inside a function and instrument that",
        ],
    );
}

#[test]
fn a_site_in_a_constant() {
    for of in [
        "Of::<{ ckpt::checkpoint!(); 3 }>::new()",
        "[0; { ckpt::checkpoint!(); 3 }]",
    ] {
        assert_refused(
            &format!("fn f() {{ let x = {of}; }}"),
            "{ ckpt::checkpoint!(); 3 }",
            [
                "a site inside a constant",
                "a restart walks from statement to statement and cannot enter it",
                "write the loop in the function's own body, or make what is inside a function and instrument that",
            ],
        );
    }
}

#[test]
fn an_exclusive_reference_across_a_site() {
    assert_refused(
        "fn f() { let mut cells = g(); #[ckpt(reexecute)] let cell = &mut cells[next()]; ckpt::checkpoint!(); *cell += 1; h(&cells); }",
        "cell",
        [
            "`cell` borrows exclusively and is still in use at a site",
            "what it borrows cannot be looked at while the borrow lasts, so it could not be saved",
            "borrow it again after the site",
        ],
    );
}

#[test]
fn a_for_over_exclusive_references() {
    assert_refused(
        "fn f(grid: &mut Vec<f64>) { for cell in grid.drain(..) { ckpt::checkpoint!(); *cell += 1.0; } }",
        "grid.drain(..)",
        [
            "a `for` that borrows what it goes over exclusively has a site in it",
            "what it borrows cannot be looked at while the borrow lasts, so it could not be saved",
            "go over the indices, and borrow the element after the site",
        ],
    );
}

#[test]
fn a_part_of_what_a_reference_borrows_lent_to_a_marked_call() {
    assert_refused(
        "fn f() { let mut grid = g(); let r = &mut grid; step(&mut r.cells[2]); h(&grid); }",
        "&mut r.cells[2]",
        [
            "a part of `r` is borrowed exclusively by a call that leads to a site",
            "during the call nobody may look at the rest of it, so the rest could not be saved",
            "pass `r` as a whole, or take the part out (`std::mem::take`), pass it, and put it back",
        ],
    );
}

#[test]
fn a_variable_that_exists_only_sometimes() {
    assert_refused(
        "fn f() { #[cfg(feature = \"log\")] let log = open(); ckpt::checkpoint!(); #[cfg(feature = \"log\")] g(&log); }",
        "log",
        [
            "`log` is declared under a `#[cfg(..)]` and used across a site",
            "whether it exists is decided after ckpt has done its work",
            "put the `#[cfg(..)]` inside the initialiser: `let x = if cfg!(..) { .. } else { .. };`",
        ],
    );
}

#[test]
fn an_iterator_whose_closure_does_something() {
    assert_refused(
        "fn f(list: &[u8]) { for x in list.iter().map(|x| { println!(\"{x}\"); x }).skip(1) { ckpt::checkpoint!(); g(x); } }",
        "println",
        [
            "a closure in the iterator of a `for` with a site does more than compute",
            "a restart makes the iterator again and goes over it up to where it was, so that would happen again",
            "do it in the body of the loop, or collect the items into a `Vec` and go over that",
        ],
    );
}

#[test]
fn a_loop_over_what_changes_in_it() {
    assert_refused(
        "fn f() { let mut list = g(); for x in list.iter() { ckpt::checkpoint!(); list.push(x); } }",
        "list",
        [
            "`list` changes while the loop's iterator, which is made from it, is still in use at a site",
            "a restart makes it again from the changed value and would not get the same",
            "copy `list` to a variable that does not change, and use the copy there",
        ],
    );
}

#[test]
fn a_wrong_word_for_sites() {
    let item = quote!(
        fn f() {
            loop {}
        }
    );
    let errors = try_expand(quote!(sites = "none"), &item, false).expect_err("it is refused");
    let said: Vec<_> = errors.iter().map(|one| one.message()).collect();
    assert_eq!(
        said,
        ["ckpt: E1109: `sites` is \"auto\" or \"manual\"\n  more: cargo ckpt explain E1109"]
    );
}

#[test]
fn a_borrow_in_scope_at_a_site_before_which_its_value_is_moved() {
    assert_refused(
        "fn f() { let a = g(); let b = &a; checkpoint!(); h(b); let c = i(a); checkpoint!(); h(&c); }",
        "a",
        [
            "`a` is borrowed by a statement that runs again at restart, and moved away before a later site",
            "a restart at that site would borrow it again, and has no value for it",
            "where it is moved, give a copy, `a.clone()` (if it is a number, which is copied: write its type, `let a: i32 = ..`), but not of what has arrays on a device, which is made in the expression that it is moved to, `Sim { now: Field::new(&queue), queue }`; or put the borrow and the statements that use it into a block of their own: `{ .. }`",
        ],
    );
    let as_advised = [
        "fn f() { let a = g(); { let b = &a; checkpoint!(); h(b); } let c = i(a); checkpoint!(); h(&c); }",
        "fn f() { let a: i32 = g(); let b = &a; checkpoint!(); h(b); let c = i(a); checkpoint!(); h(&c); }",
        "fn f() { let a = g(); let b = &a; checkpoint!(); h(b); let c = i(a.clone()); checkpoint!(); h(&c); }",
    ];
    for advised in as_advised {
        let item = advised.parse().expect("it is Rust");
        assert!(try_expand(quote!(), &item, false).is_ok(), "{advised}");
    }
}

/// The borrow ends at a checkpoint and is made again behind it: what an exclusive iterator has gone over would come once more.
#[test]
fn an_exclusive_iterator_that_is_advanced_between_sites() {
    for iterator in [
        "v.iter_mut()",
        "v.chunks_mut(2)",
        "v.values_mut().skip(1)",
        "v.drain(..)",
        "v.axis_iter_mut(Axis(0))",
    ] {
        let body =
            format!("let mut it = {iterator}; loop {{ checkpoint!(); if h() {{ log!(it.next()); }} }}");
        assert_refused(
            &format!("fn f() {{ let mut v = g(); {body} }}"),
            "it",
            [
                "`it` borrows, changes on its way, and is still in use at a site",
                "a restart can make it again, but not bring it to where it was",
                "keep an index instead of `it`, or collect what it goes over into a `Vec` and use `for`",
            ],
        );
    }
    for view in ["v.as_mut_slice()", "v.view_mut()", "v.slice_mut(s![1..])"] {
        let text = format!(
            "fn f() {{ let mut v = g(); let mut view = {view}; loop {{ checkpoint!(); view.fill(h()); }} }}"
        );
        let item = text.parse().expect("it is Rust");
        assert!(try_expand(quote!(), &item, false).is_ok(), "{text}");
    }
}

#[test]
fn an_exclusive_borrow_of_what_is_hidden_at_a_site() {
    assert_refused(
        "fn f() { let mut a = g(); let b = &mut a; loop { let a = i(); checkpoint!(); h(b, &a); log!(a); } }",
        "b",
        [
            "`b` borrows `a` exclusively, and one of the two is hidden by another variable of its name at a site where `b` is in use",
            "the borrow ends at the site and is made again after it, by name",
            "give the variable that hides it another name",
        ],
    );
}

#[test]
fn what_is_hidden_gets_a_name_of_its_own() {
    for source in [
        "fn f() { let mut a = g(); let b = &mut a; loop { let a = i(); checkpoint!(); h(b, &a); } }",
        "fn f() { let mut a = g(); loop { if h(&a) { let a = i(); if a > 3 { continue; } } j(a); checkpoint!(); a = g(); } }",
    ] {
        let item = source.parse().expect("it is Rust");
        let expanded = try_expand(quote!(), &item, false).expect("it is taken");
        assert!(expanded.to_string().contains("let a_2"), "{expanded}");
    }
}

#[test]
fn values_are_not_taken_apart_that_use_the_names_of_their_pattern() {
    let source =
        "fn f(a: Vec<f64>, b: Vec<f64>) { let (a, b) = (&b[0], a); loop { checkpoint!(); h(a, &b); } }";
    let item = source.parse().expect("it is Rust");
    assert!(try_expand(quote!(), &item, false).is_ok());
}

#[test]
fn a_jump_where_what_travels_is_hidden() {
    assert_refused(
        "fn f() { let mut a = g(); loop { if h(&a) { let a = i(); if a > 3 { continue; } log!(a); } j(a); checkpoint!(); a = g(); } }",
        "a",
        [
            "this `a` hides another `a` where a loop is left or goes on",
            "what the outer one holds must be put aside there, and can only be named where it is not hidden",
            "give the inner `a` another name",
        ],
    );
}

#[test]
fn both_mistakes_of_an_attribute_and_its_function_are_told() {
    let errors = try_expand(
        quote!(every = 3),
        &quote!(
            struct S;
        ),
        false,
    )
    .expect_err("it is refused");
    let said: Vec<_> = errors.iter().map(|one| one.message()).collect();
    assert_eq!(
        said,
        [
            "ckpt: E1110: expected `calls(name, ..)`, `means(pure(name), ..)`, `owners`, `recursive` or `sites = \"manual\"`\n  more: cargo ckpt explain E1110",
            "ckpt: E1009: `#[ckpt::instrument]` on something that is no function\n  why: it rewrites the body of one function or method\n  instead: put it on the functions that have a site in them, or that call one which has\n  more: cargo ckpt explain E1009"
        ]
    );
}

#[test]
fn a_refused_function_stays_without_its_sites() {
    let source: proc_macro2::TokenStream = "const fn f() { loop { ckpt::checkpoint!(); } }"
        .parse()
        .expect("it is Rust");
    let tokens = ckpt_compiler::instrument(quote!(), source, &Default::default()).to_string();
    assert!(tokens.contains("compile_error"), "{tokens}");
    assert!(tokens.contains("const fn f"), "{tokens}");
    assert!(!tokens.contains("checkpoint !"), "{tokens}");
}

#[test]
fn a_marked_call_in_what_a_macro_may_not_evaluate() {
    for source in [
        "fn f() { assert_eq!(g(), 3, \"{}\", step()); }",
        "fn f() { debug_assert_ne!(g(), step(), \"{x}\", x = { h(); step() }); }",
        "fn f() { log::debug!(\"{}\", step()); }",
        "fn f() { loop { let x = 1 + { info!(\"{}\", step()); 2 }; g(x); } }",
    ] {
        let underlined = match source.contains("h()") {
            true => "x = { h(); step() }",
            false => "step()",
        };
        assert_refused(
            source,
            underlined,
            [
                "a site inside an expression that ckpt cannot re-enter",
                "a restart could not walk into it",
                "move the call that leads to the site into a statement of its own",
            ],
        );
    }
}

/// What is said of a function with these parameters, or nothing where it is accepted.
fn codes(parameters: &str, body: &str) -> Vec<u16> {
    let source =
        format!("fn f<I: Iterator<Item = u64>, F: FnMut() -> u64>({parameters}) -> u64 {{ {body} 0 }}");
    let item = source.parse().expect("the source is Rust");
    let errors = match try_expand(quote!(), &item, false) {
        Ok(_) => return Vec::new(),
        Err(errors) => errors,
    };
    errors
        .iter()
        .filter_map(|one| one.refusal.code())
        .map(|code| code.0)
        .collect()
}

#[test]
fn a_parameter_that_the_caller_passes_again_must_not_move_on() {
    let moves =
        |parameters: &str, body: &str| codes(parameters, &format!("loop {{ ckpt::checkpoint!(); {body} }}"));
    for (parameters, body) in [
        ("mut node: &Node", "node = &node.next; g(node.value);"),
        ("mut node: &mut Node", "node = node.next(); g(node.value);"),
        ("mut rows: &mut [u64]", "rows[0] += 1; rows = &mut rows[1..];"),
        ("mut items: impl Iterator<Item = u64>", "g(items.next());"),
        ("mut rows: &[u64]", "g(rows.as_ptr()); rows = &rows[1..];"),
    ] {
        assert_eq!(moves(parameters, body), [1002], "{parameters}: {body}");
    }
    // What is behind an exclusive reference goes back to the caller, whether the reference is in use or not.
    let before = |parameters: &str, body: &str| {
        codes(
            parameters,
            &format!("{body} loop {{ ckpt::checkpoint!(); g(); }}"),
        )
    };
    assert_eq!(
        before("mut rows: &mut [u64]", "rows = &mut rows[1..]; rows[0] = 3;"),
        [1002]
    );
    assert_eq!(
        before("n: u64, mut rows: &mut [u64]", "g(n); rows = &mut rows[1..];"),
        [1002]
    );
    assert_eq!(before("mut room: &mut [u8]", "room.write_all(b\"a\");"), [1002]);
    assert_eq!(
        before("mut rows: &mut [u64]", "rows[0] = 3; g(&mut rows);"),
        [] as [u16; 0]
    );
    assert_eq!(before("mut node: &Node", "node = &node.next;"), [] as [u16; 0]);
    for (parameters, body) in [
        ("mut rows: &[u64]", "g(rows[0]); rows = &rows[1..];"),
        ("mut text: &str", "text = text.trim_start(); g(text.len());"),
        ("mut reader: &[u8]", "g(reader.read_u8());"),
        ("node: &mut Node", "node.value += 1; *node.next() = 3;"),
        ("mut node: &Node", "node = fresh(); g(node.value);"),
        ("mut n: u64", "n += 1; g(n);"),
        ("mut items: I", "g(items.next());"),
        ("mut draw: F", "g(draw());"),
        ("mut draw: impl FnMut() -> u64", "g(draw());"),
    ] {
        assert_eq!(moves(parameters, body), [] as [u16; 0], "{parameters}: {body}");
    }
}

#[test]
fn a_parameter_that_changes_before_it_is_moved_to_what_is_made_again() {
    for change in ["adjust(&mut a);", "a.weight *= 2.0;", "a.read(\"file\");"] {
        assert_refused(
            &format!(
                "fn f(mut a: Settings) {{ {change} #[ckpt(refill)] let mut s = with(a); loop {{ checkpoint!(); g(&mut s); }} }}"
            ),
            "a",
            [
                "`a` changes, and `s`, which is made from it, is to be made again and filled",
                "a restart makes it from the changed value, and what cannot be saved of it would not be the same",
                "make `s` from a variable that does not change: a copy of `a`, or of what `s` needs of it; or keep what changes in a variable of its own",
            ],
        );
    }
    // What moves into a part that is saved is saved with it.
    let as_advised = "fn f(mut a: Vec<u8>) { a.push(1); #[ckpt(refill(a))] let mut s = Sim::new(a, rule); loop { checkpoint!(); g(&mut s); } }";
    let item = as_advised.parse().expect("it is Rust");
    assert!(try_expand(quote!(), &item, false).is_ok(), "{as_advised}");
}
