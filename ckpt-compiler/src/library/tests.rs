use super::*;
use crate::diagnostics::Unread;

fn wrong(text: &str) -> String {
    CallTable::of_user(text)
        .expect_err("something is wrong")
        .to_string()
}

#[test]
fn every_library_has_a_table_that_can_be_read() {
    for (name, text) in LIBRARIES {
        let table = CallTable::of_library(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!table.is_empty(), "{name} says nothing");
    }
    let all = Library::builtin();
    assert!(all.is_pure("len") && all.calls_for_each("map") && all.is_common("len", 0));
    assert!(all.is_device(&syn::parse_quote!(std::env::args)) && all.formats("println"));
}

/// A restart has the variables and the folder as they were at the checkpoint, not as they were when the program asked.
#[test]
fn what_the_program_may_change_of_its_process_is_no_device() {
    let all = Library::builtin();
    for path in [
        "std::env::var",
        "env::var_os",
        "env::vars",
        "std::env::current_dir",
    ] {
        assert!(!all.is_device(&syn::parse_str(path).expect("a path")), "{path}");
    }
    for name in ["set_var", "remove_var", "set_current_dir"] {
        assert!(all.leaves_a_trace(name), "{name}");
    }
}

#[test]
fn what_is_wrong_is_named_with_line_and_key() {
    assert_eq!(
        wrong("[calls]\n\npure = [\"a b\"]"),
        "line 3: `a b` in `pure` is no name of a call; write `name`, or `Type::name`, without arguments"
    );
    assert_eq!(
        wrong("[calls]\npure = [\"a\",\n  7]"),
        "line 3: `pure` is a number; expected a list of names"
    );
    assert_eq!(
        wrong("[calls.cost]\nstep = \"high\""),
        "line 2: `step` is a text; expected a number of operations"
    );
    assert_eq!(
        wrong("every = 5\n"),
        "line 1: `every` stands above all headings: put it under `[session]`"
    );
    assert_eq!(
        wrong("pure = [\"f\"]\n"),
        "line 1: `pure` stands above all headings: put it under `[calls]`"
    );
    assert!(wrong("[cals]\n").starts_with("line 1: `cals` is no key of `ckpt.toml`; there are `session`"));
    assert!(wrong("[calls\n").starts_with("line 1: "));
}

#[test]
fn a_users_name_stands_for_functions_and_methods_in_the_library_it_is_added_to() {
    let table = CallTable::of_user("[calls]\npure = [\"energy\", \"Mesh::area\"]\n").expect("a valid table");
    let function = |library: &Library, path| library.is_pure_function(&syn::parse_str(path).expect("a path"));
    let mut library = Library::default();
    library.add(&table);
    assert!(
        function(&library, "energy") && function(&library, "physics::energy") && library.is_pure("energy")
    );
    assert!(
        function(&library, "grid::Mesh::area") && !function(&library, "area") && !library.is_pure("area")
    );
    assert!(
        !function(Library::builtin(), "energy"),
        "the other libraries do not know it"
    );
}

#[test]
fn what_a_function_mentions_is_passed_on_in_its_attribute() {
    let text = "[calls]\npure = [\"energy\", \"area\"]\nreexecute = [\"Mesh::read\"]\n";
    let table = CallTable::of_user(text).expect("a valid table");
    let argument = table
        .as_argument(|name| name != "area")
        .expect("something is mentioned");
    assert_eq!(argument, "means(pure(energy), reexecute(Mesh::read))");
    assert_eq!(table.as_argument(|_| false), None);
    let inside = &argument["means(".len()..argument.len() - 1];
    let parsed = CallTable::of_argument_text(inside).expect("what is written can be read");
    assert_eq!(parsed.said().len(), 2);
    let error = CallTable::of_argument_text("purre(a)").expect_err("no key");
    let Unread::Refused(_, refusal) = error else {
        panic!("{error:?}")
    };
    assert!(refusal.to_string().contains("expected one of `pure`"));
}

#[test]
fn sections_are_of_our_own_tables_and_name_their_keys() {
    let of_library = |text: &str| CallTable::of_library(text).map_err(|error| error.to_string());
    let said = of_library("[iterators]\nshards = [\"iter\"]\n").expect_err("no key");
    assert!(
        said.starts_with("line 2: `shards` is no key of `iterators`; there are `shared`"),
        "{said}"
    );
    assert!(wrong("[calls.iterators]\nshared = [\"iter\"]").starts_with("line 1: `iterators` is no key"));
    let said = of_library("[iterators]\nshared = [\"a*b\"]\n").expect_err("a star in the middle");
    assert!(said.contains("`a*b` in `shared` is no name of a call"), "{said}");
    let mut library = Library::default();
    library.add(&of_library("[iterators]\nexclusive = [\"*_each\", \"Bag::all\"]\n").expect("a valid table"));
    assert!(library.goes_over_exclusively("of_each") && !library.goes_over_exclusively("of_each_one"));
    let says = |path| library.says_of_path(&syn::parse_str(path).expect("a path"), Iterators::Exclusive);
    assert!(says("sack::Bag::all") && says("Bag::all") && !says("all") && !says("Bag"));
    assert_eq!(library.key("windows"), Some(Iterators::Shared));
}

#[test]
fn what_calls_exchange_is_read_and_what_does_not_fit_is_named() {
    let table = |text: &str| format!("[calls.messages.far-solver]\n{text}\n");
    let good = "\"Solver::new\" = { handle = 0 }\nnorm = { collective = \"from root\", comm = 0, root = \"0\", same = true }\n\
                swap = [{ send = 1, comm = \"world\", tag = \"halo\" }, { receive = \"any\", comm = 0, tag = \"any\", into = 3 }]";
    let read = CallTable::of_user(&table(good)).expect("a valid table");
    let [of] = read.messages() else {
        panic!("one crate")
    };
    assert_eq!((of.name.as_str(), of.line, of.calls.len()), ("far_solver", 1, 3));
    let mut library = Library::default();
    library.add(&read);
    assert_eq!(library.added().messages().len(), 1);
    assert!(library.leaves_a_trace("norm") && library.is_device(&syn::parse_quote!(Solver::new)));
    for (line, said) in [
        (
            "norm = { collective = \"every\", comm = 0 }",
            "line 2: `collective` is a text; expected \"all\", \"some\"",
        ),
        ("norm = 7", "line 2: `norm` is a number; expected a table such as"),
        (
            "\nnorm = { comm = 0 }",
            "line 3: `norm`: one of `send`, `receive`, `collective`, `handle`, `duplicate` says what it does",
        ),
        (
            "norm = { send = 0, receive = 0 }",
            "line 2: `norm`: one of `send`",
        ),
        (
            "norm = { collective = \"all\" }",
            "line 2: `norm`: it is a call of all ranks of which `comm`?",
        ),
        (
            "norm = { collective = \"to root\", comm = 0 }",
            "line 2: `norm`: which rank is its `root`?",
        ),
        (
            "norm = { collective = \"some\", comm = 0, same = true }",
            "line 2: `norm`: `same` goes with",
        ),
        ("post = { send = \"0\" }", "line 2: `post`: on which `comm`?"),
        (
            "post = { send = \"any\", comm = 0 }",
            "line 2: `send` is a text; expected the number of an argument, or a rank",
        ),
        (
            "post = { send = 1, comm = 0, tag = \"any\" }",
            "line 2: `tag` is a text; expected",
        ),
        (
            "post = { send = 1, comm = 0, into = 2 }",
            "line 2: `post`: nothing comes `into`",
        ),
        (
            "post = { send = 1, comm = 0, same = true }",
            "line 2: `post`: `same`, `root` and `kind` go with `collective`",
        ),
        (
            "post = { send = -1, comm = 0 }",
            "line 2: `send` is a number; expected the number of an argument",
        ),
        (
            "post = { sends = 1, comm = 0 }",
            "line 2: `sends` is no key of `post`; there are `send`",
        ),
        (
            "\"po st\" = { send = 1, comm = 0 }",
            "line 2: `po st` in `far-solver` is no name of a call",
        ),
        (
            "make = { handle = 0, tag = 1 }",
            "line 2: `make`: `tag` goes with `send` and `receive`",
        ),
    ] {
        let found = wrong(&table(line));
        assert!(found.starts_with(said), "{found}\n{line}");
    }
}
