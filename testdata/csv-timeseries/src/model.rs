use crate::uh::UnitHydrograph;

#[derive(Debug, Clone)]
pub struct Params {
    pub degree_day: f64,
    pub field_capacity: f64,
    pub shape: f64,
    pub k_fast: f64,
    pub k_slow: f64,
    pub percolation: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { degree_day: 3.2, field_capacity: 180.0, shape: 2.4, k_fast: 0.28, k_slow: 0.035, percolation: 1.4 }
    }
}

#[derive(Debug)]
pub struct Catchment {
    params: Params,
    sub_steps: usize,
    snow: f64,
    soil: f64,
    upper: f64,
    lower: f64,
    evaporated: f64,
    routing: UnitHydrograph,
}

impl Catchment {
    pub fn new(params: Params, sub_steps: usize) -> Self {
        let soil = 0.5 * params.field_capacity;
        Self { params, sub_steps, snow: 0.0, soil, upper: 0.0, lower: 10.0, evaporated: 0.0, routing: UnitHydrograph::triangle(5) }
    }

    pub fn snow(&self) -> f64 {
        self.snow
    }

    pub fn soil(&self) -> f64 {
        self.soil
    }

    pub fn evaporated_today(&self) -> f64 {
        self.evaporated
    }

    /// A day of `rain` (mm) at `temp` (degrees) with evaporative demand `pet` (mm): the day's flow in mm.
    pub fn day(&mut self, rain: f64, temp: f64, pet: f64) -> f64 {
        let Params { degree_day, field_capacity, shape, k_fast, k_slow, percolation } = self.params;
        let dt = 1.0 / self.sub_steps as f64;
        let (mut out, mut evaporated) = (0.0, 0.0);

        for s in 0..self.sub_steps {
            let hour = 24.0 * s as f64 * dt;
            let temp = temp + 4.0 * (std::f64::consts::TAU * (hour - 14.0) / 24.0).cos();
            let mut water = 0.0;
            if temp < 0.5 {
                self.snow += rain * dt;
            } else {
                water += rain * dt;
                let melt = (degree_day * (temp - 0.5) * dt).min(self.snow);
                self.snow -= melt;
                water += melt;
            }

            let wet = (self.soil / field_capacity).clamp(0.0, 1.0);
            let recharge = water * wet.powf(shape);
            self.soil += water - recharge;
            let e = (pet * dt * (wet / 0.7).min(1.0)).min(self.soil);
            self.soil -= e;
            evaporated += e;

            self.upper += recharge;
            let down = (percolation * dt).min(self.upper);
            self.upper -= down;
            self.lower += down;
            let fast = k_fast * self.upper * dt;
            let slow = k_slow * self.lower * dt;
            self.upper -= fast;
            self.lower -= slow;
            out += fast + slow;
        }

        self.evaporated = evaporated;
        self.routing.push(out)
    }
}
