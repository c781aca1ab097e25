// Matrices, vectors and what is built from them, in column order. `source` is the version of `nalgebra`.

use std::borrow::Cow;

use source::{
    ArrayStorage, Const, DMatrix, DVector, Dim, Dyn, Isometry, Matrix, OPoint, Point, Quaternion, RowDVector,
    Rotation, SMatrix, SVector, Scalar, Translation, U1, Unit, VecStorage,
};

use super::super::transparent;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

/// A vector is a row of its items, a matrix a row of its columns: a list of them is one dataset.
impl<T: Checkpoint + Scalar, const R: usize, const C: usize> Checkpoint for SMatrix<T, R, C> {
    fn save(&self, to: &mut Encoder<'_>) {
        let columns: &[[T; R]; C] = &self.data.0;
        match columns.as_slice() {
            [column] => column.save(to),
            _ => columns.save(to),
        }
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let columns = if C == 1 {
            vec![<[T; R]>::load(from)?]
        } else {
            Vec::from(<[[T; R]; C]>::load(from)?)
        };
        let columns = columns
            .try_into()
            .map_err(|_| LoadError::invalid("a matrix has lost a column"))?;
        Ok(Matrix::from_array_storage(ArrayStorage(columns)))
    }
    fn save_slice(items: &[Self], to: &mut Encoder<'_>) {
        Self::save_each(items.iter(), to);
    }
    fn load_vec(from: &mut Decoder<'_>, count: usize) -> Result<Vec<Self>, LoadError> {
        if C == 1 {
            let columns = <[T; R]>::load_vec(from, count)?;
            return Ok(columns
                .into_iter()
                .map(|column| Self::from_fn(|row, _| column[row].clone()))
                .collect());
        }
        let all = <[[T; R]; C]>::load_vec(from, count)?;
        Ok(all
            .into_iter()
            .map(|columns| Matrix::from_array_storage(ArrayStorage(columns)))
            .collect())
    }
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
    Cow::Borrowed("items"),
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
                let items: Vec<T> = from.field(&["items"])?;
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
    use super::source::{Isometry3, Matrix2x3, Point2, Rotation3, UnitQuaternion, Vector3};

    use super::*;
    use crate::value::tests::{everywhere, round_trip};

    #[test]
    fn matrices_and_what_is_made_of_them() {
        everywhere(&[Vector3::new(1.0, -0.0, 3.0), Vector3::zeros()]);
        everywhere(&[Matrix2x3::new(1, 2, 3, 4, 5, 6)]);
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
