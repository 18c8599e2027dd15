#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Opens a wrapper; its content follows directly.
    Wrapper,
    /// Opens a wrapper, or separates a name from its arguments.
    WrapperOrSeparator,
    /// Opens a wrapper with attributes: `<tool ` … `name="f">`.
    WrapperWithAttributes,
    /// Opens a function whose name follows up to `>`: `<function=`.
    Function,
    /// Opens a function with attributes: `<invoke ` … `name="f">`.
    FunctionWithAttributes,
    FunctionEnd,
    Close,
    /// Ends the model's turn, and with it a wrapper; at the end of a reply it is no text.
    TurnEnd,
    /// Separates a name from its arguments.
    Separator,
    /// The id of the call follows; it is ignored.
    CallId,
    /// Opens a parameter whose name follows up to `>`: `<parameter=`.
    Parameter,
    /// Opens a parameter with attributes: `<parameter ` … `name="q">`.
    ParameterWithAttributes,
    /// Opens a parameter whose name is the text up to [`Role::KeyEnd`], or up to [`Role::ParameterEnd`] if its value
    /// follows that.
    Key,
    /// Ends the name opened by [`Role::Key`].
    KeyEnd,
    /// Opens the value after [`Role::KeyEnd`].
    Value,
    ParameterEnd,
}
