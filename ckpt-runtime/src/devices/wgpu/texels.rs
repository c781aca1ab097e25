//! The texels of a texture, as a checkpoint has them: level by level, in each layer by layer, or slice by slice, in these row by
//! row. A device copies rows to places that are multiples of 256 bytes; what is between them is left out.

use std::mem::MaybeUninit;

use ::wgpu::{
    Buffer, COPY_BYTES_PER_ROW_ALIGNMENT, CommandEncoder, Extent3d, Origin3d, TexelCopyBufferInfo,
    TexelCopyBufferLayout, TexelCopyTextureInfo, Texture, TextureAspect, TextureFormat, TextureUsages,
};

use super::Numbers;
use super::way::{PART, UNREADABLE, Way, put};

/// A part of a texture that is copied at once: whole layers of a level, or whole rows of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    level: u32,
    origin: Origin3d,
    size: Extent3d,
    /// Of blocks, in each layer. A block is a texel, or several of a compressed format.
    rows: u32,
    /// The bytes of one.
    row: u32,
}

impl Piece {
    /// How far apart a device copies rows.
    fn stride(&self) -> u32 {
        self.row.next_multiple_of(COPY_BYTES_PER_ROW_ALIGNMENT)
    }

    fn all_rows(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.size.depth_or_array_layers)
    }

    fn bytes(&self) -> u64 {
        self.all_rows() * u64::from(self.row)
    }

    fn bytes_copied(&self) -> u64 {
        self.all_rows() * u64::from(self.stride())
    }

    fn of<'t>(&self, texture: &'t Texture) -> TexelCopyTextureInfo<'t> {
        TexelCopyTextureInfo {
            texture,
            mip_level: self.level,
            origin: self.origin,
            aspect: TextureAspect::All,
        }
    }

    fn layout(&self, stride: u32) -> TexelCopyBufferLayout {
        TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(stride),
            rows_per_image: Some(self.rows),
        }
    }

    fn copy(&self, texture: &Texture, to: &Buffer, commands: &mut CommandEncoder) {
        let to = TexelCopyBufferInfo {
            buffer: to,
            layout: self.layout(self.stride()),
        };
        commands.copy_texture_to_buffer(self.of(texture), to, self.size);
    }

    /// Takes the rows out of what a device has copied.
    fn take(&self, copied: &[u8], to: &mut [MaybeUninit<u8>]) {
        let rows = copied.chunks(self.stride() as usize);
        for (row, to) in rows.zip(to.chunks_mut(self.row as usize)) {
            put(row, to);
        }
    }
}

/// What is copied one after the other, each of no more bytes than `most` where a row is not longer.
///
/// # Errors
/// Copies of this texture are not possible.
fn pieces(texture: &Texture, most: u64) -> Result<Vec<Piece>, String> {
    let format = texture.format();
    let block = bytes_of_block(texture)?;
    let (block_width, block_height) = format.block_dimensions();
    let mut pieces = Vec::new();
    for level in 0..texture.mip_level_count() {
        let size = { texture.size() }
            .mip_level_size(level, texture.dimension())
            .physical_size(format);
        let layers = size.depth_or_array_layers;
        let whole = Piece {
            level,
            origin: Origin3d::ZERO,
            size,
            rows: size.height / block_height,
            row: size.width / block_width * block,
        };
        let of_layer = u64::from(whole.rows) * u64::from(whole.stride());
        let layers_at_once = (most / of_layer).clamp(1, layers.into()) as u32;
        let rows_at_once = (most / u64::from(whole.stride())).clamp(1, whole.rows.into()) as u32;
        for layer in (0..layers).step_by(layers_at_once as usize) {
            for row in (0..whole.rows).step_by(rows_at_once as usize) {
                let rows = rows_at_once.min(whole.rows - row);
                pieces.push(Piece {
                    origin: Origin3d {
                        x: 0,
                        y: row * block_height,
                        z: layer,
                    },
                    size: Extent3d {
                        height: rows * block_height,
                        depth_or_array_layers: layers_at_once.min(layers - layer),
                        ..size
                    },
                    rows,
                    ..whole
                });
            }
        }
    }
    Ok(pieces)
}

/// The bytes of a texel, or of a block of several.
fn bytes_of_block(texture: &Texture) -> Result<u32, String> {
    let samples = texture.sample_count();
    if samples > 1 {
        return Err(format!(
            "a texture on a device has {samples} samples in each texel, and no device copies these: resolve it into one with a single \
             sample, and drop it before the site is reached"
        ));
    }
    let format = texture.format();
    let is_copied = format.has_color_aspect();
    format.block_copy_size(None).filter(|_| is_copied).ok_or_else(|| {
        format!(
            "a texture on a device is of the format {format:?}, which is not copied there and back: drop it before the site is \
             reached, or keep what is needed in one of a colour format (`R32Float`)"
        )
    })
}

/// How many bytes its texels have.
pub(super) fn size(texture: &Texture) -> Result<usize, String> {
    let bytes = pieces(texture, u64::MAX)?.iter().map(Piece::bytes).sum::<u64>();
    usize::try_from(bytes).map_err(|_| UNREADABLE.into())
}

/// At least so many bytes of a device's memory has a texture that is there.
pub(super) fn bytes(texture: &Texture) -> u64 {
    let known = size(texture).ok().and_then(|size| u64::try_from(size).ok());
    known.unwrap_or(0)
}

/// What the texels of this format are made of: halves (`Rgba16Float`) as their bits, packed channels (`Rgb10a2Unorm`) as one word.
pub(super) fn numbers(format: TextureFormat) -> Numbers {
    use TextureFormat as Of;
    match format {
        Of::R8Snorm | Of::Rg8Snorm | Of::Rgba8Snorm | Of::R8Sint | Of::Rg8Sint | Of::Rgba8Sint => Numbers::I8,
        Of::R16Unorm
        | Of::Rg16Unorm
        | Of::Rgba16Unorm
        | Of::R16Uint
        | Of::Rg16Uint
        | Of::Rgba16Uint
        | Of::R16Float
        | Of::Rg16Float
        | Of::Rgba16Float => Numbers::U16,
        Of::R16Snorm | Of::Rg16Snorm | Of::Rgba16Snorm | Of::R16Sint | Of::Rg16Sint | Of::Rgba16Sint => {
            Numbers::I16
        }
        Of::R32Uint
        | Of::Rg32Uint
        | Of::Rgba32Uint
        | Of::Rgb9e5Ufloat
        | Of::Rgb10a2Uint
        | Of::Rgb10a2Unorm
        | Of::Rg11b10Ufloat => Numbers::U32,
        Of::R32Sint | Of::Rg32Sint | Of::Rgba32Sint => Numbers::I32,
        Of::R32Float | Of::Rg32Float | Of::Rgba32Float => Numbers::F32,
        Of::R64Uint => Numbers::U64,
        // Channels of a byte each, and what is compressed.
        _ => Numbers::Bytes,
    }
}

impl Way<'_> {
    /// Reads all texels of a texture, of which `to` has the size.
    pub fn read_texels(self, texture: &Texture, to: &mut [MaybeUninit<u8>]) -> Result<(), String> {
        let pieces = pieces(texture, PART)?;
        has(texture, TextureUsages::COPY_SRC, "COPY_SRC")?;
        let most = pieces.iter().map(Piece::bytes_copied).max();
        let mut rest = to;
        let parts = pieces.iter().map(|piece| {
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(piece.bytes() as usize);
            rest = behind;
            (piece, part)
        });
        self.in_turn(
            most.unwrap_or_default(),
            parts,
            |(piece, _), to, commands| piece.copy(texture, to, commands),
            |(piece, part), copied| piece.take(copied, part),
        )
    }

    /// Writes all of them.
    pub fn write_texels(self, texture: &Texture, from: &[u8]) -> Result<(), String> {
        comes_back(texture)?;
        let mut rest = from;
        for piece in pieces(texture, PART)? {
            let (part, behind) = rest.split_at(piece.bytes() as usize);
            rest = behind;
            self.checked(|| {
                self.queue
                    .write_texture(piece.of(texture), part, piece.layout(piece.row), piece.size);
                self.queue.submit([]);
            })?;
            self.wait(None)?;
        }
        Ok(())
    }
}

/// Whether a restart can give a texture its texels.
///
/// # Errors
/// Which usage it lacks for that.
pub(super) fn comes_back(texture: &Texture) -> Result<(), String> {
    has(texture, TextureUsages::COPY_DST, "COPY_DST")
}

fn has(texture: &Texture, usage: TextureUsages, name: &str) -> Result<(), String> {
    match texture.usage().contains(usage) {
        true => Ok(()),
        false => Err(format!(
            "a texture on a device was made with {:?}: add `TextureUsages::{name}`",
            texture.usage()
        )),
    }
}
