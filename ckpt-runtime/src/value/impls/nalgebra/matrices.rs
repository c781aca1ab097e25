// Matrices, vectors and what is built from them. `source` is the version of `nalgebra`.

use std::array;
use std::borrow::Cow;

use source::{
    Const, DMatrix, DVector, Dim, Dyn, Isometry, Matrix, OPoint, Point, Quaternion, RowDVector,
    Rotation, SMatrix, SVector, Scalar, Translation, U1, Unit, VecStorage,
};

use super::super::transparent;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

/// A matrix is a list of its rows, as its indices are; a single row or column is a list of its items. Many of them are one dataset.
impl<T: Checkpoint + Scalar, const R: usize, const C: usize> Checkpoint for SMatrix<T, R, C> {
    fn save(&self, to: &mut Encoder<'_>) {
        if let [column] = &self.data.0[..] {
            return column.save(to);
        }
        let rows: [[T; C]; R] = array::from_fn(|row| array::from_fn(|column| self[(row, column)].clone()));
        match &rows[..] {
            [row] => row.save(to),
            _ => rows.save(to),
        }
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        if C == 1 {
            return Ok(of_column(&<[T; R]>::load(from)?));
        }
        let rows = match R {
            1 => vec![<[T; C]>::load(from)?],
            _ => Vec::from(<[[T; C]; R]>::load(from)?),
        };
        Ok(of_rows(&rows))
    }
    fn save_slice(items: &[Self], to: &mut Encoder<'_>) {
        Self::save_each(items.iter(), to);
    }
    fn load_vec(from: &mut Decoder<'_>, count: usize) -> Result<Vec<Self>, LoadError> {
        if C == 1 {
            let columns = <[T; R]>::load_vec(from, count)?;
            return Ok(columns.iter().map(of_column).collect());
        }
        if R == 1 {
            let rows = <[T; C]>::load_vec(from, count)?;
            return Ok(rows.iter().map(|row| of_rows(std::slice::from_ref(row))).collect());
        }
        let all = <[[T; C]; R]>::load_vec(from, count)?;
        Ok(all.iter().map(|rows| of_rows(rows)).collect())
    }
}

fn of_column<T: Scalar, const R: usize, const C: usize>(items: &[T; R]) -> SMatrix<T, R, C> {
    SMatrix::from_fn(|row, _| items[row].clone())
}

fn of_rows<T: Scalar, const R: usize, const C: usize>(rows: &[[T; C]]) -> SMatrix<T, R, C> {
    SMatrix::from_fn(|row, column| rows[row][column].clone())
}

/// A number of rows or columns that the type has.
impl<const N: usize> Checkpoint for Const<N> {
    fn save(&self, to: &mut Encoder<'_>) {
        ().save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        <()>::load(from)?;
        Ok(Const)
    }
}

/// A number of rows or columns.
impl Checkpoint for Dyn {
    fn save(&self, to: &mut Encoder<'_>) {
        self.value().save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        usize::load(from).map(Dim::from_usize)
    }
}

const NAMES: &[Cow<'static, str>] = &[
    Cow::Borrowed("rows"),
    Cow::Borrowed("columns"),
    Cow::Borrowed("by_column"),
];

macro_rules! dynamic {
    ($($type:ident, $rows:ty, $columns:ty, |$r:ident, $c:ident| $new:expr;)*) => {$(
        impl<T: Checkpoint + Scalar> Checkpoint for $type<T> {
            const BITS: bool = true;
            const FIXED: bool = T::FIXED;
            fn save(&self, to: &mut Encoder<'_>) {
                self.nrows().save(&mut to.field(NAMES, 0));
                self.ncols().save(&mut to.field(NAMES, 1));
                let items = self.as_slice();
                to.field(NAMES, 2).owned(self, items, |to| items.save(to));
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                let ($r, $c) = (from.field::<usize>(&["rows"])?, from.field::<usize>(&["columns"])?);
                let items: Vec<T> = from.field(&["by_column"])?;
                let fixed = |size: usize, name: Option<usize>| name.is_none_or(|name| name == size);
                let fits = fixed($r, <$rows as Length>::LENGTH) && fixed($c, <$columns as Length>::LENGTH);
                if !fits || $r.checked_mul($c) != Some(items.len()) {
                    return Err(LoadError::invalid(format_args!(
                        "{} items do not make a matrix of {} rows and {} columns", items.len(), $r, $c
                    )));
                }
                Ok(Matrix::from_data(VecStorage::new($new.0, $new.1, items)))
            }
        }
    )*};
}

trait Length {
    const LENGTH: Option<usize>;
}
impl Length for Dyn {
    const LENGTH: Option<usize> = None;
}
impl Length for U1 {
    const LENGTH: Option<usize> = Some(1);
}

dynamic! {
    DMatrix, Dyn, Dyn, |rows, columns| (Dyn(rows), Dyn(columns));
    DVector, Dyn, U1, |rows, columns| (Dyn(rows), Const::<1>);
    RowDVector, U1, Dyn, |rows, columns| (Const::<1>, Dyn(columns));
}

transparent! {
    [T: Checkpoint + Scalar, const D: usize] Point<T, D> => SVector<T, D>, |point| &point.coords, |coords| OPoint::from(coords);
    [T: Checkpoint + Scalar, const D: usize] Translation<T, D> => SVector<T, D>, |shift| &shift.vector, |vector| Translation::from(vector);
    [T: Checkpoint + Scalar] Quaternion<T> => SVector<T, 4>, |quaternion| &quaternion.coords, |coords| Quaternion { coords };
    [T: Checkpoint + Scalar, const D: usize] Rotation<T, D> => SMatrix<T, D, D>, |turn| turn.matrix(), |matrix| Rotation::from_matrix_unchecked(matrix);
    // Made without normalising: the bits that were saved.
    [T: Checkpoint] Unit<T> => T, |unit| unit.as_ref(), |value| Unit::new_unchecked(value);
}

impl<T: Checkpoint + Scalar, R: Checkpoint, const D: usize> Checkpoint for Isometry<T, R, D> {
    fn save(&self, to: &mut Encoder<'_>) {
        const NAMES: &[Cow<'static, str>] = &[Cow::Borrowed("rotation"), Cow::Borrowed("translation")];
        self.rotation.save(&mut to.field(NAMES, 0));
        self.translation.save(&mut to.field(NAMES, 1));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Ok(Isometry {
            rotation: from.field(&["rotation"])?,
            translation: from.field(&["translation"])?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::source::{Isometry3, Matrix2x3, Point2, Rotation3, RowVector3, UnitQuaternion, Vector3};

    use super::*;
    use crate::value::tests::{everywhere, round_trip};

    #[test]
    fn matrices_and_what_is_made_of_them() {
        everywhere(&[Vector3::new(1.0, -0.0, 3.0), Vector3::zeros()]);
        everywhere(&[Matrix2x3::new(1, 2, 3, 4, 5, 6)]);
        everywhere(&[RowVector3::new(1, 2, 3), RowVector3::zeros()]);
        everywhere(&[SMatrix::<f64, 0, 3>::from_fn(|_, _| 0.0)]);
        everywhere(&[
            DMatrix::from_fn(2, 3, |i, j| (i * 10 + j) as f32),
            DMatrix::zeros(0, 4),
        ]);
        everywhere(&[DVector::from_vec(vec![1_u8, 2])]);
        everywhere(&[RowDVector::from_vec(vec![1_u8, 2])]);
        everywhere(&[Point2::new(1.5, 2.5)]);
        let turn = UnitQuaternion::from_euler_angles(0.1, 0.2, 0.3);
        everywhere(&[turn]);
        everywhere(&[Rotation3::from_euler_angles(0.1, 0.2, 0.3)]);
        let isometry = Isometry3::from_parts(Vector3::new(1.0, 2.0, 3.0).into(), turn);
        assert_eq!(round_trip(&isometry), isometry);
    }
}
