//! A library of three functions, to show what a model is made of: `put(to, data)`, `take(from)` and `everyone()`.

use super::table::CallTable;
use super::{Caller, CommModel, Outcome};
use crate::skeleton::call::CommCall;
use crate::skeleton::{Boundary, CallOp, Code, ControlOp, MemoryOp, Op, Outside, Skeleton, ValueOp};
use crate::values::{Binary, Value};
use crate::{Obstacle, Safe, SafePoints};
use std::rc::Rc;

const TABLE: &str = r#"
[send]
put = { to = 0, data = 1, world = true }
[receive]
take = { from = 0, gives = "value", world = true }
[collective]
everyone = { waits = "all", world = true }
"#;

#[derive(Debug)]
struct Toy(CallTable);

impl CommModel for Toy {
    fn crate_name(&self) -> &str {
        "toy"
    }

    fn method(&self, _: &str) -> Option<Rc<CommCall>> {
        None
    }

    fn function(&self, path: &[String]) -> Option<Rc<CommCall>> {
        match path {
            [library, name] if library == "toy" => self.0.get(name),
            _ => None,
        }
    }

    fn number_type(&self, _: &str) -> Option<&str> {
        None
    }

    fn leaves_receiver(&self, _: &str) -> bool {
        false
    }

    fn call_method(&self, _: &mut Caller<'_, '_>, _: &str, _: &Value, _: &[Value]) -> Outcome {
        Outcome::Foreign
    }

    fn call_function(&self, caller: &mut Caller<'_, '_>, path: &[&str], _: &[Value]) -> Outcome {
        match path {
            ["toy", "me"] => Outcome::Gives(Value::Int(caller.index() as i128)),
            _ => Outcome::Foreign,
        }
    }
}

/// A statement of a toy program.
#[derive(Clone, Copy)]
enum Statement {
    Site,
    /// To the other rank of a pair.
    Put,
    /// From it.
    Take,
    Everyone,
    /// For rank 0 alone.
    OnFirst(&'static Statement),
}

/// A program for two ranks: a loop of a few turns over these statements.
struct Builder {
    model: Toy,
    code: Code,
    sites: usize,
}

impl Builder {
    fn op(&mut self, op: impl Into<Op>) -> usize {
        self.code.ops.push(op.into());
        self.code.places.push(0);
        self.code.ops.len() - 1
    }

    fn call(&mut self, name: &str, arguments: usize) {
        let path = ["toy", name].map(str::to_owned);
        let function = Outside {
            message: self.model.function(&path),
            path: path.map(Rc::from).into(),
            arguments,
            ..Outside::default()
        };
        self.op(CallOp::Outside(Rc::new(function)));
    }

    fn other(&mut self) {
        self.op(ValueOp::Push(Value::Int(1)));
        self.call("me", 0);
        self.op(ValueOp::Binary(Binary::Sub));
    }

    fn statement(&mut self, statement: Statement) {
        match statement {
            Statement::Site => {
                self.op(ControlOp::Boundary(self.sites));
                self.sites += 1;
            }
            Statement::Put => {
                self.other();
                self.op(ValueOp::Push(Value::Int(7)));
                self.call("put", 2);
                self.op(ValueOp::Pop);
            }
            Statement::Take => {
                self.other();
                self.call("take", 1);
                self.op(ValueOp::Pop);
            }
            Statement::Everyone => {
                self.call("everyone", 0);
                self.op(ValueOp::Pop);
            }
            Statement::OnFirst(inner) => {
                self.call("me", 0);
                self.op(ValueOp::Push(Value::Int(0)));
                self.op(ValueOp::Binary(Binary::Eq));
                let branch = self.op(ControlOp::Branch(0, 0));
                self.statement(*inner);
                self.op(ValueOp::Push(Value::Unit));
                let jump = self.op(ControlOp::Jump(0));
                let other = self.op(ValueOp::Push(Value::Unit));
                let join = self.op(ValueOp::Pop);
                self.code.ops[branch] = Op::Control(ControlOp::Branch(other, join));
                self.code.ops[jump] = Op::Control(ControlOp::Jump(join));
            }
        }
    }
}

fn skeleton(body: &[Statement]) -> Skeleton {
    let mut builder = Builder {
        model: Toy(CallTable::read(TABLE)),
        code: Code {
            name: "main".into(),
            slots: 2,
            ..Code::default()
        },
        sites: 0,
    };
    builder.op(ValueOp::Push(Value::Int(0)));
    builder.op(ValueOp::Push(Value::Int(3)));
    builder.op(ValueOp::Range(false, true, true));
    builder.op(ValueOp::Iterate);
    builder.op(MemoryOp::Declare(0));
    let enter = builder.op(ControlOp::Enter(0));
    let head = builder.op(ControlOp::Next(0, 0));
    builder.op(MemoryOp::Declare(1));
    body.iter().for_each(|one| builder.statement(*one));
    builder.op(ControlOp::Jump(head));
    let exit = builder.op(ControlOp::Exit);
    builder.code.ops[enter] = Op::Control(ControlOp::Enter(exit));
    builder.code.ops[head] = Op::Control(ControlOp::Next(0, exit));
    builder.op(ValueOp::Push(Value::Unit));
    builder.op(ControlOp::Return);
    let boundary = |at: usize| Boundary {
        behind: None,
        function: 0,
        at,
        line: at,
        body_at: 0,
        user: None,
        for_itself: false,
    };
    Skeleton {
        boundaries: (0..builder.sites).map(boundary).collect(),
        codes: vec![builder.code],
        ..Skeleton::default()
    }
}

/// Whether the site of this number is a safe point of a program for two ranks.
fn check(body: &[Statement], site: usize) -> Result<Safe, Obstacle> {
    let model = Rc::new(Toy(CallTable::read(TABLE)));
    SafePoints::new(skeleton(body), model, Some(2)).check(&[(0, site)])
}

#[test]
fn a_site_behind_the_message_is_safe_and_one_in_front_of_its_end_is_not() {
    use Statement::{Put, Site, Take};
    let body = [Site, Put, Site, Take, Site];
    for (site, safe) in [(0, true), (1, false), (2, true)] {
        assert_eq!(check(&body, site).is_ok(), safe, "site {site}");
    }
    let obstacle = check(&body, 1).unwrap_err();
    assert_eq!(obstacle.call, "put");
    assert!(obstacle.why.contains("still on its way"), "{obstacle}");
}

#[test]
fn a_site_that_all_meet_at_is_safe_and_one_that_a_rank_leaves_alone_is_not() {
    use Statement::{Everyone, OnFirst, Put, Site, Take};
    assert!(check(&[Put, Everyone, Take, Everyone, Site], 0).is_ok());
    let alone = [OnFirst(&Everyone), Site];
    assert!(check(&alone, 0).unwrap_err().call.contains("everyone"));
    let twice = [Put, OnFirst(&Put), Site, Take];
    assert!(check(&twice, 0).is_err());
}
