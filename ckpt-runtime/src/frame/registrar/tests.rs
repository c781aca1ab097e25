//! Links, and the frame that each is led to.

use super::*;
use crate::plan::{FunctionPlan, SiteKind, SitePlan};
use crate::state::snapshot::{Content, Snapshot};

static PLAN: FunctionPlan = FunctionPlan {
    sites: &[SitePlan {
        line: 2,
        column: 3,
        kind: SiteKind::Checkpoint,
        variables: &[
            VariablePlan {
                key: "x",
                line: 4,
                on_demand: false,
            },
            VariablePlan {
                key: "y",
                line: 5,
                on_demand: false,
            },
        ],
    }],
    ..FunctionPlan::SAMPLE
};

pub(in crate::frame) fn gather(frames: &[&dyn Fn(&mut Registrar)]) -> Result<Snapshot, Missing> {
    let mut registrar = Registrar::new(Some(SnapshotBuilder::new()));
    for frame in frames {
        registrar.hear((&PLAN, 1), &Cell::new(0), *frame)?;
    }
    Ok(registrar.finish().unwrap().finish().unwrap())
}

fn described(snapshot: &Snapshot) -> Vec<Vec<String>> {
    let describe = |variable: &crate::state::snapshot::VariableRecord| {
        let content = match &variable.content {
            Content::Value(_) => "value".to_owned(),
            Content::Link { frame, key } => format!("{frame}/{key}"),
        };
        format!(
            "{}:{} {:?} {content}",
            variable.key, variable.line, variable.parameter
        )
    };
    snapshot
        .frames
        .iter()
        .map(|frame| frame.variables.iter().map(describe).collect())
        .collect()
}

#[test]
fn a_variable_lent_through_several_calls_is_one_link_to_its_value() {
    let snapshot = gather(&[
        &|r| {
            r.save("y", &1.0);
            r.lent("x", 1, None);
        },
        &|r| r.lent_parameter(1, "p", 0, None),
        &|r| r.lent_parameter(0, "q", 2, None),
        &|r| {
            r.parameter(0, "unneeded", &3.0);
            r.parameter(2, "x", &2.0);
        },
    ]);
    assert_eq!(
        described(&snapshot.unwrap()),
        [
            vec!["y:5 None value", "x:4 None 3/x"],
            vec!["p:0 Some(1) 3/x"],
            vec!["q:0 Some(0) 3/x"],
            vec!["x:4 Some(2) value"]
        ]
    );
}

#[test]
fn a_parameter_is_saved_only_if_someone_restores_it() {
    let snapshot = gather(&[&|r| r.wants(1), &|r| {
        r.required("y");
        r.parameter(0, "x", &1.0);
        r.parameter(1, "z", &2.0);
        r.parameter(2, "y", &3.0);
    }]);
    assert_eq!(
        described(&snapshot.unwrap()),
        [vec![], vec!["z:0 Some(1) value", "y:5 Some(2) value"]]
    );
}

#[test]
fn a_parameter_that_is_needed_and_not_offered_is_named() {
    let consumed = |parameter| Some(Missing::Consumed { parameter });
    assert_eq!(
        gather(&[&|r| r.lent("x", 0, None), &|r| r.parameter(1, "y", &1.0)]).err(),
        consumed(0)
    );
    let frames: [&dyn Fn(&mut Registrar); 3] = [
        &|r| r.lent("x", 0, None),
        &|r| r.lent_parameter(0, "p", 7, None),
        &|_| {},
    ];
    assert_eq!(gather(&frames).err(), consumed(7));
    let unsaveable = Missing::Unsaveable {
        parameter: 0,
        key: "p",
        rust_type: "T",
    };
    assert_eq!(
        gather(&[&|r| r.wants(0), &|r| r.cannot_offer(0, "p", &(), "T")]).err(),
        Some(unsaveable)
    );
    assert!(gather(&[&|_| {}, &|r| r.cannot_offer(0, "p", &(), "T")]).is_ok());
}
