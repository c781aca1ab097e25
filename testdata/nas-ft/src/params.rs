use std::str::FromStr;

#[derive(Debug, Clone, Copy)]
pub struct Params {
    pub class: char,
    pub nx: usize,
    pub ny: usize,
    pub nz: usize,
    pub iterations: usize,
    pub reference: Option<&'static [(f64, f64)]>,
}

impl Params {
    pub fn total(&self) -> usize {
        self.nx * self.ny * self.nz
    }
}

const S: [(f64, f64); 6] = [
    (5.546087004964e+02, 4.845363331978e+02),
    (5.546385409189e+02, 4.865304269511e+02),
    (5.546148406171e+02, 4.883910722336e+02),
    (5.545423607415e+02, 4.901273169046e+02),
    (5.544255039624e+02, 4.917475857993e+02),
    (5.542683411902e+02, 4.932597244941e+02),
];

impl FromStr for Params {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let class = s.chars().next().ok_or_else(|| String::from("no class given"))?;
        let (nx, ny, nz, iterations, reference): (_, _, _, _, Option<&'static [(f64, f64)]>) = match class {
            'T' => (16, 32, 8, 4, None),
            'S' => (64, 64, 64, 6, Some(&S)),
            'W' => (128, 128, 32, 6, None),
            'A' => (256, 256, 128, 6, None),
            c => return Err(format!("class {c} is not one of T, S, W, A")),
        };
        Ok(Params { class, nx, ny, nz, iterations, reference })
    }
}
