use super::{count, money, table, words};
use crate::{Bills, CACHED, SEARCHING, USUAL};

/// Effect of the function's memory size on an answer.
pub(super) fn memory(bills: Bills<'_>) -> String {
    let (bill, inputs) = (bills.of(USUAL), bills.inputs);
    let rows = [128.0, 256.0, 512.0, 1024.0, 1769.0].map(|megabytes| {
        let share = megabytes / inputs.assumed("megabytesOfAProcessor");
        let given = share * bill.seconds();
        [
            count(megabytes),
            format!("{share:.2}"),
            format!("{given:.2}"),
            format!("{:.1} %", bill.processor_seconds() / given * 100.0),
            money(bill.duration(megabytes, "lambdaArm64") * 1e3),
            money(bill.duration(megabytes, "lambdaX86") * 1e3),
        ]
    });
    table(["MB", "of a vCPU", "CPU seconds given", "of them used", "1,000 answers, arm64", "x86_64"], rows)
}

/// Effect of the search cache's hit rate.
pub(super) fn cache(bills: Bills<'_>) -> String {
    let (miss, hit) = (bills.of(SEARCHING), bills.of(CACHED));
    let rows = [0.0, 0.25, 0.5, 0.75, 0.9].map(|hits| {
        let mixed = |miss: f64, hit: f64| (1.0 - hits) * miss + hits * hit;
        let credits = mixed(miss.turn.search_credits, hit.turn.search_credits);
        let amounts = [
            mixed(miss.search(), hit.search()),
            mixed(miss.database(), hit.database()),
            mixed(miss.of_aws(), hit.of_aws()),
        ];
        let [search, database, aws] = amounts.map(|amount| money(amount * 1e3));
        let seconds = format!("{:.1}", mixed(miss.seconds(), hit.seconds()));
        [format!("{:.0} %", hits * 100.0), count(credits * 1e3), search, database, aws, seconds]
    });
    table(
        ["found in the cache", "credits of 1,000 turns", "search", "DynamoDB", "AWS together", "seconds of a turn"],
        rows,
    )
}

/// Additional costs of each front door, for the default kind of answer.
pub(super) fn doors(bills: Bills<'_>) -> String {
    let (inputs, turn) = (bills.inputs, bills.of(USUAL).turn);
    let firewall = inputs.price("firewall") + 2.0 * inputs.price("firewallRule");
    let cheaper = inputs.of_bytes("dataOut", turn.bytes_out) - inputs.of_bytes("cloudfrontOut", turn.bytes_out);
    let cloudfront = inputs.price("cloudfrontRequest") + inputs.price("cloudfrontFunction") - cheaper;
    let (inspected, rest) = (inputs.price("firewallRequest"), inputs.price("restRequest"));
    let doors = [
        ("`url`", 0.0, 0.0),
        ("`cloudfront`", 0.0, cloudfront),
        ("`cloudfront` with the firewall", firewall, cloudfront + inspected),
        ("`rest`", 0.0, rest),
        ("`rest` with the firewall", firewall, rest + inspected),
    ];
    let rows = doors.map(|(door, month, turn)| [door.to_owned(), money(month), money(turn * 1e3)]);
    words(["front door", "a month", "1,000 turns more"], rows)
}
