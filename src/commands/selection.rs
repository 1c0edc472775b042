//! `--select` and `--exclude`: ids of checks, or areas.

use crate::checks::{self, Check};
pub use crate::cli::suggest::unknown_of;

/// The checks that are selected and not excluded, in the registry's order.
pub fn select(select: &[String], exclude: &[String]) -> Result<Vec<&'static Check>, String> {
    let trimmed = |ids: &[String]| ids.iter().map(|id| id.trim().to_owned()).collect::<Vec<_>>();
    let (select, exclude) = (&trimmed(select), &trimmed(exclude));
    let known = ids_and_areas();
    for id in select.iter().chain(exclude) {
        if !known.contains(&id.as_str()) {
            return Err(unknown(id, "check or area", &known));
        }
    }
    let names = |list: &[String], check: &Check| {
        list.iter().any(|id| id == check.id || id == check.area.as_str())
    };
    let selected: Vec<_> = checks::ALL
        .iter()
        .copied()
        .filter(|check| select.is_empty() || names(select, check))
        .filter(|check| !names(exclude, check))
        .collect();
    if selected.is_empty() {
        return Err("--select and --exclude leave no check to run".to_owned());
    }
    Ok(selected)
}

pub use crate::checks::{ids, ids_and_areas};

/// Says that an id is not known, and which one may be meant.
pub fn unknown(id: &str, kind: &str, known: &[&str]) -> String {
    unknown_of(id, kind, known, "see `karpenter-preflight list checks`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids_of(select: &[&str], exclude: &[&str]) -> Result<Vec<&'static str>, String> {
        let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let checks = super::select(&owned(select), &owned(exclude))?;
        Ok(checks.into_iter().map(|check| check.id).collect())
    }

    #[test]
    fn ids_and_areas() {
        assert_eq!(ids_of(&[], &[]).map(|ids| ids.len()), Ok(checks::ALL.len()));
        assert_eq!(
            ids_of(&["spot-service-linked-role"], &[]),
            Ok(vec!["spot-service-linked-role"])
        );
        let launch = ids_of(&["launch"], &[]).unwrap();
        assert!(launch.contains(&"spot-service-linked-role"));
        let without = ids_of(&["launch"], &["spot-service-linked-role"]);
        assert!(without.is_err() || !without.unwrap().contains(&"spot-service-linked-role"));
        assert!(ids_of(&["launch"], &["launch"]).is_err());
    }

    #[test]
    fn unknown_ids_get_a_suggestion() {
        let error = ids_of(&["spot-service-linked-rol"], &[]).unwrap_err();
        assert!(error.contains("did you mean `spot-service-linked-role`?"), "{error}");
        let error = ids_of(&["zzz"], &[]).unwrap_err();
        assert!(error.contains("list checks"), "{error}");
    }
}
