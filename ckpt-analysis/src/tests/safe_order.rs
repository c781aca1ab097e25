//! What looks the same on all ranks and is not: the order of hashed collections, addresses, clocks, files that change.

use super::safe_points::{check, program};

/// A loop in which all ranks meet if `stop` says so.
fn meets_if(mark: &str, items: &str, setup: &str, body: &str) {
    check(&format!(
        "use std::collections::{{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet}}; use std::collections::HashMap as Table;
         type Params = HashMap<String, f64>; {items} {}",
        program(&format!(
            "let text = std::fs::read_to_string(\"deck.txt\").unwrap();
             let numbers: Vec<u64> = text.lines().map(|line| line.parse().unwrap()).collect();
             let mut stop = false;
             {setup}
             for step in 0..100 {{ /*{mark}*/ {body} if stop {{ world.barrier(); }} }}"
        ))
    ));
}

fn differs(setup: &str, body: &str) {
    meets_if("unsafe", "", setup, body);
}

fn same(setup: &str, body: &str) {
    meets_if("safe", "", setup, body);
}

#[test]
fn hashed_collections_are_in_another_order_on_every_rank() {
    for map in [
        "let map: HashMap<u64, u64> = numbers.iter().map(|n| (*n, n + 1)).collect();",
        "let map = numbers.iter().map(|n| (*n, n + 1)).collect::<HashMap<_, _>>();",
        "let map = numbers.iter().map(|n| (*n, n + 1)).collect::<Table<_, _>>();",
        "let map: Table<_, _> = numbers.iter().map(|n| (*n, n + 1)).collect();",
        "let map: HashMap<u64, u64> = [(1, 2), (3, 4), (5, 6)].into();",
        "let map: HashMap<u64, u64> = [(1, 2), (3, 4), (5, 6)].into_iter().collect();",
        "let map = HashMap::<u64, u64>::from_iter(numbers.iter().map(|n| (*n, n + 1)));",
        "let map = HashMap::from([(1, 2), (3, 4), (5, 6)]);",
        "let map: HashMap<u64, u64> = serde_json::from_str(&text).unwrap();",
        "let map = serde_json::from_str::<HashMap<u64, u64>>(&text).unwrap();",
        "let mut map = HashMap::new(); for n in 0..7 { map.insert(n, n); }",
        "let mut map = HashMap::new(); map.extend(numbers.iter().map(|n| (*n, *n)));",
    ] {
        for first in [
            "let first = *map.keys().next().unwrap(); stop = first == 3;",
            "for (key, value) in &map { if *key > 3 { stop = *value == 4; } }",
            "for (key, _) in map.iter() { stop = *key == 3; }",
            "let list: Vec<_> = map.iter().collect(); stop = *list[0].0 == 3;",
            "let list: Vec<u64> = map.values().copied().collect(); stop = list[0] == 3;",
            "let last = map.clone().into_iter().last().unwrap(); stop = last.0 == 3;",
        ] {
            differs(map, first);
        }
    }
    differs(
        "let set: HashSet<u64> = numbers.iter().copied().collect();",
        "stop = set.iter().next() == Some(&3);",
    );
    differs(
        "let set: HashSet<u64> = [3, 4, 5].into_iter().collect();",
        "if let Some(one) = set.iter().next() { stop = *one == 3; }",
    );
}

#[test]
fn collections_in_types_of_the_program_are_found() {
    let deck = "struct Deck { steps: usize, params: Params } impl Deck { fn first(&self) -> f64 { *self.params.values().next().unwrap() } }";
    for (setup, body) in [
        (
            "let deck: Deck = toml::from_str(&text).unwrap();",
            "for (_, value) in &deck.params { stop = *value > 3.0; }",
        ),
        (
            "let deck: Deck = toml::from_str(&text).unwrap();",
            "stop = deck.first() > 3.0;",
        ),
        (
            "let Deck { params, .. } = toml::from_str(&text).unwrap();",
            "stop = *params.values().next().unwrap() > 3.0;",
        ),
        (
            "let deck = Deck { steps: 3, params: [(String::from(\"a\"), 1.0), (String::from(\"b\"), 4.0)].into_iter().collect() };",
            "for value in deck.params.values() { stop = *value > 3.0; }",
        ),
        (
            "let params = read(&text);",
            "for (_, value) in &params { stop = *value > 3.0; }",
        ),
        ("let list = order(&text);", "stop = list[0] > 3;"),
        (
            "let (n, params) = both(&text);",
            "for (_, value) in &params { stop = *value > 3.0; }",
        ),
        (
            "",
            "stop = first(numbers.iter().map(|n| (n.to_string(), 1.0)).collect()) > 3.0;",
        ),
    ] {
        meets_if(
            "unsafe",
            &format!(
                "{deck} fn read(text: &str) -> Params {{ toml::from_str(text).unwrap() }}
                 fn both(text: &str) -> (usize, Params) {{ (text.len(), toml::from_str(text).unwrap()) }}
                 fn first(params: Params) -> f64 {{ *params.values().next().unwrap() }}
                 fn order(text: &str) -> Vec<usize> {{ let set: HashSet<usize> = text.lines().map(|l| l.len()).collect(); set.into_iter().collect() }}"
            ),
            setup,
            body,
        );
    }
    meets_if(
        "safe",
        deck,
        "let deck: Deck = toml::from_str(&text).unwrap();",
        "stop = deck.steps > 3;",
    );
}

#[test]
fn what_does_not_hang_on_the_order_is_the_same() {
    let map = "let map: HashMap<u64, u64> = numbers.iter().map(|n| (*n, n + 1)).collect();";
    for body in [
        "stop = map.len() > 3;",
        "stop = map.contains_key(&3);",
        "stop = map[&3] > 4;",
        "stop = map.get(&3).copied().unwrap_or(0) > 4;",
        "stop = *map.get(&3).unwrap() > 4;",
        "let mut keys: Vec<_> = map.keys().copied().collect(); keys.sort(); stop = keys[0] == 3;",
        "let sorted: BTreeMap<_, _> = map.iter().collect(); stop = sorted.len() > 3;",
    ] {
        same(map, body);
    }
    same(
        "let map: BTreeMap<u64, u64> = numbers.iter().map(|n| (*n, n + 1)).collect();",
        "for (key, _) in &map { stop = *key == 3; }",
    );
    same(
        "let list: Vec<u64> = numbers.iter().map(|n| n + 1).collect();",
        "stop = list[0] == 3;",
    );
    same(
        "let mut map = HashMap::new(); map.insert(1, 2);",
        "stop = map.len() > 3;",
    );
}

/// What is put into a map in a loop that is not followed: by key it is the same, in its order it is not.
#[test]
fn a_map_that_is_filled_from_the_command_line() {
    for fill in [
        "let mut map = HashMap::new();
         for word in std::env::args().skip(1) { if let Some((key, value)) = word.split_once('=') { map.insert(key.to_string(), value.to_string()); } }",
        "let mut map: HashMap<String, String> = HashMap::new(); let mut words = std::env::args().skip(1);
         while let Some(key) = words.next() { let value = words.next().expect(\"a value\"); map.insert(key, value); }",
        "let mut map = HashMap::new(); let words: Vec<String> = std::env::args().collect(); let mut i = 1;
         while i + 1 < words.len() { if !map.contains_key(&words[i]) { map.insert(words[i].clone(), words[i + 1].clone()); } i += 2; }",
        "let mut map = HashMap::new(); for line in text.lines() { *map.entry(line.to_string()).or_insert(0) += 1; }",
        "let mut map = HashMap::new(); map.insert(String::from(\"a\"), String::new());
         for word in std::env::args() { map.remove(&word); }",
    ] {
        same(fill, "stop = map.len() > 3;");
        same(fill, "stop = map.get(\"steps\").is_some();");
        same(fill, "stop = map.contains_key(\"steps\");");
        differs(fill, "stop = map.keys().next().unwrap().len() > 3;");
        differs(fill, "for (key, _) in &map { stop = key.len() == 3; }");
        differs(
            fill,
            "let list: Vec<_> = map.iter().collect(); stop = list[0].0.len() == 3;",
        );
    }
    // What else is done with the map, or what goes into it, may hang on the order, the clock, the process.
    for fill in [
        "let mut map = HashMap::new(); let mut first = String::new();
         for word in std::env::args() { map.insert(word, 1); first = map.keys().next().unwrap().clone(); } let n = first.len();",
        "let mut map = HashMap::new(); let mut n = 0;
         for word in std::env::args() { map.insert(word, 1); for (key, _) in &map { n = key.len(); } }",
        "let mut map = HashMap::new();
         for word in std::env::args() { map.insert(word, std::process::id()); } let n = map.len();",
        "let mut map = HashMap::new(); let mut n = 0;
         for word in std::env::args() { map.insert(word, 1); let view = &map; n = view.keys().next().unwrap().len(); }",
        "let mut map = HashMap::new(); let mut list: Vec<String> = Vec::new();
         for word in std::env::args() { map.insert(word.clone(), 1); list = map.clone().into_keys().collect(); } let n = list[0].len();",
    ] {
        differs(fill, "stop = n > 3;");
    }
}

/// A set has no element twice, and its own order: the same on all ranks, but not that of the list.
#[test]
fn a_set_is_not_the_list_that_it_is_made_of() {
    let text = |set: &str| {
        program(&format!(
            "let set: std::collections::{set} = [1, 1, 2].into_iter().collect();
             for step in 0..10 {{
                 /*unsafe*/
                 if rank == 0 {{ for _ in 0..3 {{ world.process_at_rank(size - 1).send(&1); }} }}
                 if rank == size - 1 {{ for one in &set {{ let _ = world.process_at_rank(0).receive::<i32>(); }} }}
             }}"
        ))
    };
    check(&text("BTreeSet<i32>"));
    check(&text("HashSet<i32>"));
}

#[test]
fn addresses_differ() {
    for body in [
        "stop = (&numbers as *const Vec<u64> as usize) % 32 == 0;",
        "stop = numbers.as_ptr() as usize % 32 == 0;",
        "stop = text.as_ptr().addr() % 32 == 0;",
        "stop = std::ptr::from_ref(&numbers).addr() % 32 == 0;",
        "stop = std::ptr::addr_of!(numbers) as usize % 32 == 0;",
        "let k = 8; stop = (&raw const k) as usize % 32 == 0;",
        "stop = format!(\"{:p}\", &numbers).len() > 12;",
    ] {
        differs("", body);
    }
}

#[test]
fn clocks_chance_and_the_process_differ() {
    for body in [
        "stop = std::time::SystemTime::now().elapsed().unwrap().as_secs() > 3;",
        "stop = mpi::time() > 3.0;",
        "stop = rand::random();",
        "stop = rand::thread_rng().gen_range(0..3) == 0;",
        "stop = rand::rng().random_bool(0.5);",
        "let mut rng = StdRng::from_entropy(); stop = rng.gen();",
        "let mut rng = SmallRng::from_os_rng(); stop = rng.random();",
        "stop = fastrand::bool();",
        "stop = std::process::id() % 2 == 0;",
        "stop = std::env::var(\"OMPI_COMM_WORLD_RANK\").unwrap() == \"0\";",
        "stop = std::env::var_os(\"X\").is_some();",
        "stop = std::env::current_dir().unwrap().ends_with(\"a\");",
        "stop = std::env::vars().count() > 30;",
        "stop = std::thread::available_parallelism().unwrap().get() > 4;",
        "stop = num_cpus::get() > 4;",
        "stop = gethostname::gethostname().len() > 4;",
        "stop = mpi::environment::processor_name().unwrap().len() > 4;",
        "stop = std::fs::read_to_string(\"/proc/self/stat\").unwrap().len() > 4;",
        "stop = std::fs::read_to_string(\"/etc/hostname\").unwrap().len() > 4;",
        "stop = std::hash::RandomState::new().hash_one(3) > 4;",
        "stop = numbers.par_iter().map(|n| *n as f64).sum::<f64>() > 4.0;",
        "stop = numbers.iter().collect::<Vec<_>>().choose(&mut rand::rng()).is_some();",
        "let mut list = numbers.clone(); list.shuffle(&mut rand::rng()); stop = list[0] > 3;",
        "static SEEN: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0); stop = SEEN.load(std::sync::atomic::Ordering::SeqCst) > 0;",
    ] {
        differs("", body);
    }
    same("let mut rng = StdRng::seed_from_u64(7);", "stop = rng.random();");
}

/// One rank may look before the file is there, and another after.
#[test]
fn a_file_may_change_between_two_looks() {
    for body in [
        "stop = std::path::Path::new(\"STOP\").exists();",
        "stop = std::fs::exists(\"STOP\").unwrap();",
        "stop = std::fs::metadata(\"STOP\").is_ok();",
        "stop = std::fs::read_to_string(\"STOP\").is_ok();",
        "stop = std::fs::File::open(\"STOP\").is_ok();",
        "stop = wanted(\"STOP\");",
    ] {
        meets_if(
            "unsafe",
            "fn wanted(name: &str) -> bool { let text = std::fs::read_to_string(name).unwrap(); let mut n = 0; for line in text.lines() { n += line.len(); } n > 3 }",
            "",
            body,
        );
    }
    same("let go = std::path::Path::new(\"GO\").exists();", "stop = go;");
}
