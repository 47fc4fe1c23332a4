//! Three significant digits and a comma in thousands.

use std::fmt;

/// A plain number or count: `4,940`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Number(pub f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.fract() == 0.0 && self.0.abs() < 1e15 {
            return f.write_str(&group_thousands(&format!("{:.0}", self.0)));
        }
        f.write_str(&digits(self.0))
    }
}

/// Three significant digits, with commas between thousands: `0.123`, `1.23`, `12.3`, `123`, `1,230`. Below 0.0001
/// and from 10¹⁵ on in powers of ten.
pub fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs();
    if !(1e-4..1e15).contains(&magnitude) {
        return format!("{value:.1e}");
    }
    // Decimals that leave three significant digits after rounding: 9.996 is 10.0.
    let exponent = magnitude.log10().floor() as i32;
    let rounds_up = (magnitude / 10f64.powi(exponent - 2)).round() >= 1000.0;
    let exponent = exponent + i32::from(rounds_up);
    let decimals = (2 - exponent).max(0) as usize;
    if decimals > 0 {
        return format!("{value:.decimals$}");
    }
    let step = 10f64.powi(exponent - 2);
    group_thousands(&format!("{:.0}", (value / step).round() * step))
}

/// Commas between thousands of a whole number.
fn group_thousands(text: &str) -> String {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (index, digit) in text.chars().enumerate() {
        if index > 0 && (text.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
