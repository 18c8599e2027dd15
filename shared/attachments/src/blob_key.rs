use domain::Owner;

/// The name of a stored content: of a file, or of its text.
#[derive(Clone, Debug)]
pub(crate) struct BlobKey {
    /// The owner's name as a digest: no name of a path.
    owner: String,
    name: String,
}

impl BlobKey {
    pub(crate) fn of_file(owner: &Owner, id: &str) -> Self {
        Self { owner: owner_folder(owner), name: id.to_owned() }
    }

    /// What a client uploads, until it is checked: a signed form stays valid afterwards.
    pub(crate) fn of_upload(owner: &Owner, id: &str) -> Self {
        Self { owner: owner_folder(owner), name: format!("{id}.upload") }
    }

    pub(crate) fn of_text(owner: &Owner, id: &str) -> Self {
        Self { owner: owner_folder(owner), name: format!("{id}.txt") }
    }

    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }
}

pub(crate) fn owner_folder(owner: &Owner) -> String {
    store::fingerprint(owner.as_str().as_bytes())
}
