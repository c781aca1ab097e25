//! A lumped rainfall-runoff model (snow store, soil store, two reservoirs) driven by a station's daily record.
//! Daily flows go to runoff.csv as they are computed, the yearly balance to balance.csv at the end.

mod model;
mod uh;

use model::{Catchment, Params};
use serde::{Deserialize, Serialize};
use std::error::Error;

#[derive(Debug, Deserialize)]
struct Weather {
    day: u32,
    rain_mm: f64,
    temp_c: f64,
    pet_mm: f64,
    note: Option<String>,
}

#[derive(Debug, Serialize)]
struct FlowRecord<'a> {
    day: u32,
    season: &'a str,
    flow: f64,
    snow: f64,
    soil: f64,
    flag: Option<&'a str>,
}

#[derive(Default, Serialize)]
struct Balance {
    year: u32,
    rain: f64,
    evaporated: f64,
    flow: f64,
    wettest_day: Option<u32>,
}

fn season(day: u32) -> &'static str {
    match (day - 1) % 365 / 91 {
        0 => "winter",
        1 => "spring",
        2 => "summer",
        _ => "autumn",
    }
}

fn arguments() -> Result<(String, usize), Box<dyn Error>> {
    let mut path = String::from("data/station.csv");
    let mut sub_steps = 8640;
    let args: Vec<String> = std::env::args().collect();
    let mut i = 1;
    while i < args.len() {
        match args[i].as_str() {
            "--sub-steps" => {
                i += 1;
                sub_steps = args.get(i).ok_or("--sub-steps wants a number")?.parse()?;
            }
            flag if flag.starts_with("--") => return Err(format!("unknown option {flag}").into()),
            file => path = file.to_string(),
        }
        i += 1;
    }
    Ok((path, sub_steps))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (path, sub_steps) = arguments()?;
    let mut reader = csv::Reader::from_path(&path)?;
    let weather: Vec<Weather> = reader.deserialize().collect::<Result<_, _>>()?;
    println!("{}: {} days", path, weather.len());

    let mut catchment = Catchment::new(Params::default(), sub_steps);
    let mut writer = csv::Writer::from_path("runoff.csv")?;
    let mut years: Vec<Balance> = Vec::new();
    let mut frozen = 0;

    for today in &weather {
        let rain = match today.note.as_deref() {
            Some(note) if note.contains("frozen") => {
                frozen += 1;
                0.0
            }
            _ => today.rain_mm,
        };
        let flow = catchment.day(rain, today.temp_c, today.pet_mm);

        let year = (today.day - 1) / 365 + 1;
        if years.last().map_or(true, |b| b.year != year) {
            years.push(Balance { year, ..Default::default() });
        }
        let balance = years.last_mut().unwrap();
        balance.rain += rain;
        balance.evaporated += catchment.evaporated_today();
        balance.flow += flow;
        if flow > 20.0 && balance.wettest_day.is_none() {
            balance.wettest_day = Some(today.day);
        }

        writer.serialize(FlowRecord {
            day: today.day,
            season: season(today.day),
            flow,
            snow: catchment.snow(),
            soil: catchment.soil(),
            flag: if flow > 8.0 { Some("high") } else { None },
        })?;
        if today.day % 30 == 0 {
            writer.flush()?;
        }
    }
    writer.flush()?;

    let mut summary = csv::Writer::from_path("balance.csv")?;
    for b in &years {
        summary.serialize(b)?;
        println!("year {}: rain {:.1} = evaporation {:.1} + flow {:.1} + storage", b.year, b.rain, b.evaporated, b.flow);
    }
    println!("{frozen} days with a frozen gauge");
    Ok(())
}
