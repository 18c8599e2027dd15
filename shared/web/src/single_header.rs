use http::{HeaderMap, HeaderName};

/// The value of a header that may occur once.
pub(crate) enum SingleHeader<'a> {
    Absent,
    One(&'a str),
    /// It occurs more than once, or is not text.
    Unusable,
}

impl<'a> SingleHeader<'a> {
    pub(crate) fn one(self) -> Option<&'a str> {
        if let Self::One(value) = self { Some(value) } else { None }
    }
}

/// Reads a header that must occur at most once: programs differ in which of several values they use.
pub(crate) fn single_header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> SingleHeader<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => SingleHeader::Absent,
        (Some(value), None) => value.to_str().map_or(SingleHeader::Unusable, SingleHeader::One),
        (Some(_), Some(_)) => SingleHeader::Unusable,
    }
}
