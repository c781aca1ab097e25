use std::fmt;

use rand::rngs::SmallRng;
use rand::Rng;

use crate::town::{Person, Place};

#[derive(Debug, Clone, PartialEq)]
pub enum Health {
    Susceptible,
    Exposed { days_left: u8 },
    Infectious { days_left: u8, symptoms: Option<Box<Symptoms>> },
    Hospital { days_left: u8, ventilated: bool },
    Recovered { immunity: u16 },
    Dead,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Symptoms {
    pub severity: f32,
    pub isolates: bool,
}

impl Health {
    pub fn spreads(&self) -> bool {
        matches!(self, Health::Infectious { .. })
    }

    /// The state machine: tomorrow's health of somebody of that age.
    pub fn next(self, age: u8, rng: &mut SmallRng) -> Health {
        use Health::*;
        match self {
            Exposed { days_left: 0 } => {
                let symptoms = rng.gen_bool(0.4 + 0.004 * f64::from(age)).then(|| {
                    Box::new(Symptoms { severity: rng.gen::<f32>() * (0.3 + f32::from(age) / 90.0), isolates: rng.gen_bool(0.6) })
                });
                Infectious { days_left: rng.gen_range(4..9), symptoms }
            }
            Exposed { days_left } => Exposed { days_left: days_left - 1 },
            Infectious { days_left: 0, symptoms: Some(s) } if s.severity > 0.7 => {
                Hospital { days_left: rng.gen_range(6..15), ventilated: s.severity > 1.0 }
            }
            Infectious { days_left: 0, .. } => Recovered { immunity: rng.gen_range(150..300) },
            Infectious { days_left, symptoms } => Infectious { days_left: days_left - 1, symptoms },
            Hospital { ventilated, .. } if rng.gen_bool(if ventilated { 0.03 } else { 0.004 }) => Dead,
            Hospital { days_left: 0, .. } => Recovered { immunity: 365 },
            Hospital { days_left, ventilated } => Hospital { days_left: days_left - 1, ventilated },
            Recovered { immunity: 0 } => Susceptible,
            Recovered { immunity } => Recovered { immunity: immunity - 1 },
            same @ (Susceptible | Dead) => same,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub enum Policy {
    #[default]
    Open,
    Masks { factor: f64 },
    Lockdown { days: u32, closed: Vec<Place> },
}

impl Policy {
    pub fn closed(&self, place: Place) -> bool {
        matches!(self, Policy::Lockdown { closed, .. } if closed.contains(&place))
    }

    pub fn reviewed(&self, hospital: usize, infectious: usize) -> Option<Policy> {
        match self {
            Policy::Open if infectious > 150 => Some(Policy::Masks { factor: 0.6 }),
            Policy::Masks { .. } if hospital > 80 => {
                Some(Policy::Lockdown { days: 35, closed: vec![Place::School, Place::Work] })
            }
            Policy::Lockdown { days: 0, .. } => Some(Policy::Masks { factor: 0.8 }),
            Policy::Lockdown { days, closed } if days % 7 == 1 && hospital < 30 => {
                Some(Policy::Lockdown { days: days - 1, closed: closed.iter().copied().filter(|p| *p != Place::School).collect() })
            }
            Policy::Lockdown { days, closed } => Some(Policy::Lockdown { days: days - 1, closed: closed.clone() }),
            Policy::Masks { .. } if infectious < 20 => Some(Policy::Open),
            _ => None,
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Policy::Open => f.write_str("open"),
            Policy::Masks { factor } => write!(f, "masks({factor})"),
            Policy::Lockdown { days, closed } => write!(f, "lockdown({days}, {} places)", closed.len()),
        }
    }
}

pub fn transmits(place: Place, source: &Person, policy: &Policy, rng: &mut SmallRng) -> bool {
    let mut p = match place {
        Place::Home => 0.09,
        Place::School => 0.022,
        Place::Work => 0.018,
        Place::Street => 0.006,
    };
    if let Health::Infectious { symptoms, .. } = &source.health {
        match symptoms {
            Some(s) if s.isolates && place != Place::Home => return false,
            Some(s) => p *= 1.0 + f64::from(s.severity),
            None => p *= 0.6,
        }
    }
    if let Policy::Masks { factor } = policy {
        p *= if place == Place::Home { 1.0 } else { *factor };
    }
    rng.gen_bool(p.min(1.0))
}
