//! What a word that is not known may have been meant as.

/// Says that a word is not known, and which one may be meant, or what to do where none is alike.
pub fn unknown_of(id: &str, kind: &str, known: &[&str], advice: &str) -> String {
    /// Below this similarity (Jaro-Winkler, 0 to 1) a suggestion only confuses.
    const ALIKE: f64 = 0.8;
    let likeness = |known: &&str| strsim::jaro_winkler(id, known);
    let nearest = known
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
        .filter(|nearest| likeness(nearest) > ALIKE);
    match nearest {
        Some(nearest) => format!("there is no {kind} `{id}`: did you mean `{nearest}`?"),
        None => format!("there is no {kind} `{id}`: {advice}"),
    }
}
