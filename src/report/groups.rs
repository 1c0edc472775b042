//! The outcomes in the order in which people read them: by area, then by check.

use crate::{
    checks::{self, Area, Check},
    outcome::{Outcome, Status},
};

/// Id of the check of the policy that this program itself needs, which only `policy test` makes:
/// who lacks something in an account learns it from the unknowns.
pub(crate) const OWN_PERMISSIONS: &str = "preflight-permissions";

/// An area and its checks.
pub(super) struct Group<'a> {
    pub title: &'static str,
    pub checks: Vec<Judgement<'a>>,
}

/// A check and all that came of it.
pub(super) struct Judgement<'a> {
    pub id: &'a str,
    /// The id again for a check that this build does not know.
    pub title: &'a str,
    pub outcomes: Vec<&'a Outcome>,
}

impl Judgement<'_> {
    /// The worst status of its outcomes. A skip is no news beside a pass.
    pub fn status(&self) -> Status {
        let judged = self.outcomes.iter().map(|outcome| outcome.status);
        let worst = judged.filter(|status| *status != Status::Skipped).max();
        worst.unwrap_or(Status::Skipped)
    }

    /// Those that a person must look at, the failed before the rest.
    pub fn problems(&self) -> Vec<&Outcome> {
        let problems = [Status::Fail, Status::Warn, Status::Unknown];
        problems.into_iter().flat_map(|status| self.of_status(status)).collect()
    }

    pub fn of_status(&self, status: Status) -> Vec<&Outcome> {
        self.outcomes.iter().copied().filter(|outcome| outcome.status == status).collect()
    }

    /// `1 fail, 2 pass`; nothing where there is one outcome.
    pub fn tally(&self) -> Option<String> {
        let count = |status| self.outcomes.iter().filter(|o| o.status == status).count();
        let order = [
            Status::Fail,
            Status::Warn,
            Status::Unknown,
            Status::Waived,
            Status::Pass,
            Status::Skipped,
        ];
        let counts = order.map(|status| (status, count(status)));
        let found: Vec<_> = counts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(status, count)| format!("{count} {}", status.as_str()))
            .collect();
        (self.outcomes.len() > 1).then(|| found.join(", "))
    }
}

/// Groups the outcomes; the areas stand in the order in which a node comes to life, and
/// checks that this build does not know come last.
pub(super) fn groups<'a>(
    outcomes: impl IntoIterator<Item = &'a Outcome>,
    known: &'a [&'a Check],
) -> Vec<Group<'a>> {
    let outcomes: Vec<_> = outcomes.into_iter().collect();
    let find = |outcome: &Outcome| known.iter().copied().find(|check| check.id == outcome.check);
    // What only `policy test` judges stands in no list of an account's checks.
    let title = |outcome: &'a Outcome| {
        let check = find(outcome).or_else(|| checks::get(&outcome.check));
        check.map_or(outcome.check.as_str(), |check| check.title)
    };
    let of_area = |area: Option<Area>| {
        let members = outcomes.iter().copied();
        let members = members.filter(|outcome| find(outcome).map(|c| c.area) == area);
        let mut checks: Vec<Judgement<'a>> = Vec::new();
        for outcome in members {
            match checks.iter_mut().find(|check| check.id == outcome.check) {
                Some(check) => check.outcomes.push(outcome),
                None => checks.push(Judgement {
                    id: &outcome.check,
                    title: title(outcome),
                    outcomes: vec![outcome],
                }),
            }
        }
        Group { title: area.map_or("Other checks", Area::title), checks }
    };
    let areas = Area::ALL.into_iter().map(Some).chain([None]);
    areas.map(of_area).filter(|group| !group.checks.is_empty()).collect()
}
