//! Replies that were to call a tool and did not.

use llm::ToolMode;
use tool_calls::CallScanner;

use super::Run;

/// Maximum length of an announcement, in characters.
const MAX_CHARS: usize = 160;

/// Maximum length of a clause that only accompanies an announcement, in characters.
const MAX_FILLER_CHARS: usize = 16;

// Phrases of the clauses that follow, in lower case, with `/` between them.

/// What announces that the model is about to do something.
const INTENTS: &str = "我来/我将/我会/我去/我先/让我/我这就/我马上/我现在/正在/i will/i'll/let me/i am going to/\
    i'm going to/i am now/i'm now";

/// What it announces to do with a tool.
const ACTIONS: &str = "搜索/查询/查一下/查找/检索/搜一下/查查/查看/查阅/联网/计算/算一下/读取/search/look up/look it up/\
    look that up/look this up/look into/check/find/calculat/fetch";

/// What accompanies an announcement.
const FILLERS: &str = "好/当然/没问题/明白/稍等/稍候/请等/等待/ok/sure/of course/certainly/wait/one moment/just a moment/\
    a second/hold on";

/// What makes a clause something else: a question, a condition, a refusal, or a result.
const OTHERS: &str = "?/？/吗/如果/无法/不能/没有/不会/=/|/`/if /can't/cannot/unable/could/would/found";

impl Run<'_> {
    /// Whether the reply only announces or names a call, or leaves one in its reasoning and has no text.
    pub(super) fn forgets_call(&self) -> bool {
        let (text, thinking) = self.events.turn_state().reply();
        // The user may want such a sentence, such as its translation.
        let is_quoted = || clauses(&self.turn.text).any(|clause| announces(&clause));
        if text.trim().is_empty() {
            return self.has_call(&thinking);
        }
        self.specs.iter().any(|spec| is_label(text.trim(), &spec.name)) || (is_announcement(&text) && !is_quoted())
    }

    /// Whether reasoning contains a call of a declared tool.
    fn has_call(&self, thinking: &str) -> bool {
        let scanner = CallScanner::new(&self.specs);
        let scanner = if self.tool_mode == ToolMode::Prompted { scanner.with_actions() } else { scanner };
        scanner.finds_call(thinking)
    }
}

/// Whether a reply is a call in brackets that no format has, such as `[search_web: the weather]`. Seen in tests of the loop
/// with scripted models, 2026-11-24.
fn is_label(reply: &str, tool: &str) -> bool {
    let content = reply.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let argument = content.and_then(|content| content.strip_prefix(tool)?.trim_start().strip_prefix([':', '：']));
    argument.is_some_and(|argument| !argument.contains(['\n', '[', ']']))
}

/// Whether a reply announces a call and has nothing else.
fn is_announcement(text: &str) -> bool {
    let text = text.trim();
    text.chars().nth(MAX_CHARS).is_none()
        && clauses(text).any(|clause| announces(&clause))
        && clauses(text).all(|clause| announces(&clause) || accompanies(&clause))
}

fn clauses(text: &str) -> impl Iterator<Item = String> {
    let text: String = text.chars().take(4 * MAX_CHARS).flat_map(char::to_lowercase).collect();
    let text = text.replace('’', "'");
    let clauses = text.split(['，', ',', '。', '！', '!', '.', '…', '；', ';', '：', ':', '\n', '~', '、']);
    clauses.map(str::trim).filter(|clause| !clause.is_empty()).map(str::to_owned).collect::<Vec<_>>().into_iter()
}

fn announces(clause: &str) -> bool {
    contains_any(clause, INTENTS) && contains_any(clause, ACTIONS) && !contains_any(clause, OTHERS)
}

fn accompanies(clause: &str) -> bool {
    clause.chars().nth(MAX_FILLER_CHARS).is_none() && contains_any(clause, FILLERS) && !contains_any(clause, OTHERS)
}

fn contains_any(clause: &str, phrases: &str) -> bool {
    phrases.split('/').any(|phrase| clause.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_replies_that_only_announce_are_recognised() {
        for text in [
            "好的，我来搜索…请稍等",
            "好的，让我查一下。",
            "我来搜索特斯拉 Q3 的营收，请稍等。",
            "正在联网查询，请稍候……",
            "Let me look that up for you.",
            "Sure! I’ll search for Tesla's Q3 revenue. Please wait.",
            "OK, let me check.\n",
        ] {
            assert!(is_announcement(text), "{text}");
        }
    }

    #[test]
    fn calls_in_brackets_are_recognised() {
        for text in ["[search_web: 天气]", "[search_web：天气]", "[search_web : the weather]"] {
            assert!(is_label(text, "search_web"), "{text}");
        }
        for text in ["[search_web]", "[search_web: a](https://a.example)", "[note: a]", "[search_web: a]\n[b]"] {
            assert!(!is_label(text, "search_web"), "{text}");
        }
    }

    #[test]
    fn replies_with_anything_else_are_answers() {
        for text in [
            "",
            "好的。",
            "让我计算一下：1+1=2。",
            "让我查看您的代码，这段函数没有返回值。",
            "需要我搜索一下吗？",
            "我无法联网搜索。",
            "我会搜索，也会计算；你想知道什么？",
            "If you want, I will search for it.",
            "I'll check the logs first. They show a timeout.",
            "Let me find it: 42.",
            "您可以在设置里搜索这个选项。",
        ] {
            assert!(!is_announcement(text), "{text}");
        }
        assert!(!is_announcement(&"我来搜索，".repeat(40)));
    }
}
