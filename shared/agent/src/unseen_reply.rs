//! Replies that no user sees as they are: summaries and titles.

use domain::{Language, Message, Owner};
use llm::{CallOptions, Delta, Finish, GenerationParams, ModelClient, Prompt, Thinking, TokenUsage};
use prompts::{AgentTexts, fill};
use tool_calls::{ReplyPart, ThinkingFilter};

use crate::tokens::Family;
use crate::usage::PendingReply;
use crate::{EventLog, estimate};

/// A reply that is being read. Its usage counts in the turn however the reading ends.
struct UnseenReply<'a> {
    events: &'a EventLog,
    pending: PendingReply,
    text: String,
    counted: Option<TokenUsage>,
}

/// The text of the model's reply without reasoning and white space around it, of at most `max_chars`, and why it ends; `None` if
/// the model failed or wrote no text.
pub(crate) async fn read_text(
    model: &ModelClient,
    prompt: &Prompt,
    options: CallOptions,
    events: &EventLog,
    max_chars: usize,
) -> Option<(String, Finish)> {
    let family = Family::of(&model.config().model);
    let size = estimate::text(family, &prompt.system) + estimate::messages(family, &prompt.messages);
    let pending = PendingReply::new(size, model.config());
    let mut reply = model.reply(prompt, options).await.ok()?;
    let mut read = UnseenReply { events, pending, text: String::new(), counted: None };
    let (mut filter, mut finish) = (ThinkingFilter::default(), Finish::Stop);
    if model.tags_reasoning() {
        filter = filter.with_leading_element();
    }
    while let Some(delta) = reply.next().await {
        match delta.ok()? {
            Delta::Text(more) => read.append(filter.push(&more)),
            Delta::Usage(usage) => read.counted = Some(usage),
            Delta::Finish(reason) => finish = reason,
            _ => {}
        }
    }
    read.append(filter.finish());
    let text: String = read.text.trim().chars().take(max_chars).collect();
    (!text.is_empty()).then_some((text, finish))
}

impl UnseenReply<'_> {
    fn append(&mut self, parts: Vec<ReplyPart>) {
        for part in parts {
            match part {
                ReplyPart::Text(more) => self.text.push_str(&more),
                ReplyPart::TextWasThinking => self.text.clear(),
                ReplyPart::Thinking(_) => {}
            }
        }
    }
}

impl Drop for UnseenReply<'_> {
    fn drop(&mut self) {
        let size = estimate::text(self.pending.family, &self.text);
        let usage = self.pending.usage(size, self.counted);
        self.events.turn_state().usage.join(usage);
    }
}

/// Maximum length of the user's text in the prompt, in characters.
const MAX_TEXT_CHARS: usize = 2_000;

/// Maximum length of the reply, in tokens: a title, and some reasoning of models that always reason.
const MAX_REPLY_TOKENS: u32 = 512;

const MAX_REPLY_CHARS: usize = 1_000;

/// The model's reply to the request for a title of a conversation that begins with `text`; `None` if there is none. Its usage
/// counts in the turn of `events`.
pub async fn request_title(
    model: &ModelClient,
    text: &str,
    language: Language,
    owner: &Owner,
    events: &EventLog,
    options: CallOptions,
) -> Option<String> {
    let texts = AgentTexts::of(language);
    let text: String = text.chars().take(MAX_TEXT_CHARS).collect();
    let prompt = Prompt {
        system: texts.title.to_owned(),
        messages: vec![Message::user(fill(texts.title_request, &[("text", &text)]))],
        owner: Some(owner.clone()),
        params: GenerationParams {
            max_tokens: Some(MAX_REPLY_TOKENS),
            thinking: Some(Thinking::Off),
            ..GenerationParams::default()
        },
        // A refusal of these parameters must change nothing for answers.
        from_caller: true,
        ..Prompt::default()
    };
    let (reply, finish) = read_text(model, &prompt, options, events, MAX_REPLY_CHARS).await?;
    // Text that is cut may be reasoning whose end is missing.
    (finish != Finish::Length).then_some(reply)
}
