use super::{format_count, format_kilobytes, format_money, table, text_table};
use store::ConversationStore;

use crate::bill::LOG_END_UNITS;
use crate::counts::{DurationCounts, Turn};
use crate::{Bills, Request};

/// Counts of each kind.
pub(super) fn requests(bills: Bills<'_>) -> String {
    let head = [
        "turn",
        "requests",
        "read units",
        "write units",
        "model calls",
        "tokens read",
        "written",
        "credits",
        "KB to the client",
        "KB asked",
        "KB logged",
    ];
    let rows = bills.all().map(|bill| {
        let Turn { requests, model_calls, input_tokens, output_tokens, search_credits, .. } = bill.turn;
        let sum = |units: fn(&Request) -> f64| requests.iter().map(units).sum::<f64>();
        [
            bill.kind.name.to_owned(),
            requests.len().to_string(),
            format_count(sum(|request| request.read)),
            format!("{} + {}", format_count(sum(|request| request.write)), format_count(sum(|request| request.index))),
            format_count(*model_calls),
            format_count(*input_tokens),
            format_count(*output_tokens),
            format_count(*search_credits),
            format_kilobytes(bill.turn.bytes_out),
            format_kilobytes(bill.turn.bytes_requested),
            format_kilobytes(bill.turn.bytes_logged),
        ]
    });
    table(head, rows)
}

/// All requests of a kind.
pub(super) fn request_list(bills: Bills<'_>, name: &str) -> String {
    let rows = bills.of(name).turn.requests.iter().map(|request| {
        let Request { operation, items, read, write, index, refused } = request;
        let refused = if *refused { ", refused" } else { "" };
        [operation.clone(), format!("{}{refused}", items.join(", ")), format_count(*read), format!("{write} + {index}")]
    });
    text_table(["request", "of", "read units", "write units"], rows)
}

/// Requests that depend on the duration of turns.
pub(super) fn duration_requests(bills: Bills<'_>) -> String {
    let rows = bills.all().map(|bill| {
        let by_duration = bill.duration_requests();
        let name = bill.kind.name.to_owned();
        [
            name,
            format!("{:.1}", bill.seconds()),
            format_count(by_duration.renewals),
            format_count(by_duration.logs),
            format_count(by_duration.write),
        ]
    });
    let table = table(["turn", "seconds", "renewals", "writes of the log", "write units"], rows);
    let DurationCounts { renewal, log_item_bytes, log_event_bytes } = &bills.counts.while_it_runs;
    let [every, after, period] =
        [ConversationStore::RENEWAL, chat::LOG_GRACE_PERIOD, chat::LOG_FLUSH_INTERVAL].map(|d| d.as_secs_f64());
    let formulas = format!(
        "    renewals          = ⌊T / {every}⌋, each of {} + {} write units (the head, and its entry in the index)\n    \
         writes of the log = ⌊min(W, T − {after}) / {period}⌋ + 1 if T ≥ {after}, else none, and {LOG_END_UNITS} write units \
         with the answer\n    \
         bytes of a write  = {log_item_bytes} and {log_event_bytes} for each piece, a unit for each 1,024 begun\n",
        renewal.write, renewal.index
    );
    format!("{formulas}\n{table}")
}

/// Cost of a thousand turns of each kind.
pub(super) fn thousand(bills: Bills<'_>) -> String {
    let head = ["1,000 turns", "Lambda", "DynamoDB", "logs, traces", "data out", "AWS together", "search", "model"];
    let rows = bills.all().map(|bill| {
        let lambda = bill.aws_charge() - bill.database() - bill.observability_charge() - bill.data_out();
        let thousand = |share: f64| format_money(share * 1e3);
        [
            bill.kind.name.to_owned(),
            thousand(lambda),
            thousand(bill.database()),
            thousand(bill.observability_charge()),
            thousand(bill.data_out()),
            thousand(bill.aws_charge()),
            thousand(bill.search()),
            thousand(bill.model()),
        ]
    });
    table(head, rows)
}
