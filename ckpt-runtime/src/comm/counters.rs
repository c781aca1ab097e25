//! What has been sent and received, and whether that of all ranks fits together at a site.
//!
//! A site is a safe point of a run if, with every rank stopped at the same visit of it, whatever was sent has been
//! received and whatever was received had been sent; if no operation is under way; and if all members of a communicator
//! have taken part in equally many collective operations on it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::printable::count;

/// Messages of one kind: between these ranks of the world, with this tag, on this communicator.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Route {
    /// The same number on all ranks.
    pub communicator: u64,
    pub source: i32,
    pub destination: i32,
    pub tag: i32,
}

/// What a rank has done so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChannelCounters {
    #[serde(with = "pairs")]
    sent: BTreeMap<Route, u64>,
    #[serde(with = "pairs")]
    received: BTreeMap<Route, u64>,
    /// By communicator: operations, and the ranks of the world that take part in them.
    #[serde(with = "pairs")]
    collectives: BTreeMap<u64, (u64, Vec<i32>)>,
    /// Operations that were begun and have not been waited for.
    pub under_way: Vec<String>,
}

impl ChannelCounters {
    pub const fn new() -> Self {
        ChannelCounters {
            sent: BTreeMap::new(),
            received: BTreeMap::new(),
            collectives: BTreeMap::new(),
            under_way: Vec::new(),
        }
    }

    pub fn sent(&mut self, route: Route) {
        *self.sent.entry(route).or_default() += 1;
    }

    pub fn received(&mut self, route: Route) {
        *self.received.entry(route).or_default() += 1;
    }

    /// A message that was sent has been cancelled.
    pub fn withdrawn(&mut self, route: &Route) {
        if let Some(count) = self.sent.get_mut(route) {
            *count = count.saturating_sub(1);
        }
    }

    pub fn collective(&mut self, communicator: u64, members: &[i32]) {
        let entry = self.collectives.entry(communicator);
        entry.or_insert_with(|| (0, members.to_vec())).0 += 1;
    }
}

/// JSON has no other keys than texts.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    pub fn deserialize<'de, K, V, D>(from: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(from)?.into_iter().collect())
    }
}

/// The counters of a rank at a visit of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AtSite {
    pub visit: u64,
    /// `src/main.rs:12:5, in `main``.
    pub site: String,
    pub counters: ChannelCounters,
}

/// What is wrong with a site, in words; nothing if it is safe. The counters are in the order of the ranks.
pub(super) fn faults(ranks: &[AtSite]) -> Vec<String> {
    let mut faults = Vec::new();
    let first = ranks.first().map(|rank| rank.site.as_str()).unwrap_or_default();
    for (number, rank) in ranks.iter().enumerate() {
        if rank.site != first {
            faults.push(format!("rank {number} is at another site: {}", rank.site));
        }
        for operation in &rank.counters.under_way {
            faults.push(format!("rank {number} has {operation} under way"));
        }
    }
    faults.extend(crossing(ranks));
    faults.extend(apart(ranks));
    faults
}

fn crossing(ranks: &[AtSite]) -> Vec<String> {
    let mut routes: BTreeMap<&Route, (u64, u64)> = BTreeMap::new();
    for rank in ranks {
        for (route, count) in &rank.counters.sent {
            routes.entry(route).or_default().0 += count;
        }
        for (route, count) in &rank.counters.received {
            routes.entry(route).or_default().1 += count;
        }
    }
    let differ = routes
        .into_iter()
        .filter(|(_, (sent, received))| sent != received);
    differ
        .map(|(route, (sent, received))| {
            let Route {
                source,
                destination,
                tag,
                ..
            } = route;
            format!(
                "rank {source} has sent {} with tag {tag} to rank {destination}, \
                 which has received {received} of them",
                count(sent, "message")
            )
        })
        .collect()
}

fn apart(ranks: &[AtSite]) -> Vec<String> {
    let mut seen: BTreeMap<u64, (&[i32], BTreeMap<i32, u64>)> = BTreeMap::new();
    for (rank, at) in (0..).zip(ranks) {
        for (communicator, (count, members)) in &at.counters.collectives {
            let entry = seen.entry(*communicator);
            let entry = entry.or_insert_with(|| (members, BTreeMap::new()));
            entry.1.insert(rank, *count);
        }
    }
    let mut faults = Vec::new();
    for (members, counts) in seen.into_values() {
        let of = |rank: &i32| (*rank, counts.get(rank).copied().unwrap_or(0));
        let all: Vec<(i32, u64)> = members.iter().map(of).collect();
        let most = all.iter().max_by_key(|(_, count)| *count);
        let least = all.iter().min_by_key(|(_, count)| *count);
        if let (Some((ahead, most)), Some((behind, least))) = (most, least)
            && most != least
        {
            faults.push(format!(
                "rank {ahead} has taken part in {} of a communicator of {}, rank {behind} in {least}",
                count(*most, "collective operation"),
                count(members.len() as u64, "rank")
            ));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(source: i32, destination: i32) -> Route {
        Route {
            communicator: 1,
            source,
            destination,
            tag: 7,
        }
    }

    fn at_site(counters: [ChannelCounters; 2]) -> Vec<AtSite> {
        let at = |counters| AtSite {
            visit: 3,
            site: "main.rs:1:1".into(),
            counters,
        };
        // As they arrive: through JSON.
        let sent = counters.map(|counters| serde_json::to_vec(&at(counters)).unwrap());
        sent.map(|bytes| serde_json::from_slice(&bytes).unwrap()).into()
    }

    #[test]
    fn what_was_sent_has_been_received() {
        let (mut one, mut two) = (ChannelCounters::new(), ChannelCounters::new());
        one.sent(route(0, 1));
        two.received(route(0, 1));
        assert!(faults(&at_site([one.clone(), two.clone()])).is_empty());
        one.sent(route(0, 1));
        let told = faults(&at_site([one.clone(), two.clone()]));
        assert_eq!(
            told,
            ["rank 0 has sent 2 messages with tag 7 to rank 1, which has received 1 of them"]
        );
        one.withdrawn(&route(0, 1));
        two.received(route(0, 1));
        assert_eq!(
            faults(&at_site([one, two])).len(),
            1,
            "received before it was sent"
        );
    }

    #[test]
    fn nothing_is_under_way_and_collectives_are_done_by_all() {
        let (mut one, mut two) = (ChannelCounters::new(), ChannelCounters::new());
        one.collective(9, &[0, 1]);
        let told = faults(&at_site([one.clone(), two.clone()]));
        assert!(told[0].contains("rank 0 has taken part in 1"), "{told:?}");
        two.collective(9, &[0, 1]);
        two.under_way.push("a receive from rank 0".into());
        let told = faults(&at_site([one, two]));
        assert_eq!(told, ["rank 1 has a receive from rank 0 under way"]);
    }
}
