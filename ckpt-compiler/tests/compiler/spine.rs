//! The lowered form: which steps there are, what runs before them, and how sites are numbered.

use crate::function::Function;
use ckpt_compiler::spine::{Block, Branch, Spine, StepKind, Target};
use quote::ToTokens;

/// The steps of a function, one a line, what is inside indented.
fn outline(callee: &str, source: &str) -> String {
    let mut out = String::new();
    write_block(&Function::calling(callee, source).lowered.body, 0, &mut out);
    out
}

fn write_block(block: &Block, depth: usize, out: &mut String) {
    for step in &block.steps {
        match &step.kind {
            StepKind::Item(item) => line(depth, &format!("item {}", text(item)), out),
            StepKind::Plain(plain) => line(depth, &text(&plain.stmt), out),
            StepKind::Spine(spine) => {
                let target = match &spine.target {
                    Target::Let { local, .. } => format!("let {} = ", text(&local.pat)),
                    Target::Statement(_) => String::new(),
                    Target::Tail => "value ".to_owned(),
                };
                write_spine(&target, &spine.spine, depth, out);
            }
        }
    }
}

fn write_spine(target: &str, spine: &Spine, depth: usize, out: &mut String) {
    let mut heading = |heading: String| line(depth, &format!("{target}{heading}"), out);
    match spine {
        Spine::Site(site) => heading(format!("site {site}")),
        Spine::Call { site, call } => heading(format!("call {site}: {}", text(call))),
        Spine::Block { is_unsafe, block, .. } => {
            heading(if *is_unsafe { "unsafe block" } else { "block" }.to_owned());
            write_block(block, depth + 1, out);
        }
        Spine::If {
            condition,
            then,
            otherwise,
        } => {
            heading(format!("if {condition}"));
            write_branch(then, depth + 1, out);
            if let Some(otherwise) = otherwise {
                line(depth, "else", out);
                write_branch(otherwise, depth + 1, out);
            }
        }
        Spine::Match {
            scrutinee,
            arms,
            reexecutes,
        } => {
            heading(format!(
                "{} {}",
                if *reexecutes { "match again" } else { "match" },
                text(scrutinee)
            ));
            for arm in arms {
                line(depth + 1, &format!("{} =>", text(&arm.pattern)), out);
                write_branch(&arm.body, depth + 2, out);
            }
        }
        Spine::Loop { label, body } => {
            heading(format!(
                "{}loop",
                label
                    .as_ref()
                    .map_or(String::new(), |label| format!("{} ", text(label)))
            ));
            write_block(body, depth + 1, out);
        }
        Spine::Context { inner, around } => {
            heading(format!("in {}", text(around).replace("__ckpt_hole", "_")));
            write_spine("", inner, depth + 1, out);
        }
        Spine::Jump { prefix, value } => {
            heading(prefix.to_string());
            write_spine("", value, depth + 1, out);
        }
    }
}

fn write_branch(branch: &Branch, depth: usize, out: &mut String) {
    if branch.block.steps.is_empty() {
        line(depth, "nothing", out);
    }
    write_block(&branch.block, depth, out);
}

fn line(depth: usize, text: &str, out: &mut String) {
    *out += &format!("{}{}\n", "    ".repeat(depth), text.trim());
}

/// Tokens, with white space where a person would put it.
fn text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for path in ["core :: option", "core :: result", "core :: iter", "ckpt :: __rt"] {
        text = text.replace(&format!(":: {path} :: "), "");
    }
    let tight = [
        (" ;", ";"),
        (" ,", ","),
        (" . ", "."),
        ("( ", "("),
        (" )", ")"),
        (" :: ", "::"),
        ("! ", "!"),
        (" !", "!"),
        ("& ", "&"),
        (" ?", "?"),
        (" .. ", ".."),
        (" :", ":"),
        ("{ }", "{}"),
        (", }", " }"),
        ("if!", "if !"),
    ];
    for (loose, close) in tight {
        text = text.replace(loose, close);
    }
    let mut chars: Vec<char> = text.chars().collect();
    let is_call = |chars: &[char], at: usize| {
        at > 0 && chars[at..].starts_with(&[' ', '(']) && chars[at - 1].is_alphanumeric()
    };
    while let Some(at) = (0..chars.len()).find(|at| is_call(&chars, *at)) {
        chars.remove(at);
    }
    chars.into_iter().collect()
}

#[track_caller]
fn assert_outline(callee: &str, source: &str, expected: &str) {
    let made = outline(callee, source);
    let indent = expected.lines().skip(1).find(|line| !line.trim().is_empty());
    let indent = indent.map_or(0, |line| line.len() - line.trim_start().len());
    let expected: Vec<&str> = expected
        .lines()
        .skip(1)
        .map(|line| line.get(indent..).unwrap_or(""))
        .collect();
    assert_eq!(made.trim_end(), expected.join("\n").trim_end(), "\n{made}");
}

#[test]
fn a_while_loop_becomes_a_loop_that_decides_first() {
    assert_outline(
        "",
        "fn f(mut n: u32) { while n > 0 { n -= 1; checkpoint!(); } }",
        "
        value loop
            if !(n > 0) { break; }
            n -= 1;
            site 1",
    );
}

#[test]
fn statements_without_a_site_stay_as_they_are() {
    assert_outline(
        "",
        "fn f() { let a = if x { 1 } else { 2 }; for i in 0..a { g(i); } checkpoint!(); drop(a) }",
        "
        let a = if x { 1 } else { 2 };
        for i in 0..a { g(i); }
        site 1
        drop(a)",
    );
}

#[test]
fn attributes_of_ckpt_in_statements_without_a_site_are_taken_off() {
    assert_outline(
        "",
        "fn f() { for i in 0..2 { #[ckpt(reexecute)] let a = g(i); drop(a); } if x { #[ckpt(save)] for j in 0..2 { g(j); } } \
         checkpoint!(); }",
        "
        for i in 0..2 { let a = g(i); drop(a); }
        if x { for j in 0..2 { g(j); } }
        site 1",
    );
}

#[test]
fn attributes_of_a_type_that_is_declared_inside_stay() {
    assert_outline(
        "",
        "fn f() { { struct S { #[ckpt(skip)] a: u8 } } checkpoint!(); }",
        "
        { struct S { # [ckpt(skip)] a: u8 } }
        site 1",
    );
}

#[test]
fn a_for_loop_keeps_its_iterator_in_a_variable() {
    assert_outline(
        "",
        "fn f(n: u32) { 'rows: for i in 0..n { checkpoint!(); if i > 3 { break 'rows; } } }",
        "
        value block
            let mut __ckpt_iterator1 = IntoIterator::into_iter(0..n);
            value 'rows: loop
                let i = match Iterator::next(&mut __ckpt_iterator1) { Option::Some(__ckpt_item) => __ckpt_item, Option::None => break };
                site 1
                if i > 3 { break 'rows; }",
    );
}

#[test]
fn an_if_decides_before_it_branches() {
    assert_outline(
        "",
        "fn f(n: u32) { if n > 3 { checkpoint!(); } else { g(); } }",
        "
        let __ckpt_condition1 = n > 3;
        value if __ckpt_condition1
            site 1
        else
            g();",
    );
}

#[test]
fn an_if_let_of_a_value_keeps_its_choice() {
    assert_outline(
        "",
        "fn f(n: u32) { if let Some(k) = next(n) { checkpoint!(); g(k); } }",
        "
        let mut __ckpt_choice1 = if let Some(k) = next(n) { Option::Some(Option::Some((k,))) } else { Option::None };
        value match __ckpt_choice1
            Option::Some(__ckpt_bindings2) =>
                let(k,) = bound(__ckpt_bindings2);
                site 1
                g(k);
            Option::None =>
                nothing",
    );
}

#[test]
fn a_match_over_a_value_keeps_its_choice() {
    assert_outline(
        "",
        "fn f(n: u32) { match next(n) { Some(0) => g(), Some(k) if k > 2 => { checkpoint!(); g(k) } _ => checkpoint!() } }",
        "
        let mut __ckpt_choice1 = match next(n) { Some(0) => Result::Ok(Option::Some(())), Some(k) if k > 2 => Result::Err(Result::Ok(Option::Some((k,)))), _ => Result::Err(Result::Err(Option::Some(()))) };
        value match __ckpt_choice1
            Result::Ok(_) =>
                g()
            Result::Err(Result::Ok(__ckpt_bindings2)) =>
                let(k,) = bound(__ckpt_bindings2);
                site 1
                g(k)
            Result::Err(Result::Err(_)) =>
                value site 2",
    );
}

#[test]
fn a_match_that_binds_references_is_decided_again() {
    assert_outline(
        "",
        "fn f(state: &State) { match &state.kind { Kind::A(a) => { checkpoint!(); g(a); } _ => {} } }",
        "
        value match again &state.kind
            Kind::A(a) =>
                site 1
                g(a);
            _ =>
                nothing",
    );
}

#[test]
fn arguments_before_a_marked_call_are_put_aside_in_order() {
    assert_outline(
        "step",
        "fn f(x: &mut u32) { g(first(), step(x), last()); }",
        "
        block
            let mut __ckpt_operand1 = first();
            let mut __ckpt_operand2 = call 1: step(x)
            g(__ckpt_operand1, __ckpt_operand2, last())",
    );
}

#[test]
fn arguments_computed_from_numbers_stay_in_a_marked_call() {
    assert_outline(
        "step",
        "fn f(limit: u64, one: Sum, turn: Turn) { let part = limit / 100; step(limit / 100 * turn, part * turn, -(part + 1)); \
         step(one + turn, -one) }",
        "
        let part = limit / 100;
        call 1: step(limit / 100 * turn, part * turn, - (part + 1))
        value block
            let mut __ckpt_argument1 = one + turn;
            let mut __ckpt_argument2 = - one;
            value call 2: step(__ckpt_argument1, __ckpt_argument2)",
    );
}

#[test]
fn nested_marked_calls_become_steps_from_the_inside_out() {
    assert_outline(
        "step",
        "fn f() { let y = step(step(1) + 2); drop(y); }",
        "
        let y = block
            let mut __ckpt_argument1 = in _ + 2
                call 1: step(1)
            value call 2: step(__ckpt_argument1)
        drop(y);",
    );
}

#[test]
fn a_question_mark_stays_around_its_call() {
    assert_outline(
        "step",
        "fn f() -> Option<u32> { let y = step(1)?; Some(y) }",
        "
        let y = in _?
            call 1: step(1)
        Some(y)",
    );
}

#[test]
fn return_with_a_marked_call_evaluates_it_first() {
    assert_outline(
        "step",
        "fn f() -> u32 { if a { return step(1); } 0 }",
        "
        let __ckpt_condition1 = a;
        if __ckpt_condition1
            return
                call 1: step(1)
        0",
    );
}

#[test]
fn items_stay_where_they_are() {
    assert_outline(
        "",
        "fn f() { const N: u32 = 3; checkpoint!(); }",
        "
        item const N: u32 = 3;
        site 1",
    );
}

#[test]
fn sites_are_numbered_in_program_order() {
    let source = "fn f() { checkpoint!(); for i in 0..2 { step(i); checkpoint!(); } step(step(0)); }";
    let sites = Function::calling("step", source).lowered.sites;
    let kinds: Vec<_> = sites
        .iter()
        .map(|site| site.callee.as_deref().unwrap_or("checkpoint!"))
        .collect();
    assert_eq!(kinds, ["checkpoint!", "step", "checkpoint!", "step", "step"]);
    let columns: Vec<usize> = sites.iter().map(|site| site.span.start().column).collect();
    assert_eq!(
        columns,
        [9, 40, 49, 71, 66],
        "the inner of two nested calls is evaluated first"
    );
}

#[test]
fn steps_are_numbered_so_that_a_step_covers_what_is_inside_it() {
    let body = Function::of("fn f() { let a = 1; while g() { h(); checkpoint!(); } drop(a); }")
        .lowered
        .body;
    let ranges: Vec<_> = body.steps.iter().map(|step| step.range.clone()).collect();
    assert_eq!(ranges, [0..1, 1..5, 5..6]);
}
