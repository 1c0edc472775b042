//! Reading JSON with an eye on the place, so that an error can point at it.

use std::{borrow::Cow, fmt};

use crate::iam::json::Json;
use crate::iam::parse::PolicyError;

/// Where in the document we are; put into words only for an error.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    Root,
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl<'p> Path<'p> {
    pub(crate) fn key(&'p self, key: &'p str) -> Path<'p> {
        Path::Key(self, key)
    }

    pub(crate) fn index(&'p self, index: usize) -> Path<'p> {
        Path::Index(self, index)
    }

    pub(crate) fn err<T>(&self, message: impl fmt::Display) -> Result<T, PolicyError> {
        Err(PolicyError::Invalid { at: self.to_string(), message: message.to_string() })
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Key(Path::Root, key) => f.write_str(key),
            Path::Key(parent, key) => write!(f, "{parent}.{key}"),
            Path::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// The entries of an object; an error where it is none or names a key twice.
pub(crate) fn object<'a>(json: Json<'a>, at: &Path<'_>) -> Result<Entries<'a>, PolicyError> {
    /// To hold so few entries against each other takes less than to sort them.
    const FEW: usize = 12;
    let entries = match json {
        Json::Object(entries) => entries,
        other => return at.err(format_args!("must be an object, is {}", other.what())),
    };
    let twice = match entries.len() <= FEW {
        true => (1..entries.len()).find(|&i| entries[..i].iter().any(|(k, _)| *k == entries[i].0)),
        false => {
            let mut order: Vec<usize> = (0..entries.len()).collect();
            order.sort_by_key(|&i| &entries[i].0);
            let mut pairs = order.windows(2);
            pairs.find(|pair| entries[pair[0]].0 == entries[pair[1]].0).map(|pair| pair[1])
        }
    };
    match twice {
        Some(i) => at.key(&entries[i].0).err("is given twice"),
        None => Ok(entries),
    }
}

/// The keys of an object with their values.
type Entries<'a> = Vec<(Cow<'a, str>, Json<'a>)>;

pub(crate) fn text<'a>(json: Json<'a>, at: &Path<'_>) -> Result<Cow<'a, str>, PolicyError> {
    match json {
        Json::Text(text) => Ok(text),
        other => at.err(format_args!("must be a string, is {}", other.what())),
    }
}

/// Reads one or a list of things with `read`.
pub(crate) fn one_or_many<'a, T>(
    json: Json<'a>,
    at: &Path<'_>,
    read: impl Fn(Json<'a>, &Path<'_>) -> Result<T, PolicyError>,
) -> Result<Vec<T>, PolicyError> {
    let Json::List(items) = json else { return Ok(vec![read(json, at)?]) };
    items.into_iter().enumerate().map(|(i, item)| read(item, &at.index(i))).collect()
}

/// Like [`one_or_many`], but not none.
pub(crate) fn some<'a, T>(
    json: Json<'a>,
    at: &Path<'_>,
    read: impl Fn(Json<'a>, &Path<'_>) -> Result<T, PolicyError>,
) -> Result<Vec<T>, PolicyError> {
    let items = one_or_many(json, at, read)?;
    if items.is_empty() { at.err("must not be an empty list") } else { Ok(items) }
}
