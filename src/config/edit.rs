//! Adds a waiver to a file, whose comments and order stay.

use jiff::civil::Date;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TomlError, value};

/// What `waive` adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWaiver {
    pub check: String,
    pub subject: String,
    pub cluster: Option<String>,
    pub reason: String,
    pub owner: Option<String>,
    pub until: Option<Date>,
}

/// Why there is nowhere to add one.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    NotToml(#[from] TomlError),
    #[error("`waiver` is there, but not as [[waiver]] tables: write it so, then run this again")]
    NotTables,
}

/// The text of the file with one waiver more.
///
/// # Errors
/// Where the text is no TOML, or has its waivers in another form.
pub fn append(text: &str, waiver: &NewWaiver) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse()?;
    let entry = document.entry("waiver").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let waivers = entry.as_array_of_tables_mut().ok_or(EditError::NotTables)?;
    let mut table = Table::new();
    let mut set = |key: &str, text: &str| table.insert(key, value(text));
    set("check", &waiver.check);
    set("subject", &waiver.subject);
    if let Some(cluster) = &waiver.cluster {
        set("cluster", cluster);
    }
    set("reason", &waiver.reason);
    if let Some(owner) = &waiver.owner {
        set("owner", owner);
    }
    if let Some(until) = waiver.until
        && let Ok(date) = until.to_string().parse::<toml_edit::Datetime>()
    {
        table.insert("until", value(date));
    }
    if !text.trim().is_empty() {
        table.decor_mut().set_prefix("\n");
    }
    waivers.push(table);
    Ok(document.to_string())
}
