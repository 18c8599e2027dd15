/// Takes down what an endpoint answers, so that a turn can be played again; it sees no request, no key and no address.
pub trait Tape: Send + Sync {
    /// A response began, with this status and content type (empty if it had none).
    fn response(&self, status: u16, content_type: &str);

    /// A piece of its body came, as it was cut by the network.
    fn body(&self, bytes: &[u8]);

    /// The body ended; `whole` tells whether as it should. Also said when there was no response at all.
    fn end(&self, whole: bool);
}
