//! Structs and enums that macros declare.

macro_rules! kinds {
    ($name:ident { $($kind:ident),* }) => {
        #[derive(Clone, Copy, Debug, PartialEq)]
        enum $name { $($kind),* }

        impl $name {
            const ALL: &'static [$name] = &[$($name::$kind),*];
        }
    };
}

kinds! { Weather { Sun, Rain, Snow } }

macro_rules! record {
    ($vis:vis $name:ident, $($field:ident: $type:ty),*) => {
        #[derive(Clone, Debug)]
        $vis struct $name { $($field: $type),* }
    };
}

record!(pub(crate) Day, number: u64, heat: f64, last: Inner);

#[derive(Clone, Debug, Default)]
struct Inner(Vec<u8>);

fn main() {
    let mut days = vec![Day {
        number: 0,
        heat: 0.5,
        last: Inner::default(),
    }];
    let mut weather = Weather::Sun;
    for number in 1..=400_u64 {
        let last = &days[days.len() - 1];
        let mut heat = last.heat;
        for _ in 0..2000 {
            heat = (heat * 1.3 + 0.1).sqrt();
        }
        let next = number as usize * 7 + usize::from(weather == Weather::Rain);
        weather = Weather::ALL[next % Weather::ALL.len()];
        let last = Inner(vec![number as u8; next % 4]);
        days.push(Day { number, heat, last });
        if number % 50 == 0 {
            println!("{number} {weather:?} {:?}", days[days.len() / 2]);
        }
    }
}
