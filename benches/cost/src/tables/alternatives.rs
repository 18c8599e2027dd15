use super::{format_count, format_money, table};
use crate::bill::Bill;
use crate::{Bills, DEFAULT_KIND, SEARCH_KIND};

/// The kinds in these tables.
const SHOWN_KINDS: [&str; 4] = ["short answer", DEFAULT_KIND, "long answer", SEARCH_KIND];

/// Break-even of managed instances against Lambda's price by duration.
pub(super) fn managed(bills: Bills<'_>) -> String {
    let inputs = bills.inputs;
    let instances = inputs.assumption("managedInstances");
    let hour = instances * inputs.price("instance") * (1.0 + inputs.price("managementFee"));
    let streams = instances * inputs.assumption("streamsPerInstance");
    let rows = SHOWN_KINDS.map(|name| {
        let bill = bills.of(name);
        let max_turns = streams * 3600.0 / bill.seconds();
        let even = hour / on_lambda(&bill);
        [
            name.to_owned(),
            format_money(on_lambda(&bill) * 1e3),
            format_count(even),
            format!("{:.0}", even * bill.seconds() / 3600.0),
            format_count(max_turns),
            format_money(hour / max_turns * 1e3),
        ]
    });
    let head = [
        "turn",
        "Lambda's duration, 1,000",
        "turns an hour to break even",
        "streams then",
        "turns an hour at most",
        "1,000 then",
    ];
    format!(
        "{} an hour, whether anybody chats or not, for {streams} streams at one time.\n\n{}",
        format_money(hour),
        table(head, rows)
    )
}

/// Break-even of containers that run permanently.
pub(super) fn containers(bills: Bills<'_>) -> String {
    let inputs = bills.inputs;
    let assumed = |name| inputs.assumption(name);
    let processor = assumed("containerProcessors") * inputs.price("fargateProcessor");
    let memory = assumed("containerGigabytes") * inputs.price("fargateMemory");
    let hours = assumed("hoursOfAMonth");
    let parts = [
        assumed("containers") * (processor + memory),
        inputs.price("balancer") + inputs.price("balancerUnit"),
        assumed("publicAddresses") * inputs.price("publicAddress"),
    ];
    let month: f64 = parts.iter().sum::<f64>() * hours;
    let [containers, balancer, addresses] = parts.map(|part| format_money(part * hours));
    let processors = assumed("containers") * assumed("containerProcessors") * assumed("processorUse");
    let rows = SHOWN_KINDS.map(|name| {
        let bill = bills.of(name);
        let even = month / (on_lambda(&bill) + inputs.price("lambdaRequest"));
        let max_turns = processors * 3600.0 / bill.processor_seconds();
        [name.to_owned(), format_count(even), format_count(even / 30.0), format_count(max_turns)]
    });
    let table = table(["turn", "turns a month to break even", "a day", "turns an hour at most"], rows);
    format!(
        "{} a month: containers {containers}, balancer {balancer}, addresses {addresses}.\n\n{table}",
        format_money(month)
    )
}

fn on_lambda(bill: &Bill<'_>) -> f64 {
    bill.duration(256.0, "lambdaArm64")
}
