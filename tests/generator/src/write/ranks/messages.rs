//! Messages between ranks. Each statement is one line, as nothing can be left out of it: what is sent in it is received in it, and no
//! rank waits for one that waits for it.

use super::{Communicator, Together};
use crate::scope::Type;
use crate::tree::Statement;

impl Together {
    /// All ranks of a communicator exchange messages.
    pub(super) fn communication(&mut self) -> Vec<Statement> {
        let all = self.communicators.clone();
        let Some(communicator) = self.writer.random.pick(&all) else {
            return vec![];
        };
        let line = match self.below(20) {
            0 => format!("{}.barrier();", communicator.name),
            1..=3 => self.all_reduce(&communicator),
            4 => self.all_reduce_of_lists(&communicator),
            5..=6 => self.broadcast(&communicator),
            7 => self.gather(&communicator),
            8 => self.scatter(&communicator),
            9 => self.all_gather(&communicator),
            10 => self.scan(&communicator),
            11 => self.all_to_all(&communicator),
            12 => self.exchange(&communicator),
            13 => self.token(&communicator),
            14 => self.lists(&communicator),
            15..=16 => self.ring_without_blocking(&communicator),
            17 => self.line(&communicator),
            18 => self.ends(&communicator),
            _ => self.any_source(&communicator),
        };
        let mut lines = vec![Statement::Line(line)];
        if self.chance(15) {
            let value = self.writer.number(1);
            let work = self.writer.counted(&format!("uneven(rank, {value})"));
            lines.insert(0, work);
        }
        lines
    }

    /// A communicator that is made of another, for the rest of the scope or for one call.
    pub(super) fn communicator(&mut self) -> Vec<Statement> {
        let all = self.communicators.clone();
        let Some(of) = self.writer.random.pick(&all) else {
            return vec![];
        };
        let name = &of.name;
        let (value, is_whole) = match self.below(5) {
            0 => (format!("{name}.duplicate()"), of.is_whole),
            1 => (split(name, &format!("{name}.rank() / 2")), false),
            2 => {
                let same = self.same(0);
                (
                    split(name, &format!("({name}.rank() + ({same} % 5) as i32) % 2")),
                    false,
                )
            }
            3 => (
                format!(
                    "{name}.split_by_color_with_key(Color::with_value(0), {name}.size() - {name}.rank()).expect(\"every rank is in it\")"
                ),
                of.is_whole,
            ),
            _ => (split(name, &format!("{name}.rank() % 2")), false),
        };
        let new = self.numbered('c');
        let communicator = Communicator {
            name: new.clone(),
            is_whole,
        };
        if self.chance(30) {
            let use_of_it = self.all_reduce(&communicator);
            return vec![Statement::Line(format!("{{ let {new} = {value}; {use_of_it} }}"))];
        }
        self.communicators.push(communicator);
        vec![Statement::Line(format!(
            "#[ckpt(reexecute)] let {new} = {value};"
        ))]
    }

    /// What is done with a number that has come: it goes into a variable, one that is the same on all ranks where all have got
    /// the same.
    fn sink(&mut self, value: &str, is_same: bool) -> String {
        if is_same
            && self.chance(70)
            && let Some(name) = self.changing()
        {
            return format!("{name} = mix({name}, {value});");
        }
        match self.writer.counted(value) {
            Statement::Line(line) => line,
            Statement::Block { .. } => String::new(),
        }
    }

    /// One of the ranks of a communicator, the same on all.
    fn root(&mut self, of: &str) -> String {
        match self.below(3) {
            0 => "0".into(),
            1 => format!("{of}.size() - 1"),
            _ => format!("({} % {of}.size() as u64) as i32", self.same(0)),
        }
    }

    fn operation(&mut self) -> &'static str {
        let all = ["sum", "max", "min", "bitwise_xor"];
        self.writer.random.pick(&all).unwrap_or("sum")
    }

    fn own(&mut self) -> String {
        format!("let own: u64 = {};", self.writer.number(1))
    }

    fn all_reduce(&mut self, Communicator { name, is_whole }: &Communicator) -> String {
        let (own, operation) = (self.own(), self.operation());
        let sink = self.sink("all", *is_whole);
        match self.chance(40) {
            true => format!(
                "{{ {own} let mut all = 0_u64; mpi::request::scope(|scope| {{ let reduction = \
                 {name}.immediate_all_reduce_into(scope, &own, &mut all, SystemOperation::{operation}()); \
                 reduction.wait(); }}); {sink} }}"
            ),
            false => format!(
                "{{ {own} let mut all = 0_u64; {name}.all_reduce_into(&own, &mut all, SystemOperation::{operation}()); {sink} }}"
            ),
        }
    }

    fn all_reduce_of_lists(&mut self, Communicator { name, is_whole }: &Communicator) -> String {
        let operation = self.operation();
        let (one, two) = (self.writer.number(1), self.writer.number(1));
        let sink = self.sink("digest(&all)", *is_whole);
        format!(
            "{{ let own: Vec<u64> = vec![{one}, {two}]; let mut all = vec![0_u64; 2]; \
             {name}.all_reduce_into(&own[..], &mut all[..], SystemOperation::{operation}()); {sink} }}"
        )
    }

    fn broadcast(&mut self, Communicator { name, is_whole }: &Communicator) -> String {
        let (number, root) = (self.writer.number(1), self.root(name));
        let sink = self.sink("all", *is_whole);
        format!(
            "{{ let mut all: u64 = {number}; {name}.process_at_rank({root}).broadcast_into(&mut all); {sink} }}"
        )
    }

    fn gather(&mut self, Communicator { name, .. }: &Communicator) -> String {
        let (own, root) = (self.own(), self.root(name));
        let sink = self.sink("sum", false);
        format!(
            "{{ {own} let root = {root}; let mut sum = 0_u64; if {name}.rank() == root {{ \
             let mut all = vec![0_u64; {name}.size() as usize]; \
             {name}.process_at_rank(root).gather_into_root(&own, &mut all[..]); sum = digest(&all); }} else {{ \
             {name}.process_at_rank(root).gather_into(&own); }} {sink} }}"
        )
    }

    fn scatter(&mut self, Communicator { name, .. }: &Communicator) -> String {
        let (own, root) = (self.own(), self.root(name));
        let sink = self.sink("part", false);
        format!(
            "{{ {own} let root = {root}; let mut part = 0_u64; if {name}.rank() == root {{ \
             let all: Vec<u64> = (0..{name}.size() as u64).map(|q| mix(q, own)).collect(); \
             {name}.process_at_rank(root).scatter_into_root(&all[..], &mut part); }} else {{ \
             {name}.process_at_rank(root).scatter_into(&mut part); }} {sink} }}"
        )
    }

    fn all_gather(&mut self, Communicator { name, is_whole }: &Communicator) -> String {
        let own = self.own();
        let sink = self.sink("digest(&all)", *is_whole);
        format!(
            "{{ {own} let mut all = vec![0_u64; {name}.size() as usize]; {name}.all_gather_into(&own, &mut all[..]); {sink} }}"
        )
    }

    fn scan(&mut self, Communicator { name, .. }: &Communicator) -> String {
        let (own, operation) = (self.own(), self.operation());
        let sink = self.sink("sum", false);
        format!(
            "{{ {own} let mut sum = 0_u64; {name}.scan_into(&own, &mut sum, SystemOperation::{operation}()); {sink} }}"
        )
    }

    fn all_to_all(&mut self, Communicator { name, .. }: &Communicator) -> String {
        let own = self.own();
        let sink = self.sink("digest(&all)", false);
        format!(
            "{{ {own} let parts: Vec<u64> = (0..{name}.size() as u64).map(|q| mix(q, own)).collect(); \
             let mut all = vec![0_u64; parts.len()]; {name}.all_to_all_into(&parts[..], &mut all[..]); {sink} }}"
        )
    }

    /// Both neighbours on a ring, the next ones or those behind them.
    fn neighbours(&mut self, name: &str) -> String {
        let far = 1 + self.below(2);
        format!(
            "let to = ({name}.rank() + {far}) % {name}.size(); \
             let from = ({name}.rank() + {name}.size() * {far} - {far}) % {name}.size();"
        )
    }

    fn exchange(&mut self, Communicator { name, .. }: &Communicator) -> String {
        let (own, neighbours) = (self.own(), self.neighbours(name));
        let sink = self.sink("other", false);
        format!(
            "{{ {own} {neighbours} let (other, _): (u64, _) = mpi::point_to_point::send_receive(&own, \
             &{name}.process_at_rank(to), &{name}.process_at_rank(from)); {sink} }}"
        )
    }

    /// A number goes round.
    fn token(&mut self, Communicator { name, .. }: &Communicator) -> String {
        let own = self.own();
        let sink = self.sink("token", false);
        format!(
            "{{ {own} let mut token = own; if {name}.size() > 1 {{ let next = ({name}.rank() + 1) % {name}.size(); \
             let last = ({name}.rank() + {name}.size() - 1) % {name}.size(); if {name}.rank() == 0 {{ \
             {name}.process_at_rank(next).send(&token); token = {name}.process_at_rank(last).receive::<u64>().0; }} else {{ \
             token = mix(own, {name}.process_at_rank(last).receive::<u64>().0); {name}.process_at_rank(next).send(&token); }} }} \
             {sink} }}"
        )
    }

    /// Lists of lengths that are those of each rank.
    fn lists(&mut self, Communicator { name, .. }: &Communicator) -> String {
        let (number, neighbours) = (self.writer.number(1), self.neighbours(name));
        let known = self.writer.scope.readable(Type::List);
        let list = match self.writer.random.pick(&known) {
            Some(at) => format!("{}.to_vec()", self.writer.scope.place(at)),
            None => format!("vec![{number}; {name}.rank() as usize % 3]"),
        };
        let sink = self.sink("digest(&other)", false);
        format!(
            "{{ {neighbours} let mut own: Vec<u64> = {list}; own.truncate(5); let mut other: Vec<u64> = Vec::new(); \
             mpi::request::scope(|scope| {{ let going = {name}.process_at_rank(to).immediate_send_with_tag(scope, &own[..], 4); \
             other = {name}.process_at_rank(from).receive_vec_with_tag::<u64>(4).0; going.wait(); }}); {sink} }}"
        )
    }

    fn ring_without_blocking(&mut self, Communicator { name, .. }: &Communicator) -> String {
        let (own, neighbours) = (self.own(), self.neighbours(name));
        let tag = self.below(3);
        let sink = self.sink("other", false);
        let send = match self.below(3) {
            0 => format!("{name}.process_at_rank(to).send_with_tag(&own, {tag}); coming.wait();"),
            1 => format!(
                "let going = {name}.process_at_rank(to).immediate_send_with_tag(scope, &own, {tag}); coming.wait(); going.wait();"
            ),
            _ => format!(
                "let going = {name}.process_at_rank(to).immediate_synchronous_send_with_tag(scope, &own, {tag}); \
                 going.wait(); coming.wait();"
            ),
        };
        format!(
            "{{ {own} {neighbours} let mut other = 0_u64; mpi::request::scope(|scope| {{ let coming = \
             {name}.process_at_rank(from).immediate_receive_into_with_tag(scope, &mut other, {tag}); {send} }}); {sink} }}"
        )
    }

    /// From each rank to the next, the first and the last apart.
    fn line(&mut self, Communicator { name, .. }: &Communicator) -> String {
        let own = self.own();
        let sink = self.sink("sum", false);
        format!(
            "{{ {own} let mut sum = own; if {name}.rank() > 0 {{ \
             sum = mix(own, {name}.process_at_rank({name}.rank() - 1).receive::<u64>().0); }} \
             if {name}.rank() + 1 < {name}.size() {{ {name}.process_at_rank({name}.rank() + 1).send(&sum); }} {sink} }}"
        )
    }

    /// The first and the last rank only.
    fn ends(&mut self, Communicator { name, .. }: &Communicator) -> String {
        let own = self.own();
        let sink = self.sink("other", false);
        format!(
            "{{ {own} let last = {name}.size() - 1; let mut other = 0_u64; if last > 0 && {name}.rank() == 0 {{ \
             {name}.process_at_rank(last).send_with_tag(&own, 2); \
             other = {name}.process_at_rank(last).receive_with_tag::<u64>(3).0; }} else if last > 0 && {name}.rank() == last {{ \
             other = {name}.process_at_rank(0).receive_with_tag::<u64>(2).0; \
             {name}.process_at_rank(0).send_with_tag(&own, 3); }} {sink} }}"
        )
    }

    /// The first takes a number from each of the others, whichever comes, and tells all what they make together.
    fn any_source(&mut self, Communicator { name, is_whole }: &Communicator) -> String {
        let own = self.own();
        let sink = self.sink("sum", *is_whole);
        format!(
            "{{ {own} let mut sum = own % 1009; if {name}.rank() == 0 {{ for _ in 1..{name}.size() {{ \
             sum += {name}.any_process().receive_with_tag::<u64>(1).0 % 1009; }} }} else {{ \
             {name}.process_at_rank(0).send_with_tag(&own, 1); }} {name}.process_at_rank(0).broadcast_into(&mut sum); {sink} }}"
        )
    }
}

fn split(name: &str, color: &str) -> String {
    format!("{name}.split_by_color(Color::with_value({color})).expect(\"every rank is in one\")")
}
