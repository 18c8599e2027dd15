/// The open brackets; true is an object, false an array.
#[derive(Default)]
pub(super) struct Nesting {
    open: Vec<bool>,
    objects: usize,
}

impl Nesting {
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn inner(&self) -> Option<bool> {
        self.open.last().copied()
    }

    pub(super) fn open(&mut self, object: bool) {
        self.open.push(object);
        self.objects += usize::from(object);
    }

    /// Closes the nearest bracket of this kind and all inside it; without one, the innermost.
    pub(super) fn close(&mut self, object: bool) {
        let exists = if object { self.objects > 0 } else { self.objects < self.open.len() };
        while let Some(inner) = self.open.pop() {
            self.objects -= usize::from(inner);
            if inner == object || !exists {
                break;
            }
        }
    }
}
