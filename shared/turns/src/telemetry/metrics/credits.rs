use std::time::SystemTime;

use domain::{CreditLimit, CreditObserver};

use super::{CREDITS_SPENT, Line, Metrics, REJECTED_SEARCHES};

/// Metrics of the search provider's credits. They belong to no turn: all instances spend the same credits.
impl CreditObserver for Metrics {
    fn on_refused(&self, by: CreditLimit, now: SystemTime) {
        let Some(out) = &self.0 else { return };
        let by = match by {
            CreditLimit::Plan => "plan",
            CreditLimit::Budget => "budget",
        };
        out.write([Line::of(&out.function).by([("By", by)]).metric(REJECTED_SEARCHES, 1)], now);
    }

    fn on_spent(&self, percent: u64, now: SystemTime) {
        let Some(out) = &self.0 else { return };
        out.write([Line::of(&out.function).metric(CREDITS_SPENT, percent)], now);
    }
}
