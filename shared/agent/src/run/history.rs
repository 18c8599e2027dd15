//! Selects the history of the conversation for prompts, and summarises the rest.

use std::time::Duration;

use domain::{HistoryTurn, Message, Summary, ToolCall, ToolMessage};
use llm::{CallOptions, Prompt};
use serde_json::json;
use tokio::time::Instant;

use super::{Phase, Run};
use crate::context::{self, SelectedHistory, Target};
use crate::unseen_reply::read_text;
use crate::{estimate, prompt};

/// Tokens reserved for a reply if its maximum length is not set; at most a quarter of the context window.
const REPLY_TOKENS: u64 = 4096;

/// The part of a prompt that is kept for results before there are any, as a divisor.
const RESULT_PARTS: u64 = 4;

/// Timeout of a summary; at most a quarter of the remaining time.
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(15);

const MAX_SUMMARY_CHARS: usize = 2_000;

/// Maximum number of tokens of the turns that a summary is made of.
const MAX_SUMMARISED_TOKENS: u64 = 12_000;

/// Tokens of the labels in a prompt for a summary.
const SUMMARY_FRAME_TOKENS: u64 = 64;

impl Run<'_> {
    pub(super) async fn select_history(&mut self) {
        self.result_frame_tokens = self.count_result_frame();
        let left_out = self.fit_history();
        if self.agent.summarise && left_out > 0 && self.summarised_turns < left_out {
            self.summarised_turns = left_out;
            self.summarise(left_out).await;
            self.fit_history();
        }
    }

    fn target(&self) -> Target {
        Target { family: self.family(), texts: self.texts, result_frame_tokens: self.result_frame_tokens }
    }

    /// The tokens around a call and its result where they are written as text, in addition to their own.
    fn count_result_frame(&self) -> u64 {
        if self.is_native() {
            return 0;
        }
        let names = self.specs.iter().map(|spec| spec.name.as_str());
        let name = names.max_by_key(|name| name.len()).unwrap_or_default().to_owned();
        let call = ToolCall { id: String::new(), name: name.clone(), arguments: json!({}) };
        let result = ToolMessage { call_id: String::new(), name, ok: true, content: String::new() };
        let (text, thinking) = (String::new(), String::new());
        let round =
            [Message::Assistant { text, thinking, calls: vec![call], provider_data: None }, Message::Tool(result)];
        let tokens = |messages: &[Message]| estimate::messages(self.family(), messages).tokens;
        tokens(&self.to_text(&round)).saturating_sub(tokens(&round))
    }

    /// Selects what fits in addition to the summary; returns how many turns without a summary do not fit.
    fn fit_history(&mut self) -> usize {
        let target = self.target();
        let budget = self.prompt_budget();
        let available = budget.saturating_sub(self.fixed_tokens() + self.reserved_tokens(budget, target));
        let summary = self.summary.as_ref().map(|summary| prompt::summary(self.texts, &summary.text));
        let of_summary = summary.as_ref().map_or(0, |message| context::tokens(std::slice::from_ref(message), target));
        let budget = self.agent.history_tokens.min(available).saturating_sub(of_summary);
        let SelectedHistory { messages, left_out } = context::select(self.unsummarised(), budget, target);
        self.history = summary.into_iter().chain(messages).collect();
        left_out
    }

    /// Selects the earlier turns again if the results of this turn need more than was kept for them.
    pub(super) fn make_space_for_results(&mut self) {
        if context::result_tokens(&self.messages, self.target()) > self.prompt_budget() / RESULT_PARTS {
            self.fit_history();
        }
    }

    /// The tokens of a prompt that are kept for the running turn. Results get at most half of it: they can be truncated.
    fn reserved_tokens(&self, budget: u64, target: Target) -> u64 {
        let results = context::result_tokens(&self.messages, target);
        let others = context::tokens(&self.messages, target).saturating_sub(results);
        let expected = if self.specs.is_empty() { 0 } else { budget / RESULT_PARTS };
        others + results.max(expected).min(budget / 2)
    }

    fn unsummarised(&self) -> &[HistoryTurn] {
        let up_to_seq = self.summary.as_ref().map_or(0, |summary| summary.up_to_seq);
        let first = self.earlier_turns.partition_point(|earlier| earlier.seq <= up_to_seq);
        self.earlier_turns.get(first..).unwrap_or_default()
    }

    fn prompt_budget(&self) -> u64 {
        let window = self.model().context_tokens();
        let of_operator = self.model().config().options.max_tokens;
        let max_reply = self.generation_params(&Phase::Tools).max_tokens.into_iter().chain(of_operator).min();
        let reply = max_reply.map_or(REPLY_TOKENS, u64::from);
        let of_window = window.saturating_sub(reply.min(window / 4));
        self.max_prompt_tokens.map_or(of_window, |max| max.min(of_window))
    }

    /// The tokens of the system prompt and the tools, which every prompt of this turn contains.
    fn fixed_tokens(&self) -> u64 {
        let system = estimate::text(self.family(), &self.system_prompt()).tokens;
        if self.sends_native_tools(&Phase::Tools) { system + self.tools_size().tokens } else { system }
    }

    /// The messages of this turn, with truncated results if they do not fit into the prompt, which ends with `closing`.
    pub(super) fn fit_messages(&self, mut messages: Vec<Message>, system: &str, closing: &str) -> Vec<Message> {
        let target = self.target();
        let tools = if self.is_native() { self.tools_size().tokens } else { 0 };
        let instructions = estimate::text(self.family(), system) + estimate::text(self.family(), closing);
        let rest = instructions.tokens + tools + context::tokens(&self.history, target);
        context::share_among_results(&mut messages, self.prompt_budget().saturating_sub(rest), target);
        messages
    }

    /// Shortens the prompt after the model rejected it as too long; false if nothing can be left out.
    ///
    /// The model's own count is not known. Half of the messages, by estimate, is clearly shorter.
    pub(super) async fn trim(&mut self) -> bool {
        self.has_trimmed = true;
        let before = self.prompt_tokens();
        let fixed = self.fixed_tokens();
        self.max_prompt_tokens = Some(fixed + before.saturating_sub(fixed) / 2);
        self.select_history().await;
        self.prompt_tokens() < before
    }

    fn prompt_tokens(&self) -> u64 {
        let prompt = self.prompt(&super::Phase::Tools, &self.partial_text());
        self.prompt_size(&prompt).tokens
    }

    /// Summarises the oldest turns with the model; if that fails, they are left out.
    async fn summarise(&mut self, left_out: usize) {
        let Some(last) = self.unsummarised().get(..left_out).and_then(<[HistoryTurn]>::last) else { return };
        let up_to_seq = last.seq;
        let turns = &self.unsummarised()[..left_out];
        let before = self.summary.as_ref().map(|summary| summary.text.as_str());
        let fixed = estimate::text(self.family(), self.texts.summarise)
            + estimate::text(self.family(), before.unwrap_or_default());
        let available = self.prompt_budget().saturating_sub(fixed.tokens + SUMMARY_FRAME_TOKENS);
        let messages = context::select(turns, MAX_SUMMARISED_TOKENS.min(available), self.target()).messages;
        let prompt = Prompt {
            system: self.texts.summarise.to_owned(),
            messages: vec![Message::user(prompt::text_to_summarise(self.texts, before, &messages))],
            ..Prompt::default()
        };
        let Some(text) = self.summarise_with_model(&prompt).await else {
            tracing::warn!(turns = left_out, "earlier turns could not be summarised and are left out");
            return;
        };
        let summary = Summary { up_to_seq, text };
        self.events.turn_state().summary = Some(summary.clone());
        self.summary = Some(summary);
    }

    async fn summarise_with_model(&self, prompt: &Prompt) -> Option<String> {
        let remaining = self.turn.context.deadline.saturating_duration_since(Instant::now());
        let deadline = Instant::now() + SUMMARY_TIMEOUT.min(remaining / 4);
        let (recorder, attempt_log) = (self.response_recorder(), self.events.attempts());
        let options = CallOptions { has_fallback: true, recorder, attempt_log, ..CallOptions::with_deadline(deadline) };
        let read = Box::pin(read_text(self.model(), prompt, options, self.events, MAX_SUMMARY_CHARS)).await;
        read.map(|(text, _)| text)
    }
}
