use crate::group::declare_texts;

declare_texts! {
    /// Failures of calculations.
    CalculatorTexts in "calculator":
    /// An expression that cannot be parsed for a `{reason}`, and the supported syntax.
    unreadable,
    /// An expression without a value, for a `{reason}`.
    failed,
    /// Reason: the calculation exceeds its limits.
    too_large,
    /// Reason: the divisor is zero.
    division_by_zero,
    /// Reason: zero to the power of zero.
    zero_to_zero,
    /// Reason: the precision of an approximate number does not suffice.
    imprecise,
    /// Reason: an argument outside the domain of factorials.
    factorial,
    /// Reason: an argument outside the domain of square roots.
    square_root,
    /// Reason: an argument outside the domain of arc sines and arc cosines.
    arc_sine,
    /// Reason: an argument outside the domain of logarithms.
    logarithm,
    /// Reason: an argument outside the domain of the bases of logarithms.
    logarithm_base,
    /// Reason: an argument outside the domain of powers of negative numbers.
    negative_power,
    /// The expression has more than `{limit}` characters.
    too_long,
    /// The expression is empty.
    empty,
    /// A `{symbol}` without a meaning.
    unknown_symbol,
    /// A parenthesis is missing.
    unbalanced,
    /// Parentheses are nested more than `{limit}` deep.
    too_many_parentheses,
    /// The expression is nested too deeply without parentheses.
    too_complex,
    /// A number that cannot be parsed.
    bad_number,
    /// A comma that separates neither arguments nor thousands.
    stray_comma,
    /// Tokens in an order without a meaning.
    malformed,
    /// An operand is missing.
    incomplete,
    /// A product without an operator that has two readings.
    ambiguous_product,
    /// A percent sign between two operands.
    percent_as_remainder,
    /// A `{name}` without a meaning.
    unknown_name,
    /// A function `{name}` with a wrong number of arguments.
    argument_count,
}
