use http::{HeaderMap, HeaderName};

/// What there is of a header that may be there once.
pub(crate) enum Header<'a> {
    Absent,
    One(&'a str),
    /// It is there more than once, or is no text.
    Unusable,
}

/// A header's value where it is there once; which of several counts is read differently by different programs.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Header<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Header::Absent,
        (Some(value), None) => value.to_str().map_or(Header::Unusable, Header::One),
        (Some(_), Some(_)) => Header::Unusable,
    }
}
