//! YAML of any form, as it is read before anybody knows what it should be.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::Spanned;

/// A YAML value of any form.
#[derive(Debug, Clone, PartialEq)]
pub enum Yaml {
    Null,
    Text(String),
    /// A number or a truth value.
    Other(String),
    List(Vec<Spanned<Yaml>>),
    Map(Vec<(String, Spanned<Yaml>)>),
}

impl Yaml {
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }

    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// Every text in it.
    pub fn texts(&self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text.clone()],
            Self::List(items) => items.iter().flat_map(|item| item.value.texts()).collect(),
            Self::Map(fields) => fields.iter().flat_map(|(_, value)| value.value.texts()).collect(),
            Self::Null | Self::Other(_) => Vec::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

/// The name of a field. Numbers and truth values count as their text, lists and mappings as a
/// fault.
struct Key(String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Yaml::deserialize(deserializer)? {
            Yaml::Text(text) | Yaml::Other(text) => Ok(Self(text)),
            Yaml::Null => Ok(Self("null".to_owned())),
            Yaml::List(_) | Yaml::Map(_) => {
                Err(de::Error::custom("a list or a mapping where a name belongs"))
            }
        }
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Yaml;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("YAML")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Yaml, E> {
        Ok(Yaml::Text(text.to_owned()))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Yaml, E> {
        Ok(Yaml::Other(value.to_string()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Yaml, E> {
        Ok(Yaml::Other(value.to_string()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Yaml, E> {
        Ok(Yaml::Other(value.to_string()))
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Yaml, E> {
        Ok(Yaml::Other(value.to_string()))
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Yaml, E> {
        Ok(Yaml::Other(value.to_string()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Yaml, E> {
        Ok(Yaml::Other(value.to_string()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Yaml, E> {
        Ok(Yaml::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Yaml, E> {
        Ok(Yaml::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Yaml, D::Error> {
        Yaml::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Yaml, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Yaml::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Yaml, A::Error> {
        let mut fields = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            fields.push((key, map.next_value()?));
        }
        Ok(Yaml::Map(fields))
    }
}
