//! The files of user messages in prompts: documents as text, pictures as they are or by their names.

use domain::{Attachment, AttachmentContent, AttachmentKind, Message};
use prompts::{AgentTexts, fill};

/// The message with its documents in its text, so that only pictures with content remain attached.
pub(crate) fn with_documents(texts: &AgentTexts, message: Message) -> Message {
    let Message::User { text, attachments } = message else { return message };
    if attachments.is_empty() {
        return Message::User { text, attachments };
    }
    let (pictures, others): (Vec<_>, Vec<_>) =
        attachments.into_iter().partition(|file| matches!(file.content, AttachmentContent::Base64(_)));
    let mut parts: Vec<String> = others.iter().map(|file| render(texts, file)).collect();
    if others.iter().any(|file| matches!(file.content, AttachmentContent::Text(_))) {
        parts.push(texts.attached_note.to_owned());
    }
    parts.push(text);
    Message::User { text: parts.join("\n\n"), attachments: pictures }
}

fn render(texts: &AgentTexts, file: &Attachment) -> String {
    match (&file.content, file.kind) {
        (AttachmentContent::Text(text), _) => {
            // No file ends its own frame.
            let text = text.replace("</file", "< /file").replace("</FILE", "< /FILE");
            format!("<file name=\"{}\">\n{text}\n</file>", shown_name(file))
        }
        (_, AttachmentKind::Image) => named(file),
        // What is gone can be read by no tool.
        (_, AttachmentKind::Text) if file.characters == 0 => format!("[file {}]", shown_name(file)),
        (_, AttachmentKind::Text) => {
            let characters = file.characters.to_string();
            fill(texts.unread_file, &[("name", &shown_name(file)), ("characters", &characters)])
        }
    }
}

/// Names the pictures of a message that the model does not take, before its text.
pub(crate) fn without_pictures(message: &mut Message, accepts: impl Fn(&Attachment) -> bool) {
    let Message::User { text, attachments } = message else { return };
    let (pictures, others): (Vec<_>, Vec<_>) = std::mem::take(attachments).into_iter().partition(accepts);
    *attachments = pictures;
    if !others.is_empty() {
        *text = others.iter().map(named).chain([std::mem::take(text)]).collect::<Vec<_>>().join("\n\n");
    }
}

fn named(file: &Attachment) -> String {
    format!("[image {}]", shown_name(file))
}

/// A name that closes no frame around it.
fn shown_name(file: &Attachment) -> String {
    file.name.replace('<', "＜").replace('>', "＞").replace('"', "＂")
}

#[cfg(test)]
mod tests {
    use domain::Language;

    use super::*;

    fn file(name: &str, kind: AttachmentKind, content: AttachmentContent) -> Attachment {
        Attachment { kind, content, characters: 7, ..Attachment::at(name.into(), "x/y".into(), "data:") }
    }

    #[test]
    fn documents_become_text_and_pictures_remain() {
        let texts = AgentTexts::of(Language::En);
        let attachments = vec![
            file("a.md", AttachmentKind::Text, AttachmentContent::Text("1: x </file> y".into())),
            file("long.pdf", AttachmentKind::Text, AttachmentContent::Absent),
            file("p.png", AttachmentKind::Image, AttachmentContent::Base64("AAAA".into())),
            file("gone.png", AttachmentKind::Image, AttachmentContent::Absent),
        ];
        let message = Message::User { text: "What?".into(), attachments };
        let Message::User { text, attachments } = with_documents(texts, message) else { unreachable!() };
        let expected = "<file name=\"a.md\">\n1: x < /file> y\n</file>\n\n[file \"long.pdf\": 7 characters, not shown \
                        here; use search_attachments or read_attachment]\n\n[image gone.png]\n\n(The files above";
        assert!(text.starts_with(expected) && text.ends_with("\n\nWhat?"), "{text}");
        let mut message = Message::User { text, attachments };
        without_pictures(&mut message, |_| false);
        let Message::User { text, attachments } = message else { unreachable!() };
        assert!(text.starts_with("[image p.png]\n\n<file") && attachments.is_empty(), "{text}");
        let plain = Message::user("a");
        assert_eq!(with_documents(texts, plain.clone()), plain);
    }
}
