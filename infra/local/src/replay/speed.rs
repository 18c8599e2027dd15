/// Speed of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Speed {
    /// In the time that it took.
    Real,
    /// Without waiting.
    #[default]
    Fast,
}
