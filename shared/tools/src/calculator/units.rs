//! The units that can be converted, with their exact sizes in base units.

use super::fault::Fault;
use super::number::Number;
use super::rational::Rational;

/// The powers of metre, kilogram, second, kelvin, bit and radian of a quantity.
pub(super) type Dimension = [i32; 6];

/// The position of the radian in a dimension.
const RADIAN: usize = 5;

const LENGTH: Dimension = [1, 0, 0, 0, 0, 0];
const AREA: Dimension = [2, 0, 0, 0, 0, 0];
const VOLUME: Dimension = [3, 0, 0, 0, 0, 0];
const MASS: Dimension = [0, 1, 0, 0, 0, 0];
const TIME: Dimension = [0, 0, 1, 0, 0, 0];
const FREQUENCY: Dimension = [0, 0, -1, 0, 0, 0];
/// Turns per time; a frequency counts cycles, which are not angles.
const ROTATION: Dimension = [0, 0, -1, 0, 0, 1];
const ANGLE: Dimension = [0, 0, 0, 0, 0, 1];
const SPEED: Dimension = [1, 0, -1, 0, 0, 0];
const TEMPERATURE: Dimension = [0, 0, 0, 1, 0, 0];
const DATA: Dimension = [0, 0, 0, 0, 1, 0];
const DATA_RATE: Dimension = [0, 0, -1, 0, 1, 0];
const FORCE: Dimension = [1, 1, -2, 0, 0, 0];
const PRESSURE: Dimension = [-1, 1, -2, 0, 0, 0];
const ENERGY: Dimension = [2, 1, -2, 0, 0, 0];
const POWER: Dimension = [2, 1, -3, 0, 0, 0];

/// A unit.
pub(super) struct Unit {
    /// Its names, separated by spaces; some are case-sensitive.
    names: &'static str,
    pub(super) dimension: Dimension,
    /// Its size in base units: numbers between `*` and `/`, from left to right; `pi` may be the first.
    size: &'static str,
    /// The distance of a temperature scale's zero from absolute zero, in its own degrees; empty for other units.
    offset: &'static str,
}

const fn unit(names: &'static str, dimension: Dimension, size: &'static str) -> Unit {
    Unit { names, dimension, size, offset: "" }
}

/// The units. Sources: the SI brochure; NIST Handbook 44, appendix C, for the customary ones.
pub(super) const UNITS: &[Unit] = &[
    unit("m meter meters metre metres", LENGTH, "1"),
    unit("km kilometer kilometers kilometre kilometres", LENGTH, "1000"),
    unit("dm decimeter decimeters decimetre decimetres", LENGTH, "0.1"),
    unit("cm centimeter centimeters centimetre centimetres", LENGTH, "0.01"),
    unit("mm millimeter millimeters millimetre millimetres", LENGTH, "0.001"),
    unit("um micrometer micrometers micrometre micrometres micron microns", LENGTH, "0.000001"),
    unit("nm nanometer nanometers nanometre nanometres", LENGTH, "0.000000001"),
    unit("in inch inches", LENGTH, "0.0254"),
    unit("ft foot feet", LENGTH, "0.3048"),
    unit("yd yard yards", LENGTH, "0.9144"),
    unit("mi mile miles", LENGTH, "1609.344"),
    unit("nmi", LENGTH, "1852"),
    unit("au", LENGTH, "149597870700"),
    unit("ly lightyear lightyears", LENGTH, "9460730472580800"),
    unit("acre acres", AREA, "4046.8564224"),
    unit("ha hectare hectares", AREA, "10000"),
    unit("l L liter liters litre litres", VOLUME, "0.001"),
    unit("ml mL milliliter milliliters millilitre millilitres cc", VOLUME, "0.000001"),
    unit("cl cL", VOLUME, "0.00001"),
    unit("dl dL", VOLUME, "0.0001"),
    unit("gal gallon gallons", VOLUME, "0.003785411784"),
    unit("qt quart quarts", VOLUME, "0.000946352946"),
    unit("pint pints", VOLUME, "0.000473176473"),
    unit("cup cups", VOLUME, "0.0002365882365"),
    unit("floz", VOLUME, "0.0000295735295625"),
    unit("tbsp tablespoon tablespoons", VOLUME, "0.00001478676478125"),
    unit("tsp teaspoon teaspoons", VOLUME, "0.00000492892159375"),
    unit("kg kilogram kilograms kilo kilos", MASS, "1"),
    unit("g gram grams", MASS, "0.001"),
    unit("mg milligram milligrams", MASS, "0.000001"),
    unit("ug microgram micrograms", MASS, "0.000000001"),
    unit("t tonne tonnes", MASS, "1000"),
    unit("lb lbs pound pounds", MASS, "0.45359237"),
    unit("oz ounce ounces", MASS, "0.028349523125"),
    unit("st stone stones", MASS, "6.35029318"),
    unit("s sec secs second seconds", TIME, "1"),
    unit("ms millisecond milliseconds", TIME, "0.001"),
    unit("us microsecond microseconds", TIME, "0.000001"),
    unit("ns nanosecond nanoseconds", TIME, "0.000000001"),
    unit("min mins minute minutes", TIME, "60"),
    unit("h hr hrs hour hours", TIME, "3600"),
    unit("d day days", TIME, "86400"),
    unit("week weeks", TIME, "604800"),
    unit("Hz hertz", FREQUENCY, "1"),
    unit("kHz", FREQUENCY, "1000"),
    unit("MHz", FREQUENCY, "1000000"),
    unit("GHz", FREQUENCY, "1000000000"),
    unit("rpm", ROTATION, "pi*2/60"),
    unit("kph kmh", SPEED, "1000/3600"),
    unit("mph", SPEED, "1609.344/3600"),
    unit("knot knots kn", SPEED, "1852/3600"),
    unit("K kelvin kelvins", TEMPERATURE, "1"),
    Unit { names: "°C C celsius degC", dimension: TEMPERATURE, size: "1", offset: "273.15" },
    Unit { names: "°F F fahrenheit degF", dimension: TEMPERATURE, size: "5/9", offset: "459.67" },
    unit("bit bits", DATA, "1"),
    unit("kbit", DATA, "1000"),
    unit("Mbit", DATA, "1000000"),
    unit("Gbit", DATA, "1000000000"),
    unit("B byte bytes", DATA, "8"),
    unit("kB KB kilobyte kilobytes", DATA, "8000"),
    unit("MB megabyte megabytes", DATA, "8000000"),
    unit("GB gigabyte gigabytes", DATA, "8000000000"),
    unit("TB terabyte terabytes", DATA, "8000000000000"),
    unit("PB petabyte petabytes", DATA, "8000000000000000"),
    unit("KiB kibibyte kibibytes", DATA, "8192"),
    unit("MiB mebibyte mebibytes", DATA, "8388608"),
    unit("GiB gibibyte gibibytes", DATA, "8589934592"),
    unit("TiB tebibyte tebibytes", DATA, "8796093022208"),
    unit("bps", DATA_RATE, "1"),
    unit("kbps", DATA_RATE, "1000"),
    unit("Mbps", DATA_RATE, "1000000"),
    unit("Gbps", DATA_RATE, "1000000000"),
    unit("N newton newtons", FORCE, "1"),
    unit("kN", FORCE, "1000"),
    unit("lbf", FORCE, "0.45359237*9.80665"),
    unit("kgf", FORCE, "9.80665"),
    unit("Pa pascal pascals", PRESSURE, "1"),
    unit("hPa", PRESSURE, "100"),
    unit("kPa", PRESSURE, "1000"),
    unit("MPa", PRESSURE, "1000000"),
    unit("bar bars", PRESSURE, "100000"),
    unit("mbar", PRESSURE, "100"),
    unit("atm", PRESSURE, "101325"),
    unit("torr", PRESSURE, "101325/760"),
    unit("mmHg", PRESSURE, "133.322387415"),
    unit("psi", PRESSURE, "0.45359237*9.80665/0.00064516"),
    unit("J joule joules", ENERGY, "1"),
    unit("kJ", ENERGY, "1000"),
    unit("MJ", ENERGY, "1000000"),
    unit("cal calorie calories", ENERGY, "4.184"),
    unit("kcal", ENERGY, "4184"),
    unit("Wh", ENERGY, "3600"),
    unit("kWh", ENERGY, "3600000"),
    unit("MWh", ENERGY, "3600000000"),
    unit("eV", ENERGY, "0.0000000000000000001602176634"),
    unit("BTU btu", ENERGY, "1055.05585262"),
    unit("W watt watts", POWER, "1"),
    unit("mW", POWER, "0.001"),
    unit("kW kilowatt kilowatts", POWER, "1000"),
    unit("MW", POWER, "1000000"),
    unit("GW", POWER, "1000000000"),
    unit("hp horsepower", POWER, "550*0.3048*0.45359237*9.80665"),
    unit("rad rads radian radians", ANGLE, "1"),
    unit("deg degree degrees °", ANGLE, "pi/180"),
    unit("arcmin arcmins arcminute arcminutes", ANGLE, "pi/10800"),
    unit("arcsec arcsecs arcsecond arcseconds", ANGLE, "pi/648000"),
    unit("turn turns rev", ANGLE, "pi*2"),
];

impl Unit {
    /// Its names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split(' ')
    }

    /// Its size in base units.
    pub(super) fn size(&self) -> Result<Number, Fault> {
        let (mut size, mut operator) = (Number::Exact(1.into()), '*');
        for factor in self.size.split_inclusive(['*', '/']) {
            let written = factor.trim_end_matches(['*', '/']);
            let number = match written {
                "pi" => Number::Pi(1.into()),
                written => Number::Exact(Rational::decimal(written, 0)?),
            };
            size = if operator == '*' { size.multiply(&number)? } else { size.divide(&number)? };
            operator = if factor.ends_with('/') { '/' } else { '*' };
        }
        Ok(size)
    }

    /// Whether it counts cycles per time: Hz and its multiples.
    pub(super) fn is_frequency(&self) -> bool {
        self.dimension == FREQUENCY
    }

    /// Whether it measures an angle in units other than whole turns.
    pub(super) fn divides_turns(&self) -> bool {
        self.dimension[RADIAN] != 0 && !self.size.starts_with("pi*2")
    }

    /// Whether it is a temperature scale whose zero is not absolute zero.
    pub(super) fn has_offset(&self) -> bool {
        !self.offset.is_empty()
    }

    /// Its zero in its own degrees above absolute zero.
    pub(super) fn offset(&self) -> Result<Number, Fault> {
        Rational::decimal(if self.has_offset() { self.offset } else { "0" }, 0).map(Number::Exact)
    }
}

/// Removes the power of the radian from a dimension and returns it.
pub(super) fn take_angle(dimension: &mut Dimension) -> i32 {
    std::mem::take(&mut dimension[RADIAN])
}

/// Whether time is the only dimension.
pub(super) fn is_time_alone(dimension: Dimension) -> bool {
    dimension[2] != 0 && dimension.iter().enumerate().all(|(at, power)| at == 2 || *power == 0)
}

/// Finds a unit by its exact name, or by its lower-case name.
pub(super) fn find(name: &str) -> Option<usize> {
    let of = |name: &str| UNITS.iter().position(|unit| unit.names().any(|known| known == name));
    // Short names differ by case alone: `Mb` and `MB`, `mW` and `MW`.
    of(name).or_else(|| of(&name.to_lowercase()).filter(|_| name.len() > 3))
}
