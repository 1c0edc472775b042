//! The catalogue of documented errors.

/// A documented error.
pub struct DocumentedError {
    pub quote: String,
}

pub struct Catalogue;

impl Catalogue {
    pub fn get(&self, _id: &str) -> Option<&DocumentedError> {
        None
    }
}

pub fn catalogue() -> &'static Catalogue {
    &Catalogue
}
