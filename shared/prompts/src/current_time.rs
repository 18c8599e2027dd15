use crate::group::declare_texts;

declare_texts! {
    /// Times and unknown time zones.
    CurrentTimeTexts in "current_time":
    /// The time in a `{zone}` at an `{offset}` from UTC: `{date}`, `{weekday}`, `{time}`, and all as an ISO 8601 `{timestamp}`.
    content,
    /// The names of the weekdays from Monday on, separated by spaces.
    weekdays,
    /// Reason: the zone is unknown.
    unknown_zone,
    /// Reason: the zone is unknown, but has similar `{names}`.
    similar_zones,
}
