//! Empty: this package has a benchmark only.
