//! Linear triangles, sparse matrices and conjugate gradients, for any real number type.

pub mod assembly;
pub mod linalg;
pub mod mesh;
pub mod real;
pub mod transient;

pub use mesh::Mesh;
pub use real::Real;
