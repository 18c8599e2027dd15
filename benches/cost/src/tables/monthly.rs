use super::{format_count, format_kilobytes, format_money, table, text_table};
use crate::Bills;
use crate::counts::to_float;

/// The template that defines the alarms.
const TEMPLATE: &str = include_str!("../../../../template.yaml");

/// Free allowance of alarms and metrics per account.
const FREE_ALLOWANCE: f64 = 10.0;

/// Fixed monthly costs.
pub(super) fn fixed_costs(bills: Bills<'_>) -> String {
    let inputs = bills.inputs;
    let (alarms, metrics) = (count_alarm_metrics(), inputs.assumption("metricsInUse"));
    let beyond = |number: f64| (number - FREE_ALLOWANCE).max(0.0);
    let parts = [
        (format!("alarms on {alarms} metrics"), alarms, beyond(alarms), "alarm"),
        (format!("{metrics} metrics in use"), metrics, beyond(metrics), "metric"),
        ("the dashboard".to_owned(), 1.0, 0.0, "dashboard"),
    ];
    let rows = parts.map(|(what, all, paid, name)| {
        [what, format_money(all * inputs.price(name)), format_money(paid * inputs.price(name))]
    });
    text_table(["what", "a month", "if the account uses its free allowance for nothing else"], rows)
}

/// Counts the metrics that alarms of the template watch.
fn count_alarm_metrics() -> f64 {
    let resources = TEMPLATE.split("Type: AWS::CloudWatch::Alarm").skip(1);
    let own = resources.map(|resource| {
        let end = resource.find("\n    Type: ").unwrap_or(resource.len());
        resource.get(..end).unwrap_or_default().matches("MetricStat:").count().max(1)
    });
    to_float(own.sum())
}

/// Storage costs of the data table.
pub(super) fn storage(bills: Bills<'_>) -> String {
    let inputs = bills.inputs;
    let price = inputs.price("dynamodbStorage") + inputs.price("dynamodbRecovery");
    let stored = bills.all().filter(|bill| bill.kind.stored);
    let rows = stored.map(|bill| {
        let (name, bytes) = (bill.kind.name.to_owned(), bill.turn.bytes_stored);
        [name, format_kilobytes(bytes), format_count(bytes * 1e6 / 1e9), format_money(bytes * 1e6 / 1e9 * price)]
    });
    table(["turn", "KB kept", "GB of a million turns", "a month for them"], rows)
}
