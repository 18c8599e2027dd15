use super::{format_money, table};
use crate::{Bills, DEFAULT_KIND, SEARCH_KIND};

/// The kinds of turns in the table.
const KINDS: [&str; 4] = [DEFAULT_KIND, SEARCH_KIND, "three rounds of tools", "tenth turn"];

/// The heads of the table in the languages of its documents.
const ENGLISH: [&str; 7] =
    ["model", "per million tokens read", "written", "answer", "one search", "three rounds of tools", "tenth turn"];
const CHINESE: [&str; 7] = ["模型", "每百万输入 Token", "输出", "一次回答", "一次搜索", "三轮工具调用", "第十轮对话"];

/// The charge of each model for a thousand turns.
pub(super) fn of_models(bills: Bills<'_>) -> String {
    table_of_models(bills, ENGLISH)
}

/// The same in Chinese.
pub(super) fn of_models_in_chinese(bills: Bills<'_>) -> String {
    table_of_models(bills, CHINESE)
}

fn table_of_models(bills: Bills<'_>, head: [&str; 7]) -> String {
    let rows = bills.inputs.models.iter().map(|model| {
        let [answer, search, tools, tenth] = KINDS.map(|kind| {
            let turn = bills.of(kind).turn;
            format_money((turn.input_tokens * model.input + turn.output_tokens * model.output) / 1e3)
        });
        [format!("`{}`", model.id), model.input.to_string(), model.output.to_string(), answer, search, tools, tenth]
    });
    table(head, rows)
}
