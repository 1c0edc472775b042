//! Every sample and every quote shows its own entry first, and no undeclared other.

use std::collections::BTreeSet;

use super::{all, catalogue, explained, first, samples};

#[test]
fn every_sample_shows_its_entry_first() {
    let wrong: Vec<_> = samples()
        .into_iter()
        .map(|sample| (first(&sample.text), sample))
        .filter(|(found, sample)| *found != sample.id)
        .map(|(found, sample)| format!("{} not {found}: {}", sample.id, sample.text))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_quote_shows_its_entry_first() {
    let wrong: Vec<_> = catalogue()
        .iter()
        .map(|entry| (first(&entry.quote), entry))
        .filter(|(found, entry)| *found != entry.id)
        .map(|(found, entry)| format!("{} not {found}: {}", entry.id, entry.quote))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_sample_shows_no_undeclared_entry() {
    let mut wrong = BTreeSet::new();
    for sample in samples() {
        let own = catalogue().get(&sample.id).unwrap();
        let explanation = explained(&sample.text);
        for id in all(&explanation) {
            let other = catalogue().get(id).unwrap();
            let declared = own.shares.iter().any(|shared| shared == id)
                || other.shares.contains(&own.id)
                || own.follows.iter().any(|cause| cause == id)
                || other.follows.contains(&own.id);
            if id != own.id && !declared {
                wrong.insert(format!("{} shows {id}: {}", own.id, sample.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.into_iter().collect::<Vec<_>>().join("\n\n"));
}

#[test]
fn every_entry_has_a_sample() {
    let sampled: BTreeSet<_> = samples().into_iter().map(|sample| sample.id).collect();
    let missing: Vec<_> = catalogue().iter().filter(|entry| !sampled.contains(&entry.id)).collect();
    assert!(missing.is_empty(), "{:?}", missing.iter().map(|entry| &entry.id).collect::<Vec<_>>());
}

#[test]
fn every_pattern_is_found_where_it_stands() {
    for entry in catalogue().iter() {
        for pattern in &entry.patterns {
            let text = pattern.replace('*', " x ");
            let explanation = explained(&text);
            assert!(all(&explanation).contains(&entry.id.as_str()), "{}: {pattern}", entry.id);
        }
    }
}

#[test]
fn every_sample_names_a_public_source() {
    for sample in samples() {
        assert!(sample.source.starts_with("https://"), "{}", sample.text);
    }
}
