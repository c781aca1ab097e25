//! What is left of a program where rustc has refused every site that the estimate wants: a parser is often thought to be
//! most of a run that it only begins.

use super::Chooser;
use super::parts::{Part, Reach, Region};
use crate::calls::LoopId;
use crate::items::FnId;

impl Chooser<'_, '_> {
    /// Chooses among the parts of `main` that lead to no refused place, as if they were all of the run.
    pub(super) fn rest_of_main(&mut self) {
        let leads = self.leading_to_refused();
        let work = &self.analysis.graph.bodies[self.main.0];
        let parts = self.regions(work, 1.0);
        let left: Vec<Part<'_>> = parts
            .into_iter()
            .filter(|part| !self.is_refused(part.region, &leads))
            .collect();
        let at = Reach {
            times: 1.0,
            whole: left.iter().map(|part| part.operations).sum(),
            least: self.options.least_share,
            in_loop: false,
            hot_will_do: true,
            depth: 0,
        };
        let measured: Vec<_> = left.iter().map(|part| part.measured(&left, at)).collect();
        self.visited.clear();
        self.recursions.clear();
        self.parts(measured, at.least);
    }

    /// For each function whether a refused place is in it, or in one that it leads to.
    fn leading_to_refused(&self) -> Vec<bool> {
        let functions = &self.analysis.items.functions;
        let mut leads = vec![false; functions.len()];
        let mut open: Vec<FnId> = Vec::new();
        for (file, at) in self.options.refused.keys() {
            let around = functions
                .iter()
                .filter(|one| one.place.file.0 == *file && one.place.bytes.contains(at));
            open.extend(around.min_by_key(|one| one.place.bytes.len()).map(|one| one.id));
        }
        while let Some(function) = open.pop() {
            if function == self.main || std::mem::replace(&mut leads[function.0], true) {
                continue;
            }
            let callers = self.callers[function.0].iter();
            open.extend(callers.map(|call| self.analysis.graph.call(*call).caller));
        }
        leads
    }

    fn is_refused(&self, region: Region, leads: &[bool]) -> bool {
        match region {
            Region::Function(id) => leads[id.0],
            Region::Loop(id) => self.is_refused_loop(id, leads),
        }
    }

    fn is_refused_loop(&self, id: LoopId, leads: &[bool]) -> bool {
        let graph = &self.analysis.graph;
        let one = graph.one_loop(id);
        let holds = |(file, at): &(usize, usize)| *file == one.place.file.0 && one.place.bytes.contains(at);
        let calls = &self.calls[one.function.0];
        self.options.refused.keys().any(holds)
            || calls.iter().map(|call| graph.call(*call)).any(|call| {
                graph.nest(call.within).contains(&id) && call.callees.iter().any(|callee| leads[callee.0])
            })
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostics::{HeldIn, RustcObstacle, Said};
    use crate::placement::ChooseOptions;
    use crate::source::{FileId, Position, Program};
    use crate::{analyse, place};

    fn refused() -> (RustcObstacle, Position) {
        let obstacle = RustcObstacle::DoesNotCompile {
            holder: HeldIn::Nothing,
            said: Said::default(),
        };
        (obstacle, (FileId(0), 0))
    }

    #[test]
    fn where_a_parser_is_refused_the_rest_of_main_gets_the_sites() {
        let text = "fn parse(text: &str, at: &mut usize) -> Vec<u64> { let mut out = Vec::new(); \
                    while *at < text.len() { *at += 1; out.extend(parse(text, at)); out.extend(parse(text, at)); } out }\n\
                    fn run(list: &[u64]) -> u64 { let mut sum = 0; for x in list { for k in 0..2000 { sum += x * k % 7; } } sum }\n\
                    fn main() { let list = parse(\"abc\", &mut 0); println!(\"{}\", run(&list)); }";
        let program = Program::of_main(text);
        let analysis = analyse(&program);
        let main = analysis.items.main_of(0).unwrap();
        let mut wishes = ChooseOptions::default();
        loop {
            let placement = place(&analysis, main, &wishes);
            let name = |one: usize| &analysis.items.functions[one].name;
            let parsers: Vec<_> = placement
                .sites
                .iter()
                .filter(|site| name(site.function.0) == "parse")
                .collect();
            if parsers.is_empty() {
                let sites: Vec<_> = placement.sites.iter().map(|site| name(site.function.0)).collect();
                assert_eq!(sites, ["run"]);
                assert!(!wishes.refused.is_empty(), "the parser was wanted first");
                break;
            }
            for site in parsers {
                let key = (site.place.file.0, site.site.at);
                wishes.refused.insert(key, refused());
            }
        }
    }

    /// A site in it would be visited before anything is done, and never again.
    #[test]
    fn a_loop_of_one_turn_gets_no_site_where_those_inside_are_refused() {
        for (turns, wanted) in [(1, false), (3, true)] {
            let text = format!(
                "fn main() {{ let n: u64 = std::env::args().count() as u64; let mut sum = 0;
                 for outer in 0..{turns} {{ for step in 0..n * 1000 {{ for k in 0..2000 {{ sum += step * k % 7; }} }} }}
                 println!(\"{{sum}}\"); }}"
            );
            let program = Program::of_main(&text);
            let analysis = analyse(&program);
            let main = analysis.items.main_of(0).unwrap();
            let mut wishes = ChooseOptions::default();
            let inner = place(&analysis, main, &wishes);
            for site in &inner.sites {
                wishes
                    .refused
                    .insert((site.place.file.0, site.site.at), refused());
            }
            let left = place(&analysis, main, &wishes);
            let has_outer = left.sites.iter().any(|site| site.header.starts_with("for outer"));
            assert_eq!(has_outer, wanted, "{turns}");
        }
    }
}
