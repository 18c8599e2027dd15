//! Quantities with units.

use super::*;

#[test]
fn units_are_converted_exactly_where_that_is_possible() {
    let cases = [
        ("5 km to m", "5000 m"),
        ("1 mile to km", "1.609344 km"),
        ("1 inch in cm", "2.54 cm"),
        ("5 in to cm", "12.7 cm"),
        ("90 km/h to m/s", "25 m/s"),
        ("100 °C to °F", "212 °F"),
        ("-40 F to C", "-40 C"),
        ("0 C to K", "273.15 K"),
        ("2 hours to minutes", "120 minutes"),
        ("1 GiB to MiB", "1024 MiB"),
        ("8 Mbps * 10 s to MB", "10 MB"),
        ("3 m * 4 m", "12 m^2"),
        ("2 m^2 to cm^2", "20000 cm^2"),
        ("60 km / 2 h", "30 km/h"),
        ("60 km/h * 30 min", "30 km"),
        ("5 km + 300 m", "5.3 km"),
        ("round(2.567 kg, 1)", "2.6 kg"),
        ("max(1 km, 900 m)", "1 km"),
        ("1 kWh to J", "3600000 J"),
        ("180 degrees to turns", "0.5 turns"),
        ("1 N * 1 m to J", "1 J"),
        ("10 m / 2 m", "5"),
    ];
    for (expression, expected) in cases {
        assert_eq!(exactly(expression), expected, "{expression}");
    }
}

#[test]
fn units_that_do_not_fit_are_refused() {
    for expression in [
        "1 kg + 1 m",
        "5 km to kg",
        "1 kg + 1",
        "20 C + 5 C",
        "2 * 20 C * 3",
        "20 C^2",
        "5 to km",
        "5 m^pi",
        "sqrt(5 m)",
    ] {
        assert!(matches!(value(expression), Err(Fault::Unreadable(_))), "{expression}: {:?}", value(expression));
    }
}

#[test]
fn every_unit_can_be_converted_to_itself_under_each_name() {
    let mut seen = std::collections::HashSet::new();
    for (at, unit) in super::super::units::UNITS.iter().enumerate() {
        for name in unit.names() {
            assert!(seen.insert(name), "{name} is there twice");
            assert_eq!(super::super::units::find(name), Some(at), "{name}");
            assert_eq!(exactly(&format!("7 {name} to {name}")), format!("7 {name}"));
        }
    }
}
