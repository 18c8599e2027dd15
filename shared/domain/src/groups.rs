use serde::{Deserialize, Serialize};

/// The names of a caller's groups, or of the groups that may use something: sorted, each once, at most
/// [`Self::MAX_GROUPS`] names of 1 to [`Self::MAX_CHARS`] characters without surrounding white space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Groups(Vec<String>);

impl Groups {
    /// Maximum number of names.
    pub const MAX_GROUPS: usize = 64;

    /// Maximum length of a name, in characters.
    pub const MAX_CHARS: usize = 128;

    /// Creates the groups with these names in any order; `None` if a name is invalid, or if there are too many.
    pub fn new(names: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut names: Vec<String> = names.into_iter().take(Self::MAX_GROUPS + 1).collect();
        let is_valid =
            |name: &String| !name.is_empty() && name.trim() == name && name.chars().nth(Self::MAX_CHARS).is_none();
        if names.len() > Self::MAX_GROUPS || !names.iter().all(is_valid) {
            return None;
        }
        names.sort();
        names.dedup();
        Some(Self(names))
    }

    /// The names, sorted.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Whether no group is named. Something that names no group is for every caller.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a member of `groups` may use something that is for these.
    pub fn admit(&self, groups: &Self) -> bool {
        self.is_empty() || self.0.iter().any(|name| groups.0.binary_search(name).is_ok())
    }
}

impl TryFrom<Vec<String>> for Groups {
    type Error = &'static str;

    fn try_from(names: Vec<String>) -> Result<Self, Self::Error> {
        Self::new(names).ok_or("an array of at most 64 names of groups")
    }
}

/// Decides what a caller may use of what is for groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Membership {
    /// The caller's groups.
    pub groups: Groups,
    /// Whether the caller is an administrator.
    pub is_administrator: bool,
}

impl Membership {
    /// The membership of an operator, who may use everything.
    pub fn administrator() -> Self {
        Self { is_administrator: true, ..Self::default() }
    }

    /// Whether the caller may use something that is for `groups`. An administrator may, because one could join any.
    pub fn may_use(&self, groups: &Groups) -> bool {
        self.is_administrator || groups.admit(&self.groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(names: &[&str]) -> Groups {
        Groups::new(names.iter().map(|name| (*name).to_owned())).unwrap()
    }

    #[test]
    fn groups_admit_members_of_one_of_them() {
        let allowed = groups(&["研发", "legal", "legal"]);
        assert_eq!(allowed.names(), ["legal", "研发"]);
        assert!(allowed.admit(&groups(&["sales", "研发"])));
        assert!(!allowed.admit(&groups(&["Legal", "sales"])));
        assert!(!allowed.admit(&Groups::default()));
        assert!(Groups::default().admit(&Groups::default()));
        assert!(Groups::default().admit(&allowed));
    }

    #[test]
    fn invalid_or_too_many_names_are_no_groups() {
        for name in ["", " ", " a", "a\n", &"a".repeat(129)] {
            assert_eq!(Groups::new([name.to_owned()]), None, "{name:?}");
        }
        assert!(Groups::new([Groups::MAX_CHARS].map(|chars| "组".repeat(chars))).is_some());
        assert!(Groups::new((0..64).map(|n| n.to_string())).is_some());
        assert_eq!(Groups::new((0..65).map(|n| n.to_string())), None);
    }
}
