use super::{format_count, format_money, table, text_table};
use crate::{Bills, CACHED_SEARCH_KIND, DEFAULT_KIND, SEARCH_KIND};

/// Effect of the function's memory size on an answer.
pub(super) fn memory(bills: Bills<'_>) -> String {
    let (bill, inputs) = (bills.of(DEFAULT_KIND), bills.inputs);
    let rows = [128.0, 256.0, 512.0, 1024.0, 1769.0].map(|megabytes| {
        let share = megabytes / inputs.assumption("megabytesOfAProcessor");
        let given = share * bill.seconds();
        [
            format_count(megabytes),
            format!("{share:.2}"),
            format!("{given:.2}"),
            format!("{:.1} %", bill.processor_seconds() / given * 100.0),
            format_money(bill.duration(megabytes, "lambdaArm64") * 1e3),
            format_money(bill.duration(megabytes, "lambdaX86") * 1e3),
        ]
    });
    table(["MB", "of a vCPU", "CPU seconds given", "of them used", "1,000 answers, arm64", "x86_64"], rows)
}

/// Effect of the search cache's hit rate.
pub(super) fn cache(bills: Bills<'_>) -> String {
    let (miss, hit) = (bills.of(SEARCH_KIND), bills.of(CACHED_SEARCH_KIND));
    let rows = [0.0, 0.25, 0.5, 0.75, 0.9].map(|hits| {
        let mixed = |miss: f64, hit: f64| (1.0 - hits) * miss + hits * hit;
        let credits = mixed(miss.turn.search_credits, hit.turn.search_credits);
        let amounts = [
            mixed(miss.search(), hit.search()),
            mixed(miss.database(), hit.database()),
            mixed(miss.aws_charge(), hit.aws_charge()),
        ];
        let [search, database, aws] = amounts.map(|amount| format_money(amount * 1e3));
        let seconds = format!("{:.1}", mixed(miss.seconds(), hit.seconds()));
        [format!("{:.0} %", hits * 100.0), format_count(credits * 1e3), search, database, aws, seconds]
    });
    table(
        ["found in the cache", "credits of 1,000 turns", "search", "DynamoDB", "AWS together", "seconds of a turn"],
        rows,
    )
}

/// Additional costs of each front end, for the default kind of answer.
pub(super) fn front_ends(bills: Bills<'_>) -> String {
    let (inputs, turn) = (bills.inputs, bills.of(DEFAULT_KIND).turn);
    let firewall = inputs.price("firewall") + 2.0 * inputs.price("firewallRule");
    let cheaper =
        inputs.charge_for_bytes("dataOut", turn.bytes_out) - inputs.charge_for_bytes("cloudfrontOut", turn.bytes_out);
    let cloudfront = inputs.price("cloudfrontRequest") + inputs.price("cloudfrontFunction") - cheaper;
    let (inspected, rest) = (inputs.price("firewallRequest"), inputs.price("restRequest"));
    let front_ends = [
        ("`url`", 0.0, 0.0),
        ("`cloudfront`", 0.0, cloudfront),
        ("`cloudfront` with the firewall", firewall, cloudfront + inspected),
        ("`rest`", 0.0, rest),
        ("`rest` with the firewall", firewall, rest + inspected),
    ];
    let rows = front_ends
        .map(|(front_end, month, turn)| [front_end.to_owned(), format_money(month), format_money(turn * 1e3)]);
    text_table(["front door", "a month", "1,000 turns more"], rows)
}
