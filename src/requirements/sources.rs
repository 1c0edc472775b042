//! Where the data of `policies/` comes from.

use super::load::About;
use super::node::Capability;
use super::{auto_mode, controller, entry, kubernetes, node, queue, rules, statement, versions};

/// The sources of every data file that has any, with the day they were last looked at.
pub fn sources() -> Vec<&'static About> {
    let mut all =
        vec![versions::about(), kubernetes::about(), rules::about(), node::about(), queue::about()];
    all.extend(statement::abouts());
    all.extend(auto_mode::files().iter().map(|file| &file.about));
    all.extend(controller::files().iter().map(|file| &file.about));
    all.extend(Capability::ALL.map(|capability| &node::file(capability).about));
    all.extend(entry::RESOURCES.iter().map(|file| &file.about));
    all.extend(entry::TAGS.iter().map(|file| &file.about));
    all
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_data_file_has_sources_and_a_date() {
        super::sources().iter().for_each(|about| about.assert_sound());
    }
}
