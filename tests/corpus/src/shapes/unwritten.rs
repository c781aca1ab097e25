//! Arrays so large that a checkpoint takes them in blocks, some of which nothing writes to between two visits of a site.

const LENGTH: usize = 150_000;

fn fill(list: &mut [f64], with: f64) {
    for (k, x) in list.iter_mut().enumerate() {
        *x = with + k as f64;
    }
}

fn shown(list: &[f64]) -> f64 {
    list.iter().step_by(1000).sum::<f64>() + list[0] + list[LENGTH - 1]
}

#[ckpt::instrument]
pub fn a_matrix_and_a_vector() {
    let mut matrix = vec![0.0; LENGTH];
    fill(&mut matrix, 1.0);
    let mut x = vec![0.5; LENGTH];
    for step in 0..6 {
        ckpt::checkpoint!();
        x[step * 10] += matrix[step];
        println!("{step} {}", shown(&x));
    }
    println!("{} {}", shown(&matrix), shown(&x));
}

#[ckpt::instrument]
pub fn filled_anew_for_every_phase() {
    let mut grid = vec![0.0; LENGTH];
    for phase in 0..3 {
        fill(&mut grid, f64::from(phase));
        let scaled: Vec<f64> = grid.iter().map(|x| x * 0.5).collect();
        for step in 0..3 {
            ckpt::checkpoint!();
            println!("{phase} {step} {} {}", shown(&grid), scaled[step]);
        }
    }
    println!("{}", shown(&grid));
}

#[ckpt::instrument]
fn relax(weights: &[f64], x: &mut [f64], rounds: usize) {
    for round in 0..rounds {
        ckpt::checkpoint!();
        x[round] += weights[round];
    }
}

/// Every call is another activation, with another array of the same size at the same place.
#[ckpt::instrument(calls(relax))]
fn solved(weight: f64) -> f64 {
    let mut weights = vec![0.0; LENGTH];
    fill(&mut weights, weight);
    let mut x = vec![1.0; LENGTH];
    relax(&weights, &mut x, 3);
    shown(&weights) + shown(&x)
}

#[ckpt::instrument(calls(solved))]
pub fn another_activation_has_another_array() {
    let mut sum = 0.0;
    for k in 0..4 {
        sum += solved(f64::from(k));
        println!("{k} {sum}");
    }
}

#[ckpt::instrument]
pub fn arrays_that_trade_places() {
    let (mut now, mut next) = (vec![1.0; LENGTH], vec![2.0; LENGTH]);
    let constant = vec![3.0; LENGTH];
    for step in 0..5 {
        ckpt::checkpoint!();
        next[step] = now[step] + constant[step];
        std::mem::swap(&mut now, &mut next);
        println!("{}", shown(&now));
    }
    println!("{} {}", shown(&next), shown(&constant));
}

#[ckpt::instrument]
pub fn behind_a_cell() {
    let cells: Vec<std::cell::Cell<f64>> = vec![std::cell::Cell::new(1.0); LENGTH];
    let fixed = vec![1.0; LENGTH];
    for step in 0..4 {
        ckpt::checkpoint!();
        cells[step].set(fixed[step] + step as f64);
    }
    println!(
        "{} {}",
        cells.iter().map(|cell| cell.get()).sum::<f64>(),
        shown(&fixed)
    );
}
