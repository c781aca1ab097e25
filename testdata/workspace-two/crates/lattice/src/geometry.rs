#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    Fluid,
    Wall,
    Obstacle,
    Inlet,
    Outlet,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Obstacle {
    Cylinder { x: f64, y: f64, r: f64 },
    Plate { x: usize, from: usize, to: usize },
}

impl Obstacle {
    fn covers(&self, px: usize, py: usize) -> bool {
        match *self {
            Obstacle::Cylinder { x, y, r } => (px as f64 - x).powi(2) + (py as f64 - y).powi(2) <= r * r,
            Obstacle::Plate { x, from, to } => px == x && (from..to).contains(&py),
        }
    }
}

pub(crate) fn channel(nx: usize, ny: usize, obstacles: &[Obstacle]) -> Vec<Node> {
    let mut nodes = Vec::with_capacity(nx * ny);
    for y in 0..ny {
        for x in 0..nx {
            nodes.push(if y == 0 || y == ny - 1 {
                Node::Wall
            } else if obstacles.iter().any(|o| o.covers(x, y)) {
                Node::Obstacle
            } else if x == 0 {
                Node::Inlet
            } else if x == nx - 1 {
                Node::Outlet
            } else {
                Node::Fluid
            });
        }
    }
    nodes
}
