// Pixels and pictures. `source` is the version of `image`.

use std::borrow::Cow;

use source::{ImageBuffer, Luma, LumaA, Pixel, Rgb, Rgba};

use super::super::transparent;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

transparent! {
    [T: Checkpoint] Luma<T> => [T; 1], |pixel| &pixel.0, |channels| Luma(channels);
    [T: Checkpoint] LumaA<T> => [T; 2], |pixel| &pixel.0, |channels| LumaA(channels);
    [T: Checkpoint] Rgb<T> => [T; 3], |pixel| &pixel.0, |channels| Rgb(channels);
    [T: Checkpoint] Rgba<T> => [T; 4], |pixel| &pixel.0, |channels| Rgba(channels);
}

const PICTURE: &[Cow<'static, str>] = &[
    Cow::Borrowed("width"),
    Cow::Borrowed("height"),
    Cow::Borrowed("channels"),
];

impl<P: Pixel> Checkpoint for ImageBuffer<P, Vec<P::Subpixel>>
where
    P::Subpixel: Checkpoint,
{
    fn save(&self, to: &mut Encoder<'_>) {
        self.width().save(&mut to.field(PICTURE, 0));
        self.height().save(&mut to.field(PICTURE, 1));
        self.as_raw().save(&mut to.field(PICTURE, 2));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let (width, height): (u32, u32) = (from.field(&["width"])?, from.field(&["height"])?);
        let channels: Vec<P::Subpixel> = from.field(&["channels"])?;
        let count = channels.len();
        ImageBuffer::from_raw(width, height, channels).ok_or_else(|| {
            LoadError::invalid(format_args!(
                "{count} channels of pixels do not make a picture of {width} x {height}"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::source::{GrayImage, RgbImage};

    use super::*;
    use crate::value::tests::{changed, everywhere};

    #[test]
    fn pixels_and_pictures() {
        everywhere(&[Rgb([1_u8, 2, 3]), Rgb([255, 0, 7])]);
        everywhere(&[Luma([1.5_f32]), Luma([-0.0])]);
        everywhere(&[Rgba([1_u16, 2, 3, 4]), Rgba([0; 4])]);
        everywhere(&[LumaA([1_u8, 2])]);
        let picture = RgbImage::from_fn(3, 2, |x, y| Rgb([x as u8, y as u8, 9]));
        everywhere(&[picture.clone(), RgbImage::new(0, 5)]);
        everywhere(&[ImageBuffer::<Rgba<f32>, Vec<f32>>::from_pixel(1, 4, Rgba([0.5; 4]))]);
        everywhere(&[GrayImage::from_pixel(2, 2, Luma([3]))]);
        assert!(changed(&picture, "width", &9_u32.to_le_bytes()).is_err());
    }
}
