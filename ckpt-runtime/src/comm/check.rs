//! `CKPT_CHECK_SAFE_POINTS=1`: proves at run time that no message crosses a site. At every visit each rank sends what it has
//! sent and received so far to rank 0, and goes on; rank 0 compares once it has heard of a visit from all. Nobody waits, so
//! a site that is not safe is found and not turned into a deadlock.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::Member;
use super::counters::{AtSite, ChannelCounters, faults};
use super::transport::Delivery;
use super::world::{World, locked};
use crate::base::printable::plural;
use crate::base::report::{Fatal, headline};
use crate::base::sorted::SortedMap;

/// How long a rank that has nothing to find waits for rank 0 to say what it has found.
const FOUND_WAIT: Duration = Duration::from_secs(5);

/// How long the end of the program waits for what other ranks have to say.
const LAST_WAIT: Duration = Duration::from_secs(20);

/// Whether sites are checked: the same for every session of the process, as what is sent before one is counted too.
pub(crate) fn checks() -> bool {
    static CHECKS: OnceLock<bool> = OnceLock::new();
    *CHECKS.get_or_init(|| std::env::var_os("CKPT_CHECK_SAFE_POINTS").is_some_and(|value| value == "1"))
}

/// What rank 0 has heard and not compared yet, and what the others have sent.
#[derive(Debug, Default)]
pub(super) struct Check {
    /// By visit: what each rank has said.
    heard: SortedMap<u64, Vec<Option<AtSite>>>,
    /// On their way.
    sent: Vec<Box<dyn Delivery>>,
    /// How many ranks have said that they are done.
    done: u32,
    /// What this rank had sent and received at its last visit in a loop without messages, until that is over.
    in_phase: Option<ChannelCounters>,
    /// The last visit that this rank has told of.
    told: u64,
    /// Those up to this one it makes again, and has told of before.
    again: u64,
}

/// A rank has no more to say.
const DONE: u64 = u64::MAX;

impl World {
    /// At a visit of a site, where sites are checked and the ranks can be reached.
    ///
    /// # Errors
    /// A message crosses a site, this one or an earlier one.
    pub(crate) fn verify(&self, visit: u64, site: &dyn Fn() -> String) -> Result<(), Fatal> {
        let Some(transport) = self.transport().filter(|_| checks() && self.is_up()) else {
            return Ok(());
        };
        let at = AtSite {
            visit,
            site: site(),
            counters: transport.counters(),
        };
        let mut check = locked(&self.check);
        check.tell(self, at)?;
        check.listen(self)
    }

    /// At a visit in a loop without messages, or behind it: none has been exchanged since the last one there.
    ///
    /// # Errors
    /// One has.
    pub(crate) fn verify_quiet(&self, visit: u64, site: &dyn Fn() -> String) -> Result<(), Fatal> {
        let Some(transport) = self.transport().filter(|_| checks() && self.is_up()) else {
            return Ok(());
        };
        let now = transport.counters();
        match locked(&self.check).in_phase.replace(now.clone()) {
            Some(before) if before != now => Err(Fatal::site(headline!(
                "E2018: a message crosses a site: it is no safe point (site visit {visit})"
            ))
            .at(site())
            .why("this rank has sent or received a message since it came to the site of this loop last")
            .help(
                "ranks go round such a loop unequally often, so that a restart would lose the message, or send it twice:\ntake the site out of the loop",
            )),
            _ => Ok(()),
        }
    }

    /// This rank makes visits again, without the others.
    pub(super) fn tells_none_again(&self) {
        let mut check = locked(&self.check);
        check.again = check.told;
    }

    /// Behind such a loop, where all ranks are at the same count of visits.
    ///
    /// # Errors
    /// As [`verify`](World::verify).
    pub(crate) fn verify_end_of_phase(&self, visit: u64, site: &dyn Fn() -> String) -> Result<(), Fatal> {
        locked(&self.check).in_phase = None;
        self.verify(visit, site)
    }

    /// The ranks know that they have not visited the same sites. Where sites are checked, rank 0 has heard where they
    /// part, or is about to: it says so, and that ends all.
    pub(crate) fn say_where_ranks_part(&self) {
        let Some(member) = self.member().filter(|_| checks() && self.is_up()) else {
            return;
        };
        finish(self);
        if member.rank != 0 {
            std::thread::sleep(FOUND_WAIT);
        }
    }
}

/// The session or the program ends: what is still on its way is heard before.
pub(super) fn finish(world: &World) {
    if !checks() {
        return;
    }
    let done = AtSite {
        visit: DONE,
        site: String::new(),
        counters: ChannelCounters::new(),
    };
    let mut check = locked(&world.check);
    let outcome = check.tell(world, done).and_then(|()| check.finish(world));
    *check = Check::default();
    drop(check);
    if let Err(fatal) = outcome {
        fatal.exit();
    }
}

impl Check {
    fn tell(&mut self, world: &World, at: AtSite) -> Result<(), Fatal> {
        let (Some(member), Some(transport)) = (world.member(), world.transport()) else {
            return Ok(());
        };
        if at.visit != DONE {
            if at.visit <= self.again {
                return Ok(());
            }
            self.told = at.visit;
        }
        if member.rank == 0 {
            return self.hear(member, 0, at);
        }
        let bytes = serde_json::to_vec(&at).unwrap_or_default();
        self.sent.push(transport.send(bytes));
        self.sent.retain_mut(|text| !text.is_done());
        Ok(())
    }

    /// Rank 0 hears what has arrived.
    fn listen(&mut self, world: &World) -> Result<(), Fatal> {
        let (Some(member), Some(transport)) = (world.member(), world.transport()) else {
            return Ok(());
        };
        while member.rank == 0
            && let Some((rank, bytes)) = transport.receive()
        {
            if let Ok(at) = serde_json::from_slice(&bytes) {
                self.hear(member, rank, at)?;
            }
        }
        Ok(())
    }

    fn hear(&mut self, own: Member, rank: u32, at: AtSite) -> Result<(), Fatal> {
        if at.visit == DONE {
            self.done += 1;
            return Ok(());
        }
        let visit = at.visit;
        let nobody = || vec![None; own.size as usize];
        let heard = self.heard.entry(visit).or_insert_with(nobody);
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

    fn finish(&mut self, world: &World) -> Result<(), Fatal> {
        let since = Instant::now();
        let member = world.member();
        let is_done = |check: &Self| match member {
            Some(member) if member.rank == 0 => check.done == member.size,
            _ => check.sent.is_empty(),
        };
        while !is_done(self) && since.elapsed() < LAST_WAIT {
            self.listen(world)?;
            self.sent.retain_mut(|text| !text.is_done());
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
        return Err(Fatal::site(headline!(
            "E2017: the ranks are at different sites (site visit {visit})"
        ))
        .at(first.site.clone())
        .why(faults.join("\n"))
        .help(ALIKE));
    }
    Err(
        Fatal::site(headline!("E2018: a message crosses a site: it is no safe point (site visit {visit})"))
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
    Fatal::site(headline!(
        "E2019: not all ranks have visited sites equally often (site visit {visit})"
    ))
    .at(site.unwrap_or_default())
    .why(format!(
        "rank{} {} ended before that visit",
        plural(missing.len() as u64),
        missing.join(", ")
    ))
    .help(ALIKE)
}

const ALIKE: &str = "a line of checkpoints needs one of every rank at the same count: put the site into a loop that all ranks go through alike;\nin a loop without messages, write `checkpoint!(phase)` and behind it `checkpoint!(phase_end)`";
