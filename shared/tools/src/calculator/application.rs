//! Calls functions with quantities: the functions themselves only know numbers.

use super::fault::Fault;
use super::functions;
use super::quantity::Quantity;
use super::work::Limit;

/// Calls a function. One that keeps units calculates in the unit of its first argument.
pub(super) fn apply(name: &str, arguments: &[Quantity], limit: &Limit) -> Result<Quantity, Fault> {
    let sizes: Vec<_> = arguments.iter().map(|argument| &argument.number).collect();
    let spend = if sizes.len() > 1 { Limit::spend_division } else { Limit::spend };
    spend(limit, &sizes)?;
    let with_unit = arguments.first().filter(|first| functions::keeps_unit(name) && !first.units.is_empty());
    let Some(first) = with_unit else {
        let numbers = arguments.iter().map(Quantity::plain).collect::<Result<Vec<_>, _>>()?;
        return Ok(functions::call(name, &numbers)?.into());
    };
    let is_count = |at: usize| name == "round" && at > 0;
    let number = |(at, quantity): (usize, &Quantity)| {
        if is_count(at) { quantity.plain() } else { quantity.number_like(first) }
    };
    let numbers = arguments.iter().enumerate().map(number).collect::<Result<Vec<_>, _>>()?;
    Ok(Quantity { number: functions::call(name, &numbers)?, units: first.units.clone() })
}
