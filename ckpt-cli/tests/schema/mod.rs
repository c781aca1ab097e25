//! Whether what a command prints as JSON is what its schema in the book says: no field is missing, none is of another type,
//! and none is left out of the schema. Of JSON Schema this knows what those schemas use.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

/// What may stand in a schema.
const KEYWORDS: [&str; 14] = [
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "default",
];

/// Compares a document with the schema of its command.
///
/// # Panics
/// If it is not of that.
#[track_caller]
pub fn check(command: &str, document: &Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/schemas");
    let path = folder.join(format!("{command}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let schema: Value = serde_json::from_str(&text).unwrap();
    let found = Schema { whole: &schema }.faults(&schema, document, "document");
    assert!(
        found.is_empty(),
        "{command}:\n{}\nin {document:#}",
        found.join("\n")
    );
}

struct Schema<'s> {
    whole: &'s Value,
}

impl Schema<'_> {
    fn faults(&self, schema: &Value, value: &Value, place: &str) -> Vec<String> {
        let Some(schema) = schema.as_object() else {
            return vec![format!("{place}: the schema is no object")];
        };
        let unknown = schema.keys().find(|name| !KEYWORDS.contains(&name.as_str()));
        assert_eq!(unknown, None, "this checks nothing of the kind");
        let mut faults = Vec::new();
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.whole.pointer(name.trim_start_matches('#'));
            let target = target.unwrap_or_else(|| panic!("{place}: no {name}"));
            faults.extend(self.faults(target, value, place));
        }
        if let Some(types) = schema.get("type")
            && !is_of(types, value)
        {
            faults.push(format!("{place}: {value} is not of type {types}"));
        }
        if schema.get("const").is_some_and(|only| only != value) {
            faults.push(format!("{place}: {value} is not {}", schema["const"]));
        }
        if let Some(Value::Array(values)) = schema.get("enum")
            && !values.contains(value)
        {
            faults.push(format!("{place}: {value} is none of {values:?}"));
        }
        if let Some(Value::Array(choices)) = schema.get("anyOf") {
            let each: Vec<Vec<String>> = choices
                .iter()
                .map(|choice| self.faults(&joined(schema, choice, self.whole), value, place))
                .collect();
            if each.iter().all(|faults| !faults.is_empty()) {
                faults.push(format!("{place}: none of these fits: {each:?}"));
            }
        }
        if let (Some(items), Some(list)) = (schema.get("items"), value.as_array()) {
            for (index, one) in list.iter().enumerate() {
                faults.extend(self.faults(items, one, &format!("{place}[{index}]")));
            }
        }
        if let Some(fields) = value.as_object() {
            faults.extend(self.faults_of_fields(schema, fields, place));
        }
        faults
    }

    fn faults_of_fields(
        &self,
        schema: &Map<String, Value>,
        fields: &Map<String, Value>,
        place: &str,
    ) -> Vec<String> {
        let mut faults = Vec::new();
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                faults.push(format!("{place}: there is no {name}"));
            }
        }
        let described = schema.get("properties").and_then(Value::as_object);
        for (name, value) in fields {
            let place = format!("{place}.{name}");
            match (
                described.and_then(|all| all.get(name)),
                schema.get("additionalProperties"),
            ) {
                (Some(one), _) | (None, Some(one)) => faults.extend(self.faults(one, value, &place)),
                // Readers are to know more fields than they are told of; the schema has to know all.
                (None, None) if described.is_some() && !schema.contains_key("anyOf") => {
                    faults.push(format!("{place}: the schema does not know it"));
                }
                (None, None) => {}
            }
        }
        faults
    }
}

/// A choice, with the fields that all choices have.
fn joined(schema: &Map<String, Value>, choice: &Value, whole: &Value) -> Value {
    let target = choice.get("$ref").and_then(Value::as_str);
    let target = target.and_then(|name| whole.pointer(name.trim_start_matches('#')));
    let mut choice = target.unwrap_or(choice).clone();
    let common = schema.get("properties").and_then(Value::as_object);
    if let (Some(common), Some(own)) = (
        common,
        choice.get_mut("properties").and_then(Value::as_object_mut),
    ) {
        own.extend(common.clone());
    }
    choice
}

fn is_of(types: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type of JSON: {other}"),
    };
    match types {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => false,
    }
}

#[test]
fn what_is_not_of_a_schema_is_found() {
    let document = serde_json::json!({ "schema_version": 1, "folder": "x", "bytes": 3, "removed": true });
    check("clean", &document);
    let is_refused = |change: &dyn Fn(&mut Value)| {
        let mut changed = document.clone();
        change(&mut changed);
        std::panic::catch_unwind(|| check("clean", &changed)).is_err()
    };
    assert!(is_refused(&|changed| changed["bytes"] = "3".into()));
    assert!(is_refused(&|changed| changed["schema_version"] = 2.into()));
    assert!(is_refused(&|changed| changed["more"] = 1.into()));
    assert!(is_refused(&|changed| {
        changed.as_object_mut().unwrap().remove("folder");
    }));
}
