//! Small talk that needs no search: greetings, thanks, and questions about the model itself.

use crate::demo::language::Language;

/// Kinds of small talk, in ascending order of priority for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SmallTalk {
    Filler,
    Nod,
    Greeting,
    Bye,
    Thanks,
    WellBeing,
    Who,
}

/// Phrases in lower case, separated by bars; the longest match wins.
const PHRASES: &[(SmallTalk, &str)] = &[
    (
        SmallTalk::Who,
        "who are you|what are you|what can you do|what do you do|what is your name|what's your name|\
         how can you help me|how can you help|are you a bot|are you human|help me|help|\
         你是谁|您是谁|你叫什么名字|你叫什么|你是什么模型|你是什么|你能做什么|你可以做什么|你能干什么|你会做什么|你会什么|\
         你有什么功能|介绍一下你自己|介绍一下自己|自我介绍一下|自我介绍|帮助",
    ),
    (
        SmallTalk::WellBeing,
        "how are you doing|how are you|how is it going|how's it going|what's up|你好吗|你还好吗|最近怎么样|最近好吗",
    ),
    (SmallTalk::Thanks, "thank you|thanks|thank u|thx|cheers|谢谢|多谢|感谢|谢了|辛苦了"),
    (SmallTalk::Bye, "goodbye|good bye|bye bye|bye|see you|good night|再见|拜拜|晚安|回头见|下次见"),
    (
        SmallTalk::Greeting,
        "hi|hello|hey|good morning|good afternoon|good evening|greetings|howdy|\
         你好|您好|嗨|哈喽|哈啰|早上好|上午好|中午好|下午好|晚上好|早安|早|在吗|在么|大家好",
    ),
    (
        SmallTalk::Nod,
        "okay|ok|good|great|nice|cool|fine|perfect|awesome|well done|got it|i see|yes|no|sorry|haha|lol|test|\
         好的|好吧|好|嗯嗯|嗯|哦|行|可以|不错|很好|太好了|太棒了|厉害|明白了|明白|知道了|收到|对不起|抱歉|没事|哈哈|测试",
    ),
    (
        SmallTalk::Filler,
        "there|everyone|again|so much|very much|a lot|for your help|for the help|for now|later|tomorrow|today|\
         my friend|please|and|bot|呀|啊|呢|啦|了|吧|的|哈|你的帮助|你的回答|您|你|我|朋友|很|非常|请问|请|一下|帮忙|大家",
    ),
];

/// Returns the kind of small talk; `None` if `text` has anything else.
pub(super) fn small_talk(text: &str) -> Option<SmallTalk> {
    let lower = text.to_lowercase().replace('’', "'");
    let mut rest = lower.trim_start_matches(is_mark);
    let mut meant = SmallTalk::Filler;
    while !rest.is_empty() {
        let (kind, length) = longest_phrase(rest)?;
        meant = meant.max(kind);
        rest = rest[length..].trim_start_matches(is_mark);
    }
    (meant != SmallTalk::Filler).then_some(meant)
}

fn longest_phrase(text: &str) -> Option<(SmallTalk, usize)> {
    let all = PHRASES.iter().flat_map(|(kind, phrases)| phrases.split('|').map(move |phrase| (*kind, phrase)));
    let fitting =
        all.filter(|(_, phrase)| text.strip_prefix(phrase).is_some_and(|rest| ends_at_boundary(phrase, rest)));
    fitting.map(|(kind, phrase)| (kind, phrase.len())).max_by_key(|(_, length)| *length)
}

/// Whether a phrase ends at a word boundary; Chinese has no spaces, so any position is one.
fn ends_at_boundary(phrase: &str, rest: &str) -> bool {
    !phrase.is_ascii() || !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '\'')
}

/// Whether a character is neither letter nor number: space, punctuation, emoji.
fn is_mark(c: char) -> bool {
    !c.is_alphanumeric()
}

pub(super) fn answer(meant: SmallTalk, language: Language) -> &'static str {
    match meant {
        SmallTalk::Who => language.choose(
            "我是 Lambda Chat 内置的演示模型。我自己什么都不知道，但我会用搜索工具查你的问题，再把查到的内容整理出来，让你看到整个过程。问我点什么吧！",
            "I am the demo model that comes with Lambda Chat. I know nothing myself, but I can search for what you ask and \
             sum up what comes back, so that you see how it all works. Try me!",
        ),
        SmallTalk::WellBeing => language.choose("我很好，谢谢关心！有什么想查的吗？", "I am fine, thank you! Is there something I can look up?"),
        SmallTalk::Thanks => language.choose("不客气！还有别的问题，随时问我。", "You are welcome! Ask me anything else at any time."),
        SmallTalk::Bye => language.choose("再见，祝你愉快！", "Goodbye, and have a good day!"),
        SmallTalk::Greeting => language.choose("你好！想查点什么？直接问我就好。", "Hello! What would you like me to look up?"),
        SmallTalk::Nod | SmallTalk::Filler => language.choose("好的。接下来想了解什么？", "All right. What would you like to know next?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_talk_is_recognised_with_fillers() {
        let cases = [
            ("hi", SmallTalk::Greeting),
            ("Hello there!", SmallTalk::Greeting),
            ("Hi, how are you?", SmallTalk::WellBeing),
            ("Thanks a lot 🙏", SmallTalk::Thanks),
            ("OK, thank you very much. Bye!", SmallTalk::Thanks),
            ("bye", SmallTalk::Bye),
            ("Hey! Who are you?", SmallTalk::Who),
            ("What’s your name", SmallTalk::Who),
            ("你好", SmallTalk::Greeting),
            ("你好呀！", SmallTalk::Greeting),
            ("你好吗？", SmallTalk::WellBeing),
            ("谢谢你的帮助", SmallTalk::Thanks),
            ("好的，谢谢！", SmallTalk::Thanks),
            ("你好，请问你是谁？", SmallTalk::Who),
            ("嗯", SmallTalk::Nod),
        ];
        for (text, meant) in cases {
            assert_eq!(small_talk(text), Some(meant), "{text}");
        }
    }

    #[test]
    fn polite_question_is_not_small_talk() {
        let questions = [
            "hi, what is the weather in Paris?",
            "history of Rome",
            "Hello Kitty",
            "help me with Rust lifetimes",
            "你好，今天北京天气怎么样？",
            "谢谢怎么用日语说",
            "好莱坞新闻",
            "早餐吃什么",
            "今天的新闻有哪些？",
            "?",
            "",
            "42",
        ];
        for question in questions {
            assert_eq!(small_talk(question), None, "{question}");
        }
    }
}
