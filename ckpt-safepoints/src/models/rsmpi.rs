//! What rsmpi's calls do to messages, read from `tables/messages.toml`.

use crate::skeleton::call::{Call, Gives, Sort, Waits};
use std::collections::HashMap;
use std::rc::Rc;
use toml::Table;

/// The table.
#[derive(Debug)]
pub struct Calls(HashMap<String, Rc<Call>>);

thread_local! {
    static CALLS: Rc<Calls> = Rc::new(Calls::read(include_str!("../../tables/messages.toml")));
}

impl Calls {
    /// The table that ckpt brings along.
    pub fn builtin() -> Rc<Self> {
        CALLS.with(Rc::clone)
    }

    /// What a method or function of this name does, if it is one of rsmpi's that communicate.
    pub fn get(&self, name: &str) -> Option<&Rc<Call>> {
        self.0.get(name)
    }

    /// What a function of MPI itself does: whatever may communicate is not followed.
    pub fn raw(&self, name: &str) -> Option<Rc<Call>> {
        const HARMLESS: [&str; 12] = [
            "MPI_Wtime",
            "MPI_Wtick",
            "MPI_Comm_rank",
            "MPI_Comm_size",
            "MPI_Initialized",
            "MPI_Finalized",
            "MPI_Abort",
            "MPI_Get_",
            "MPI_Type_",
            "MPI_Error_",
            "MPI_Op_",
            "MPI_Info_",
        ];
        if HARMLESS.iter().any(|start| name.starts_with(start)) && name != "MPI_Get_accumulate" {
            return None;
        }
        let why = if name.starts_with("MPI_Win")
            || name.contains("ccumulate")
            || matches!(name, "MPI_Put" | "MPI_Get")
        {
            "windows are not followed: any rank may write to another's memory"
        } else {
            "calls of MPI itself, past rsmpi, are not followed"
        };
        one("opaque", name, &toml::Value::String(why.into())).map(Rc::new)
    }

    /// A table of this crate that is malformed is a bug, and a test reads it.
    fn read(text: &str) -> Self {
        let table: Table = text
            .parse()
            .unwrap_or_else(|error| panic!("messages.toml: {error}"));
        let mut calls = HashMap::new();
        for (section, entries) in &table {
            for (name, entry) in entries.as_table().into_iter().flatten() {
                let call =
                    one(section, name, entry).unwrap_or_else(|| panic!("messages.toml: {section}.{name}"));
                calls.insert(name.clone(), Rc::new(call));
            }
        }
        Self(calls)
    }
}

fn one(section: &str, name: &str, entry: &toml::Value) -> Option<Call> {
    let index = |key: &str| {
        entry
            .get(key)
            .and_then(toml::Value::as_integer)
            .map(|at| at as usize)
    };
    let word = |key: &str| entry.get(key).and_then(toml::Value::as_str);
    let flag = |key: &str| entry.get(key).and_then(toml::Value::as_bool).unwrap_or(false);
    let sort = match section {
        "send" => Sort::Send,
        "receive" => Sort::Receive,
        "probe" => Sort::Probe,
        "ask" => Sort::Ask,
        "test" => Sort::Test,
        "exchange" => Sort::Exchange,
        "collective" => Sort::Collective(match word("waits")? {
            "all" => Waits::All,
            "from root" => Waits::FromRoot,
            "to root" => Waits::ToRoot,
            "below" => Waits::Below,
            _ => return None,
        }),
        "communicator" => Sort::Communicator,
        "opaque" => Sort::Opaque(entry.as_str()?.to_owned()),
        _ => return None,
    };
    let gives = match word("gives") {
        None => Gives::Nothing,
        Some("status") => Gives::Status,
        Some("value and status") => Gives::ValueAndStatus,
        Some("message and status") => Gives::MessageAndStatus,
        Some(_) => return None,
    };
    Some(Call {
        name: name.into(),
        sort,
        kind: word("kind").unwrap_or(name).into(),
        data: index("data"),
        tag: index("tag"),
        send_tag: index("send_tag"),
        to: index("to"),
        from: index("from"),
        into: index("into"),
        color: index("color"),
        key: index("key"),
        group: index("group"),
        retain: index("retain"),
        cartesian: flag("cartesian"),
        request: flag("request"),
        same: flag("same"),
        gives,
    })
}

#[cfg(test)]
mod tests {
    use super::{Calls, Sort};

    #[test]
    fn the_table_is_read_and_knows_the_calls() {
        let calls = Calls::builtin();
        assert_eq!(calls.get("send").unwrap().sort, Sort::Send);
        assert_eq!(calls.get("receive_into_with_tag").unwrap().tag, Some(1));
        assert!(calls.get("immediate_receive_into").unwrap().request);
        assert!(calls.get("rank").is_none());
    }
}
