//! Quantities with units.

use super::*;

#[test]
fn unit_conversions_are_exact_where_possible() {
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
fn incompatible_units_are_rejected() {
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
fn every_unit_name_converts_to_itself() {
    let mut seen = std::collections::HashSet::new();
    for (at, unit) in super::super::units::UNITS.iter().enumerate() {
        for name in unit.names() {
            assert!(seen.insert(name), "{name} is there twice");
            assert_eq!(super::super::units::find(name), Some(at), "{name}");
            assert_eq!(exactly(&format!("7 {name} to {name}")), format!("7 {name}"));
        }
    }
}

#[test]
fn angles_per_time_convert_with_their_factor() {
    for (expression, expected) in [
        ("1 rpm to deg/s", "6 deg/s"),
        ("1 rpm to turn/min", "1 turn/min"),
        ("1 rpm to turn/h", "60 turn/h"),
        ("60 rpm to turn/s", "1 turn/s"),
        ("90 deg/s to rpm", "15 rpm"),
        ("6 deg/min to arcmin/s", "6 arcmin/s"),
        ("1 deg/s to arcmin/min", "3600 arcmin/min"),
        ("2 turn/s to deg/min", "43200 deg/min"),
        ("1 turn to arcmin", "21600 arcmin"),
        ("1 arcmin to arcsec", "60 arcsec"),
        ("pi rad/s to rpm", "30 rpm"),
        ("pi rad/s to deg/s", "180 deg/s"),
        ("2 pi rad/min to turn/min", "1 turn/min"),
        ("360 s/turn to s/deg", "1 s/deg"),
        ("6 rpm + 36 deg/s", "12 rpm"),
        ("1200 rpm * 3 s to turns", "60 turns"),
        ("10 turn / (60 rpm) to s", "10 s"),
        ("10 m/turn * 60 rpm to m/s", "10 m/s"),
        ("max(1 rpm, 12 deg/s)", "2 rpm"),
        ("sin(60 rpm * 1 s / 4)", "1"),
    ] {
        assert_eq!(exactly(expression), expected, "{expression}");
    }
    for (expression, expected) in [
        ("3000 rpm to rad/s", "314.159265359 rad/s"),
        ("1 turn/s to rad/s", "6.2831853072 rad/s"),
        ("1 rad/s to rpm", "9.5492965855 rpm"),
        ("1 rad/s to turn/s", "0.1591549431 turn/s"),
        ("1 rad/h to arcmin/h", "3437.7467707849 arcmin/h"),
        ("3000 rpm * 10 N * 1 m to W", "3141.5926535898 W"),
        ("60 rpm * 2 m to m/s", "12.5663706144 m/s"),
        ("50 Hz * 1 turn to rad/s", "314.159265359 rad/s"),
        ("asin(1) to rad", "1.5707963268 rad"),
    ] {
        assert_eq!(about(expression), expected, "{expression}");
    }
}

#[test]
fn a_cycle_of_a_frequency_is_one_turn() {
    for (expression, expected) in [
        ("1 turn/s to Hz", "1 Hz"),
        ("60 rpm to Hz", "1 Hz"),
        ("3000 rpm to kHz", "0.05 kHz"),
        ("60000 rpm to kHz", "1 kHz"),
        ("50 Hz to rpm", "3000 rpm"),
        ("2 kHz to turn/s", "2000 turn/s"),
        ("1 Hz to turn/min", "60 turn/min"),
        ("1 Hz to turn/h", "3600 turn/h"),
        ("50 Hz * 2 s to turns", "100 turns"),
        ("1 rpm + 1 Hz", "61 rpm"),
        ("3 turn/s/s to Hz/s", "3 Hz/s"),
        ("1 kHz to Hz", "1000 Hz"),
        ("1/(4 s) to Hz", "0.25 Hz"),
    ] {
        assert_eq!(exactly(expression), expected, "{expression}");
    }
}

#[test]
fn units_ambiguous_by_two_pi_are_rejected() {
    for expression in [
        "50 Hz to rad/s",
        "2 pi * 50 Hz to rad/s",
        "314 rad/s to Hz",
        "360 deg/s to Hz",
        "1 kHz to arcmin/min",
        "1 Hz + 1 rad/s",
        "50/s to rpm",
        "50/s to rad/s",
        "1 turn/s to s^-1",
        "10 m/s / (2 m) to rpm",
        "50 Hz * 1 s to rad",
        "sin(1 turn/s / 1 Hz)",
        "1 rad / 1 Hz to s",
    ] {
        assert!(unreadable(expression).contains("2π"), "{expression}");
    }
    for expression in ["1 rad^2 to rad", "1 turn/s to turn", "1 Hz to turn", "1 Hz to s/turn", "1 rpm to m/s"] {
        assert_eq!(unreadable(expression), "单位不一致", "{expression}");
    }
}
