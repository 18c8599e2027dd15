//! How much of the conversation the model is reminded of.

use std::time::Duration;

use domain::{HistoryTurn, Message, Summary};
use llm::{CallOptions, Delta, Prompt};
use tokio::time::Instant;
use tool_calls::{ReplyPart, ThinkingFilter};

use super::Run;
use super::count::Asked;
use crate::context::{self, Kept};
use crate::tokens::Family;
use crate::{estimate, prompt};

/// Tokens that are kept free for a reply when nobody says how long it may be; at most a quarter of the window.
const REPLY: u64 = 4096;

/// The longest that an answer waits for a summary; at most a quarter of the time that is left.
const LONGEST_SUMMARY: Duration = Duration::from_secs(15);

/// The longest summary, in characters.
const SUMMARY_CHARS: usize = 2_000;

/// What is read of the turns that a summary is made of, in tokens.
const SUMMARISED: u64 = 12_000;

impl Run<'_> {
    /// Decides what of the earlier turns the model that is asked now is given; anew for each model.
    pub(super) async fn remember(&mut self) {
        let family = self.family();
        let left_out = self.fit(family);
        if self.agent.summarise && left_out > 0 && self.summarised < left_out {
            self.summarised = left_out;
            self.summarise(left_out, family).await;
            self.fit(family);
        }
    }

    /// Keeps what fits beside the summary; gives how many of the uncovered turns do not.
    fn fit(&mut self, family: Family) -> usize {
        let frame = self.frame() + context::tokens(&self.messages, family);
        let room = self.room().map_or(u64::MAX, |room| room.saturating_sub(frame));
        let summary = self.summary.as_ref().map(|summary| Message::User { text: prompt::summary(&summary.text) });
        let taken = summary.as_ref().map_or(0, |message| context::tokens(std::slice::from_ref(message), family));
        let budget = self.agent.history_tokens.min(room).saturating_sub(taken);
        let Kept { messages, left_out } = context::keep(self.uncovered(), budget, family);
        self.history = summary.into_iter().chain(messages).collect();
        left_out
    }

    /// The earlier turns that no summary stands for.
    fn uncovered(&self) -> &[HistoryTurn] {
        let through = self.summary.as_ref().map_or(0, |summary| summary.up_to_seq);
        let first = self.turn.history.partition_point(|past| past.seq <= through);
        self.turn.history.get(first..).unwrap_or_default()
    }

    /// The most tokens of a prompt, if there is a limit.
    fn room(&self) -> Option<u64> {
        let window = self.model().context_tokens().map(|window| {
            let of_operator = self.model().config().options.sampling.max_tokens;
            let most = self.wishes().max_tokens.into_iter().chain(of_operator).min();
            let reply = most.map_or(REPLY, u64::from);
            window.saturating_sub(reply.min(window / 4))
        });
        window.into_iter().chain(self.most).min()
    }

    /// The tokens of what every prompt of this turn begins with.
    fn frame(&self) -> u64 {
        let frame = Prompt { messages: Vec::new(), ..self.prompt(&super::Phase::Tools, "") };
        self.measure(&frame).tokens
    }

    /// The messages of the running turn as far as they fit beside the rest.
    pub(super) fn fitting(&self, mut messages: Vec<Message>, system: &str) -> Vec<Message> {
        if let Some(room) = self.room() {
            let family = self.family();
            let tools = if self.is_native() { self.tools_measure().tokens } else { 0 };
            let rest = self.system_measure(system).tokens + tools + context::tokens(&self.history, family);
            context::fit(&mut messages, room.saturating_sub(rest), family);
        }
        messages
    }

    /// Asks for less after the model found the prompt too long; false when there is nothing to leave out.
    ///
    /// The model's own count is not known: half of what was said, by estimate, is clearly less.
    pub(super) async fn trim(&mut self) -> bool {
        self.trimmed = true;
        let before = self.prompt_tokens();
        let frame = self.frame();
        self.most = Some(frame + before.saturating_sub(frame) / 2);
        self.remember().await;
        self.prompt_tokens() < before
    }

    fn prompt_tokens(&self) -> u64 {
        let prompt = self.prompt(&super::Phase::Tools, &self.said());
        self.measure(&prompt).tokens
    }

    /// Has the model condense the oldest turns; when that fails they are left out.
    async fn summarise(&mut self, left_out: usize, family: Family) {
        let Some(last) = self.uncovered().get(..left_out).and_then(<[HistoryTurn]>::last) else { return };
        let through = last.seq;
        let told = context::keep(&self.uncovered()[..left_out], SUMMARISED, family).messages;
        let before = self.summary.as_ref().map(|summary| summary.text.as_str());
        let asked = Prompt {
            system: prompt::SUMMARISE.to_owned(),
            messages: vec![Message::User { text: prompt::to_summarise(before, &told) }],
            ..Prompt::default()
        };
        let Some(text) = self.condensed(&asked).await else {
            tracing::warn!(turns = left_out, "earlier turns could not be summarised and are left out");
            return;
        };
        let summary = Summary { up_to_seq: through, text };
        self.events.draft().summary = Some(summary.clone());
        self.summary = Some(summary);
    }

    /// What the model answers to a prompt that no user sees the answer of.
    async fn condensed(&self, prompt: &Prompt) -> Option<String> {
        let left = self.turn.context.deadline.saturating_duration_since(Instant::now());
        let deadline = Instant::now() + LONGEST_SUMMARY.min(left / 4);
        let tape = self.recording.as_ref().map(|recording| recording.asked(self.model(), self.path));
        let asked = Asked::new(self.measure(prompt), self.model().config());
        let limits = CallOptions { deadline, has_fallback: true, recorder: tape, attempt_log: self.events.attempts() };
        let mut reply = self.model().reply(prompt, limits).await.ok()?;
        let (mut text, mut counted, mut filter) = (String::new(), None, ThinkingFilter::default());
        while let Some(delta) = reply.next().await {
            match delta.ok()? {
                Delta::Text(more) => add(&mut text, filter.push(&more)),
                Delta::Usage(usage) => counted = Some(usage),
                _ => {}
            }
        }
        add(&mut text, filter.finish());
        let written = estimate::text(self.family(), &text);
        self.events.draft().usage.join(asked.usage(written, counted));
        let text: String = text.trim().chars().take(SUMMARY_CHARS).collect();
        Some(text).filter(|text| !text.is_empty())
    }
}

fn add(text: &mut String, parts: Vec<ReplyPart>) {
    for part in parts {
        if let ReplyPart::Text(more) = part {
            text.push_str(&more);
        }
    }
}
