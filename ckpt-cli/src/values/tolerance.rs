//! When two numbers are the same: bit for bit, within a distance, or within so many floating-point numbers.

use ckpt::value::DType;

use super::summary::short;

/// How far numbers may be apart.
#[derive(Debug, Clone, Copy)]
pub enum Tolerance {
    /// |a - b| <= absolute + relative * max(|a|, |b|).
    Distance {
        /// Whatever their size.
        absolute: f64,
        /// For each unit of the larger one.
        relative: f64,
    },
    /// So many steps from one floating-point number to the next. Integers have to be equal.
    Ulps(u64),
}

/// Two numbers.
#[derive(Debug, Clone, Copy)]
pub struct Two {
    /// The first, rounded where it is an integer that an `f64` does not hold.
    pub a: f64,
    /// The second.
    pub b: f64,
    /// How far they are apart. Integers that are not equal have one, however near they are for their size.
    pub distance: f64,
}

impl Tolerance {
    /// Whether two numbers of this type are the same; two that are not numbers are.
    pub fn same(self, Two { a, b, distance }: Two, dtype: &DType) -> bool {
        if distance == 0.0 || (a.is_nan() && b.is_nan()) || a == b && a.is_infinite() {
            return true;
        }
        match self {
            Tolerance::Distance { absolute, relative } => {
                let bound = absolute + relative * a.abs().max(b.abs());
                // Only an infinity is near an infinity, whatever the relative tolerance makes of it.
                bound.is_finite() && distance <= bound
            }
            Tolerance::Ulps(most) => ulps(a, b, dtype).is_some_and(|steps| steps <= most),
        }
    }

    /// A distance as one writes it: `ABS` or `ABS,REL`.
    pub fn parse_distance(text: &str) -> Result<Tolerance, String> {
        let number = |text: &str| match text.trim().parse::<f64>() {
            Ok(number) if number >= 0.0 && number.is_finite() => Ok(number),
            _ => Err(format!(
                "`{text}` is not a distance; write for example `1e-12` or `1e-12,1e-9`"
            )),
        };
        let (absolute, relative) = match text.split_once(',') {
            Some((absolute, relative)) => (number(absolute)?, number(relative)?),
            None => (number(text)?, 0.0),
        };
        Ok(Tolerance::Distance { absolute, relative })
    }
}

/// How many steps from one floating-point number to the next lie between two finite ones; both zeros are one.
pub fn ulps(a: f64, b: f64, dtype: &DType) -> Option<u64> {
    // The bits of floating-point numbers are in their order, those of negative ones backwards.
    let place = |value: f64| match dtype {
        DType::F32 => {
            let bits = (value as f32).to_bits();
            let size = i128::from(bits & 0x7fff_ffff);
            Some(if bits >> 31 == 0 { size } else { -size })
        }
        DType::F64 => {
            let bits = value.to_bits();
            let size = i128::from(bits & (u64::MAX >> 1));
            Some(if bits >> 63 == 0 { size } else { -size })
        }
        _ => None,
    };
    let finite = a.is_finite() && b.is_finite();
    let (a, b) = (place(a)?, place(b)?);
    finite.then(|| u64::try_from((a - b).abs()).unwrap_or(u64::MAX))
}

/// How far the second of two floating-point numbers is from the first, in words: of neighbours the steps between them,
/// of others what it is of the first. Nothing if one is zero, or none.
pub fn apart((a, b): (f64, f64), ulps: u64) -> Option<String> {
    const FEW: u64 = 1000;
    let of_first = b.abs() / a.abs();
    Some(match of_first {
        _ if ulps == 1 => "1 unit in the last place".into(),
        _ if ulps <= FEW => format!("{ulps} units in the last place"),
        r if !r.is_finite() || r == 0.0 => return None,
        _ if a.is_sign_negative() != b.is_sign_negative() => "of the other sign".into(),
        0.5 => "one half smaller".into(),
        1.5 => "one half larger".into(),
        r if (r - 1.0).abs() < 0.001 => format!("{:.1e} of its size", (r - 1.0).abs()),
        r if r < 0.1 => format!("{} times smaller", short(1.0 / r)),
        r if r < 1.0 => format!("{} % smaller", percent(1.0 - r)),
        r if r < 2.0 => format!("{} % larger", percent(r - 1.0)),
        r => format!("{} times as large", short(r)),
    })
}

/// Two digits are enough.
fn percent(part: f64) -> String {
    match 100.0 * part {
        large if large >= 9.5 => format!("{large:.0}"),
        small => format!("{small:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_is_absolute_plus_relative() {
        let tolerance = Tolerance::Distance {
            absolute: 0.1,
            relative: 0.01,
        };
        let same = |a: f64, b: f64| {
            let distance = (a - b).abs();
            tolerance.same(Two { a, b, distance }, &DType::F64)
        };
        assert!(same(100.0, 101.0) && same(0.0, 0.1));
        assert!(!same(100.0, 102.0) && !same(0.0, f64::NAN));
        assert!(same(f64::NAN, f64::NAN) && same(f64::INFINITY, f64::INFINITY));
        assert!(!same(f64::INFINITY, 1.0));
    }

    #[test]
    fn a_distance_has_one_or_two_parts() {
        let parsed = |text| Tolerance::parse_distance(text);
        assert!(matches!(
            parsed("1e-3, 1e-6"),
            Ok(Tolerance::Distance {
                absolute: 1e-3,
                relative: 1e-6
            })
        ));
        assert!(matches!(
            parsed("0.5"),
            Ok(Tolerance::Distance { relative: 0.0, .. })
        ));
        assert!(parsed("-1").is_err() && parsed("x").is_err() && parsed("nan").is_err());
    }

    #[test]
    fn ulps_are_steps_between_neighbours() {
        let next = f64::from_bits(1.0_f64.to_bits() + 3);
        assert_eq!(ulps(1.0, next, &DType::F64), Some(3));
        assert_eq!(ulps(0.0, -0.0, &DType::F64), Some(0));
        let smallest = f64::from_bits(1);
        assert_eq!(ulps(smallest, -smallest, &DType::F64), Some(2));
        let next = f64::from(f32::from_bits(1.0_f32.to_bits() + 1));
        assert_eq!(ulps(1.0, next, &DType::F32), Some(1));
        assert_eq!(
            ulps(-1e308, 1e308, &DType::F64).map(|far| far > 1 << 62),
            Some(true)
        );
        assert_eq!(ulps(1.0, f64::NAN, &DType::F64), None);
        assert_eq!(ulps(1.0, 2.0, &DType::I32), None);
        let near = Two {
            a: 1.0,
            b: 1.0 + 3.0 * f64::EPSILON,
            distance: 3.0 * f64::EPSILON,
        };
        assert!(Tolerance::Ulps(3).same(near, &DType::F64));
        assert!(!Tolerance::Ulps(2).same(near, &DType::F64));
    }

    #[test]
    fn distances_are_words() {
        let of = |a: f64, b: f64| apart((a, b), ulps(a, b, &DType::F64).unwrap()).unwrap_or_default();
        assert_eq!(of(1.0, 1.0 + f64::EPSILON), "1 unit in the last place");
        assert_eq!(of(1.0, 1.0 + 3.0 * f64::EPSILON), "3 units in the last place");
        assert_eq!(of(1.0, 1.000_000_01), "1.0e-8 of its size");
        assert_eq!(of(2.0, 3.0), "one half larger");
        assert_eq!(of(-2.0, -1.0), "one half smaller");
        assert_eq!(of(2.0, 2.25), "12 % larger");
        assert_eq!(of(100.0, 98.5), "1.5 % smaller");
        assert_eq!(of(2.0, 6.0), "3 times as large");
        assert_eq!(of(6.0, 0.5), "12 times smaller");
        assert_eq!(of(6.0, -6.0), "of the other sign");
        assert_eq!(of(0.0, 6.0), "");
    }
}
