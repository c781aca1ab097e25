//! Sites of a program that passes messages must be safe points.

use super::descend::{is_chosen_by_attribute, written_in};
use super::{Chooser, Holder, PlacedSite, Reason, SitePlace};
use crate::calls::LoopId;
use crate::diagnostics::Cause;
use crate::items::FnId;
use ckpt_safepoints::skeleton::SourcePlace;
use ckpt_safepoints::{Obstacle, SafePoints, WayOut};
use std::rc::Rc;

/// Boundaries of a loop's body that are tried.
const MOST_BOUNDARIES: usize = 12;

impl Chooser<'_, '_> {
    /// Why these sites together are safe points; nothing for a program that passes no messages.
    pub(super) fn is_safe_point(&self, sites: &[PlacedSite]) -> Result<Option<String>, Vec<Reason>> {
        let Some(points) = &self.points else {
            return Ok(None);
        };
        let Some(new) = sites.last() else { return Ok(None) };
        match points.check(&places(points, sites)) {
            Ok(safe) => Ok(Some(safe.to_string())),
            Err(obstacle) => Err(vec![self.not_safe(
                new.function,
                &obstacle,
                sites.len() > 1,
                obstacle.way,
            )]),
        }
    }

    fn not_safe(&self, function: FnId, obstacle: &Obstacle, with_others: bool, way: WayOut) -> Reason {
        let file = match &obstacle.place {
            Some(place) if place.file != self.analysis.items.function(function).place.file.0 => {
                let name = self.files_function(place);
                format!("in {name}, ")
            }
            _ => String::new(),
        };
        Reason {
            function,
            line: obstacle.place.as_ref().map(|place| place.line),
            cause: Cause::NotSafe {
                with_others,
                obstacle: format!("{file}{obstacle}"),
                call: obstacle.call.clone(),
                way,
            },
        }
    }

    /// The function around a place in another file.
    fn files_function(&self, place: &SourcePlace) -> String {
        let functions = self.analysis.items.functions.iter();
        functions
            .filter(|one| one.place.file.0 == place.file && one.place.bytes.contains(&place.bytes.start))
            .min_by_key(|one| one.place.bytes.len())
            .map_or_else(|| "another file".into(), |one| format!("`{}`", one.display))
    }

    /// The first statement of a loop's body before which the site is a safe point, and all others, in their order.
    pub(super) fn safe_places(&self, id: LoopId, first: &PlacedSite) -> Vec<(PlacedSite, usize)> {
        let (Some(points), Some(body_at)) = (&self.points, self.analysis.graph.one_loop(id).body_at) else {
            return Vec::new();
        };
        let boundaries = points.boundaries_of(first.function.0, body_at);
        let mut found = Vec::new();
        for (at, line) in boundaries.into_iter().skip(1).take(MOST_BOUNDARIES) {
            let mut site = first.clone();
            site.site = SitePlace {
                at,
                holder: Holder::Inside(id),
                wraps: None,
            };
            let mut sites = self.chosen.clone();
            sites.push(site.clone());
            if self.is_safe_point(&sites).is_ok() {
                found.push((site, line));
            }
        }
        found
    }

    /// Whether all sites in a function that the user has marked are known, and so can be looked at.
    fn is_seen(&self, points: &SafePoints, function: FnId) -> Result<(), Reason> {
        let one = self.analysis.items.function(function);
        let reason = |cause: Cause| Reason {
            function,
            line: Some(one.place.line),
            cause,
        };
        let name = || one.display.clone();
        if is_chosen_by_attribute(one) {
            return Err(reason(Cause::ChosenByAttribute { function: name() }));
        }
        if points.sites_of_user(function.0).len() < written_in(&one.item.block) {
            return Err(reason(Cause::NotFollowed { function: name() }));
        }
        Ok(())
    }

    /// What is in the way of a site that the user has put into a loop without messages, if the ranks may go round that unequally
    /// often: also of one that the user vouches for, as there is another sort of site for such a loop.
    fn unequal_turns(&self, points: &SafePoints, function: FnId) -> Option<Obstacle> {
        let loops = || {
            self.analysis
                .graph
                .loops
                .iter()
                .filter(|one| one.function == function)
        };
        points
            .common_sites_of_user(function.0)
            .into_iter()
            .find_map(|at| {
                let around = loops().filter(|one| {
                    one.place.bytes.contains(&at) && one.body_at.is_some_and(|body| body <= at)
                });
                let inner = around.min_by_key(|one| one.place.bytes.len())?;
                let behind = points.behind_quiet(function.0, inner.body_at?)?;
                let obstacle = points.check_though_vouched(function.0, at).err()?;
                let is_unequal = matches!(
                    obstacle.way,
                    WayOut::EquallyOften | WayOut::Rounds | WayOut::DecideAlike
                );
                (is_unequal && points.check(&[(function.0, behind)]).is_ok()).then_some(obstacle)
            })
    }

    /// Sites of the user that are not safe points, and for which nobody vouches, are none.
    pub(super) fn check_sites_of_the_user(&mut self) {
        let Some(points) = self.points.clone() else { return };
        let mut kept: Vec<PlacedSite> = Vec::new();
        for mut site in std::mem::take(&mut self.chosen) {
            if let Err(reason) = self.is_seen(&points, site.function) {
                self.reject(&site, vec![reason]);
                continue;
            }
            if let Some(obstacle) = self.unequal_turns(&points, site.function) {
                let reason = self.not_safe(site.function, &obstacle, false, WayOut::Phase);
                self.reject(&site, vec![reason]);
                continue;
            }
            kept.push(site.clone());
            match points.check(&places(&points, &kept)) {
                Ok(safe) => {
                    site.safe = Some(safe.to_string());
                    if let Some(last) = kept.last_mut() {
                        *last = site;
                    }
                }
                Err(obstacle) => {
                    kept.pop();
                    let reason = self.not_safe(site.function, &obstacle, !kept.is_empty(), obstacle.way);
                    self.reject(&site, vec![reason]);
                }
            }
        }
        self.chosen = kept;
    }
}

/// Functions and bytes of the sites: those of the user stand where the user has put them.
fn places(points: &Rc<SafePoints>, sites: &[PlacedSite]) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    for site in sites {
        match site.site.holder {
            Holder::User => {
                let of_user = points.sites_of_user(site.function.0);
                places.extend(of_user.into_iter().map(|(at, ..)| (site.function.0, at)));
            }
            // The one behind the loop speaks for it.
            Holder::Phase(_) => {}
            _ => places.push((site.function.0, site.site.at)),
        }
    }
    places
}
