//! Values in the forms that the flags take, so that a slip is an error with its line.

use serde::{Deserialize, Deserializer, de::Error};

use crate::{cli::words, target::Tag};

type Found<T> = Option<T>;

fn of<'de, D: Deserializer<'de>, T>(
    from: D,
    form: impl Fn(&str) -> Result<T, String>,
) -> Result<Found<T>, D::Error> {
    let text = String::deserialize(from)?;
    form(&text).map(Some).map_err(D::Error::custom)
}

pub fn cluster<'de, D: Deserializer<'de>>(from: D) -> Result<Found<String>, D::Error> {
    of(from, words::cluster)
}

pub fn region<'de, D: Deserializer<'de>>(from: D) -> Result<Found<String>, D::Error> {
    of(from, words::region)
}

pub fn profile<'de, D: Deserializer<'de>>(from: D) -> Result<Found<String>, D::Error> {
    of(from, words::profile)
}

pub fn kubernetes_name<'de, D: Deserializer<'de>>(from: D) -> Result<Found<String>, D::Error> {
    of(from, words::kubernetes_name)
}

pub fn role<'de, D: Deserializer<'de>>(from: D) -> Result<Found<String>, D::Error> {
    of(from, words::role)
}

pub fn roles<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let roles = Vec::<String>::deserialize(from)?;
    roles.iter().map(|role| words::role(role).map_err(D::Error::custom)).collect()
}

pub fn queue<'de, D: Deserializer<'de>>(from: D) -> Result<Found<String>, D::Error> {
    of(from, words::queue)
}

pub fn tag<'de, D: Deserializer<'de>>(from: D) -> Result<Found<Tag>, D::Error> {
    of(from, words::tag)
}
