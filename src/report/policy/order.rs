//! The order in which people expect the fields of a policy.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

const FIELDS: [&str; 11] = [
    "Version",
    "Id",
    "Statement",
    "Sid",
    "Effect",
    "Principal",
    "Action",
    "Resource",
    "Condition",
    "name",
    "document",
];

/// The fields in the order in which people expect them; others after those, by name.
pub(super) fn fields(object: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let rank = |name: &str| FIELDS.iter().position(|field| *field == name);
    let mut fields: Vec<_> = object.iter().collect();
    fields.sort_by_key(|(name, _)| rank(name).unwrap_or(FIELDS.len()));
    fields
}

/// A value that is written in this order.
pub(super) struct Ordered<'a>(pub &'a Value);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                for (name, value) in fields(object) {
                    map.serialize_entry(name, &Ordered(value))?;
                }
                map.end()
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Ordered)),
            other => other.serialize(serializer),
        }
    }
}
