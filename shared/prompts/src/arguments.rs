use crate::group::declare_texts;

declare_texts! {
    /// Why arguments do not match a schema.
    ArgumentTexts in "arguments":
    /// A required `{field}` is missing.
    missing,
    /// The value of a `{field}` is not among those `{accepted}`.
    invalid,
    /// The arguments are not an object.
    not_an_object,
    /// Checking the arguments would take too long.
    too_large,
    /// Separates the errors of two fields.
    separator,
    /// A `{first}` or a `{second}` value is accepted.
    alternative,
    /// Only these `{values}` are accepted.
    one_of,
    /// A `{kind}` from `{min}` to `{max}` is accepted.
    between,
    /// A `{kind}` of at least `{min}` is accepted.
    at_least,
    /// A `{kind}` of at most `{max}` is accepted.
    at_most,
    /// A string is accepted.
    string,
    /// An integer is accepted.
    integer,
    /// A number is accepted.
    number,
    /// A boolean is accepted.
    boolean,
    /// An array is accepted.
    array,
    /// An object is accepted.
    object,
    /// `null` is accepted.
    null,
    /// A value of an unknown type is accepted.
    other,
}
