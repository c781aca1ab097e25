use super::Definitions;
use super::captures::named;
use crate::library::{CallTable, Library};
use quote::quote;

fn told(body: &str, by_user: &str) -> String {
    let block: syn::Block = syn::parse_str(body).expect("a block");
    let user = CallTable::of_user(by_user).expect("a table");
    let table = Definitions::of_block(&block).table(&user);
    table.as_argument(|_| true).unwrap_or_default()
}

#[test]
fn a_macro_whose_tokens_leave_nothing_stays() {
    let told = told(
        "{
            macro_rules! plain { ($x:expr) => { total += $x; } }
            macro_rules! turns { ($($x:expr),* $(,)?) => { for i in 0..3 { if i == 1 { continue; } $(add($x);)* } } }
            macro_rules! uses { () => { plain!(1); println!(\"{}\", 2) }; (@inner) => { uses!() } }
        }",
        "",
    );
    assert_eq!(told, "means(stays(plain, turns, uses))");
}

#[test]
fn a_macro_that_may_leave_is_told_from_one_that_stays() {
    let told = told(
        "{
            macro_rules! leaves { ($c:expr) => { if $c { break; } } }
            macro_rules! outer { ($l:lifetime) => { loop { break $l; } } }
            macro_rules! by_another { () => { leaves!(true) } }
            macro_rules! of_a_crate { () => { vendor::leave!(true) } }
            macro_rules! by_name { ($m:ident) => { $m!() } }
            macro_rules! returns { () => { return 5 } }
            macro_rules! tries { ($x:expr) => { $x? } }
        }",
        "",
    );
    assert_eq!(
        told,
        "means(stays(returns, tries), returns(by_name, of_a_crate, returns, tries))"
    );
}

#[test]
fn a_macro_declares_what_it_is_given_as_a_statement() {
    let body = "{
        macro_rules! plainly { ($n:ident) => { let $n = $n + 1; } }
        macro_rules! apart { ($a:ident, $b:ident) => { let ($a, Pair { first: $b, .. }) = both(); } }
        macro_rules! by_path { ($n:ident) => { let shape::Only($n) = only() else { return }; } }
        macro_rules! repeats { ($($n:ident = $e:expr);*) => { $(let mut $n = $e;)* } }
        macro_rules! by_another { ($n:ident) => { log(1); $crate::plainly!($n); } }
        macro_rules! by_name { ($m:ident, $n:ident) => { $m!($n) } }
        macro_rules! by_strangers { ($n:ident) => { vendor::quiet! { let $n = 1; } } }
        macro_rules! later { () => {}; ($n:ident; $($rest:tt)*) => { let $n = 0; later!($($rest)*); } }
    }";
    let all = "declares(apart, by_another, by_name, by_path, by_strangers, later, plainly, repeats)";
    assert!(told(body, "").contains(all), "{}", told(body, ""));
    let stays = told(body, "[calls]\nstays = [\"plainly\"]\n");
    assert!(stays.contains(all), "whatever else is said of it: {stays}");
}

#[test]
fn a_macro_declares_nothing_in_a_block_of_its_own_or_under_a_name_of_its_own() {
    let body = "{
        macro_rules! swap { ($a:expr, $b:expr) => { let old = $a; $a = $b; $b = old; } }
        macro_rules! typed { ($t:ty) => { let n: $t = 1; show(n); } }
        macro_rules! inner { ($n:ident) => {{ let $n = 1; show($n) }} }
        macro_rules! asks { ($n:ident) => { if let Some($n) = next() { show($n); } while let Some($n) = next() {} } }
        macro_rules! chain { ($n:ident) => { if ready() && let Some($n) = next() { show($n); } } }
        macro_rules! operand { ($m:ident, $n:ident) => { $n += $m!($n); let t = $m!($n); show(t) } }
        macro_rules! shows { ($n:ident) => { println!(\"{}\", { let $n = 1; $n }); } }
    }";
    assert!(!told(body, "").contains("declares"), "{}", told(body, ""));
}

#[test]
fn a_name_of_a_library_is_the_programs_own_where_it_defines_it() {
    let body = "{ macro_rules! trace { ($x:expr) => { if $x { break } } } macro_rules! ensure { () => {} } }";
    let told_alone = told(body, "");
    assert_eq!(told_alone, "means(stays(ensure), own(ensure, trace))");
    assert_eq!(
        told(body, "[calls]\nformats = [\"trace\"]\n"),
        "means(stays(ensure), own(ensure))"
    );
    let own = CallTable::of_argument_text("own(trace, ensure), stays(ensure)").expect("an argument");
    let mut library = Library::default();
    library.add(&own);
    assert!(!library.formats("trace") && !library.stays("trace"));
    assert!(library.stays("ensure") && !library.returns("ensure"));
    let others = Library::builtin();
    assert!(others.formats("trace") && others.returns("ensure"));
}

#[test]
fn what_a_macro_of_the_body_uses_is_among_what_it_is_given() {
    let given = quote!(
        fn f(&mut self, n: u64) {
            let mut seed = n;
            macro_rules! next { ($k:expr) => { seed += $k; self.draw(seed) }; [] => { next!(1) } }
            macro_rules! shown {
                () => {
                    println!("{seed}")
                };
            }
            macro_rules! alone {
                ($a:expr) => {
                    $a + 1
                };
            }
            for k in 0..n {
                next!(k);
                next![];
                shown!();
                alone!(k);
            }
        }
    );
    let wanted = quote!(
        fn f(&mut self, n: u64) {
            let mut seed = n;
            macro_rules! next {
                ({$($__ckpt_used:tt)*}, $k:expr) => { seed += $k; self.draw(seed) };
                [{$($__ckpt_used:tt)*},] => { next!({seed self}, 1) }
            }
            macro_rules! shown {
                ({$($__ckpt_used:tt)*},) => {
                    println!("{seed}")
                };
            }
            macro_rules! alone {
                ($a:expr) => {
                    $a + 1
                };
            }
            for k in 0..n {
                next!({seed self}, k);
                next![{seed self},];
                shown!({ seed },);
                alone!(k);
            }
        }
    );
    assert_eq!(named(given).to_string(), wanted.to_string());
    let plain = quote!(
        fn f() {
            macro_rules! one {
                () => {
                    1
                };
            }
            let one = one!();
        }
    );
    assert_eq!(named(plain.clone()).to_string(), plain.to_string());
}
