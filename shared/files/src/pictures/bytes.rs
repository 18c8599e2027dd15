use crate::FileError;

/// The bytes of a picture that were not read yet.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], FileError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(|| FileError::damaged("the image is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], FileError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn byte(&mut self) -> Result<u8, FileError> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    /// What was read since `earlier`.
    pub(super) fn since(&self, earlier: Self) -> &'a [u8] {
        earlier.0.get(..earlier.0.len() - self.0.len()).unwrap_or_default()
    }
}

/// A length in the memory of this machine.
pub(super) fn length(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
