//! `CKPT_CHECK_SAFE_POINTS=1`: proves at run time that no message crosses a site. At every visit each rank sends what it has
//! sent and received so far to rank 0, and goes on; rank 0 compares once it has heard of a visit from all. Nobody waits, so
//! a site that is not safe is found and not turned into a deadlock.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::counters::{AtSite, ChannelCounters, faults};
use super::transport::{self, Letter};
use super::{interposition, world};
use crate::base::report::Fatal;

/// How long the end of the program waits for what other ranks have to say.
const LAST_WAIT: Duration = Duration::from_secs(20);

/// Whether sites are checked.
pub(crate) fn checks() -> bool {
    static CHECKS: OnceLock<bool> = OnceLock::new();
    *CHECKS.get_or_init(|| std::env::var_os("CKPT_CHECK_SAFE_POINTS").is_some_and(|value| value == "1"))
}

/// What rank 0 has heard and not compared yet, and what the others have sent.
#[derive(Debug, Default)]
struct Check {
    /// By visit: what each rank has said.
    heard: BTreeMap<u64, Vec<Option<AtSite>>>,
    /// On their way.
    letters: Vec<Letter>,
    /// How many ranks have said that they are done.
    done: u32,
    visits: u64,
}

thread_local! {
    static CHECK: RefCell<Check> = RefCell::new(Check::default());
}

/// A rank has no more to say.
const DONE: u64 = u64::MAX;

/// At a visit of a site.
///
/// # Errors
/// A message crosses a site, this one or an earlier one.
pub(crate) fn verify(visit: u64, site: &dyn Fn() -> String) -> Result<(), Fatal> {
    let at = AtSite {
        visit,
        site: site(),
        counters: interposition::counters(),
    };
    CHECK.with_borrow_mut(|check| {
        check.visits += 1;
        check.tell(at)?;
        check.listen()
    })
}

/// The program ends: what is still on its way is heard before.
pub(super) fn finish() {
    if !checks() {
        return;
    }
    let outcome = CHECK.with_borrow_mut(|check| {
        check.tell(AtSite {
            visit: DONE,
            site: String::new(),
            counters: ChannelCounters::new(),
        })?;
        check.finish()
    });
    if let Err(fatal) = outcome {
        fatal.exit();
    }
}

impl Check {
    fn tell(&mut self, at: AtSite) -> Result<(), Fatal> {
        let (Some(member), Some(communicator)) = (world::member(), world::communicator()) else {
            return Ok(());
        };
        if member.rank == 0 {
            return self.hear(0, at);
        }
        let bytes = serde_json::to_vec(&at).unwrap_or_default();
        self.letters.push(Letter::send(communicator, bytes));
        self.letters.retain_mut(|letter| !letter.has_arrived());
        Ok(())
    }

    /// Rank 0 hears what has arrived.
    fn listen(&mut self) -> Result<(), Fatal> {
        let (Some(member), Some(communicator)) = (world::member(), world::communicator()) else {
            return Ok(());
        };
        while member.rank == 0
            && let Some((rank, bytes)) = transport::next_letter(communicator)
        {
            if let Ok(at) = serde_json::from_slice(&bytes) {
                self.hear(rank, at)?;
            }
        }
        Ok(())
    }

    fn hear(&mut self, rank: u32, at: AtSite) -> Result<(), Fatal> {
        if at.visit == DONE {
            self.done += 1;
            return Ok(());
        }
        let size = world::member().map_or(1, |member| member.size) as usize;
        let visit = at.visit;
        let heard = self.heard.entry(visit).or_insert_with(|| vec![None; size]);
        if let Some(place) = heard.get_mut(rank as usize) {
            *place = Some(at);
        }
        if heard.iter().all(Option::is_some)
            && let Some(all) = self.heard.remove(&visit)
        {
            let ranks: Vec<AtSite> = all.into_iter().flatten().collect();
            return compared(visit, &ranks);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Fatal> {
        let since = Instant::now();
        let member = world::member();
        let is_done = |check: &Self| match member {
            Some(member) if member.rank == 0 => check.done == member.size,
            _ => check.letters.is_empty(),
        };
        while !is_done(self) && since.elapsed() < LAST_WAIT {
            self.listen()?;
            self.letters.retain_mut(|letter| !letter.has_arrived());
            std::thread::yield_now();
        }
        match self.heard.first_key_value() {
            Some((visit, ranks)) => Err(unequal(*visit, ranks)),
            None => Ok(()),
        }
    }
}

fn compared(visit: u64, ranks: &[AtSite]) -> Result<(), Fatal> {
    let faults = faults(ranks);
    let Some(first) = ranks.first().filter(|_| !faults.is_empty()) else {
        return Ok(());
    };
    if ranks.iter().any(|rank| rank.site != first.site) {
        return Err(Fatal::site(format!(
            "E2017: the ranks are at different sites (site visit {visit})"
        ))
        .at(first.site.clone())
        .why(faults.join("\n"))
        .help(ALIKE));
    }
    Err(
        Fatal::site(format!("E2018: a message crosses a site: it is no safe point (site visit {visit})"))
            .at(first.site.clone())
            .why(faults.join("\n"))
            .help(
                "a restart from a checkpoint here would lose the message, or send it twice: put the site where\nevery message that was sent has been received; with `checkpoint!(safe)` you vouched for it",
            ),
    )
}

fn unequal(visit: u64, ranks: &[Option<AtSite>]) -> Fatal {
    let missing: Vec<String> = (0..)
        .zip(ranks)
        .filter(|(_, at)| at.is_none())
        .map(|(rank, _): (u32, _)| rank.to_string())
        .collect();
    let site = ranks.iter().flatten().next().map(|at| at.site.clone());
    Fatal::site(format!(
        "E2019: not all ranks have visited sites equally often (site visit {visit})"
    ))
    .at(site.unwrap_or_default())
    .why(format!("rank(s) {} ended before that visit", missing.join(", ")))
    .help(ALIKE)
}

const ALIKE: &str = "a line of checkpoints needs one of every rank at the same count: put the site into a loop that all ranks go through alike";
