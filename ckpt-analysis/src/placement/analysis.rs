//! What the stages before the placement have found, and what the later ones ask more than once.

use super::asked::Asked;
use super::{ChooseOptions, Placement, choose, expressible};
use crate::cost::Costs;
use crate::cost::profile::{self, Measured};
use crate::facts::Facts;
use crate::items::FnId;
use crate::source::Program;
use crate::{cost, skeleton};
use ckpt_compiler::library::CallTable;
use ckpt_safepoints::SafePoints;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

/// Nothing for a program that does not use MPI.
type Points = Option<Rc<SafePoints>>;

/// The facts of a package, with its safe points, its costs, and what the stages of one function have said.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    facts: Facts,
    /// What the stages of one function have been asked.
    pub(crate) asked: Asked,
    /// Which sites no message crosses, by number of ranks; worked out when it is asked for.
    points: RefCell<HashMap<(FnId, Option<usize>), Points>>,
    /// The costs that an instrumented run has shown.
    measured: Option<MeasuredCosts>,
}

/// Costs of a run, and what they had been taken for.
#[derive(Debug)]
struct MeasuredCosts {
    /// The `main` that it began in.
    main: FnId,
    costs: Costs,
    estimated: Costs,
}

impl Deref for Analysis {
    type Target = Facts;

    fn deref(&self) -> &Facts {
        &self.facts
    }
}

impl Analysis {
    /// What tells safe points, for a run with this many ranks or with any number; nothing for a program that does not
    /// use MPI.
    pub fn safe_points(&self, main: FnId, ranks: Option<usize>) -> Option<Rc<SafePoints>> {
        let key = (main, ranks);
        if let Some(known) = self.points.borrow().get(&key) {
            return known.clone();
        }
        let points = skeleton::safe_points(self, main, ranks).map(Rc::new);
        self.points.borrow_mut().insert(key, points.clone());
        points
    }

    /// The costs of a run that begins in `main`: measured if [`Self::measured_by`] was told of such a run, else estimates.
    pub fn costs(&self, main: FnId) -> Costs {
        match &self.measured {
            Some(measured) if measured.main == main => measured.costs.clone(),
            _ => cost::costs(&self.graph, main),
        }
    }

    /// The estimates that measured costs stand for.
    pub fn estimated(&self) -> Option<&Costs> {
        Some(&self.measured.as_ref()?.estimated)
    }

    /// Takes the result of an instrumented run that began in the `main` of the first crate: weights, costs and shares
    /// come from it where it has something to say.
    pub fn measured_by(&mut self, seen: &Measured) {
        if let Some(main) = self.items.main_of(0) {
            let estimated = cost::costs(&self.graph, main);
            let costs = profile::apply(&mut self.facts.graph, &estimated, seen);
            self.measured = Some(MeasuredCosts {
                main,
                costs,
                estimated,
            });
        }
    }
}

/// Finds out what can be known without looking at a particular `main`, with no table of a user's.
#[cfg(test)]
pub(crate) fn analyse(program: &Program) -> Analysis {
    analyse_with(program, &CallTable::default())
}

/// Finds out what can be known without looking at a particular `main`, with what the user says that calls mean.
pub(crate) fn analyse_with(program: &Program, by_user: &CallTable) -> Analysis {
    Analysis {
        facts: Facts::of(program, by_user),
        ..Analysis::default()
    }
}

/// Chooses the sites for a run that begins in `main`, such that the stages of one function accept them.
pub(crate) fn place(analysis: &Analysis, main: FnId, options: &ChooseOptions) -> Placement {
    choose(analysis, main, options, &mut |candidate| {
        expressible::can_hold(analysis, candidate)
    })
}
