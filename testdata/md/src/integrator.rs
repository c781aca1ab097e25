use crate::cells::CellList;
use crate::potential::Potential;
use crate::system::System;
use crate::vec3::Vec3;

pub trait Thermostat {
    fn apply(&mut self, system: &mut System, dt: f64);
}

/// Weak coupling to a heat bath.
pub struct Berendsen {
    pub target: f64,
    pub tau: f64,
}

impl Thermostat for Berendsen {
    fn apply(&mut self, system: &mut System, dt: f64) {
        let lambda2 = 1.0 + dt / self.tau * (self.target / system.temperature() - 1.0);
        system.scale_velocities(lambda2.max(0.0).sqrt());
    }
}

#[allow(dead_code)]
pub struct NoThermostat;

impl Thermostat for NoThermostat {
    fn apply(&mut self, _: &mut System, _: f64) {}
}

pub trait Integrator {
    /// Forces for the first half step.
    fn prime(&mut self, system: &mut System);
    /// One time step; gives the potential energy.
    fn step(&mut self, system: &mut System) -> f64;
}

pub struct VelocityVerlet<P, T> {
    potential: P,
    thermostat: T,
    dt: f64,
}

impl<P: Potential, T: Thermostat> VelocityVerlet<P, T> {
    pub fn new(potential: P, thermostat: T, dt: f64) -> Self {
        VelocityVerlet { potential, thermostat, dt }
    }

    fn forces(&self, system: &mut System) -> f64 {
        let pairs = CellList::build(system, self.potential.range());
        let mut forces = std::mem::take(&mut system.forces);
        forces.fill(Vec3::ZERO);
        let range2 = self.potential.range().powi(2);
        let mut energy = 0.0;
        pairs.for_each_pair(|i, j| {
            let d = system.separation(i, j);
            let r2 = d.norm2();
            if r2 < range2 {
                let (e, f) = self.potential.evaluate(r2);
                energy += e;
                forces[i] += f * d;
                forces[j] -= f * d;
            }
        });
        system.forces = forces;
        energy
    }
}

impl<P, T> Integrator for VelocityVerlet<P, T>
where
    P: Potential,
    T: Thermostat,
{
    fn prime(&mut self, system: &mut System) {
        self.forces(system);
    }

    fn step(&mut self, system: &mut System) -> f64 {
        let dt = self.dt;
        let System { positions, velocities, forces, .. } = &mut *system;
        for ((x, v), f) in positions.iter_mut().zip(velocities).zip(forces.iter()) {
            *v += 0.5 * dt * *f;
            *x += dt * *v;
        }
        system.wrap();
        let energy = self.forces(system);
        for i in 0..system.len() {
            let kick = 0.5 * dt * system.forces[i];
            system.velocities[i] += kick;
        }
        self.thermostat.apply(system, dt);
        energy
    }
}
