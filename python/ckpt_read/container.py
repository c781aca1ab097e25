"""The container of a checkpoint: header and index, and the proof that the bytes are those that were written.

HDF5 is given nothing of a file but blocks that only it can unpack, when their checksums were right.
"""

import os
import zlib

import xxhash

from . import index as indexes
from .errors import Damaged, OtherVersion
from .index import USER_BLOCK

MAGIC = b"\x89CKPT\r\n\x1a"
VERSION = 5
PIECE = 1 << 20


def checksum(data):
    return xxhash.xxh3_128_intdigest(data)


def header_of(index_at, data, structure):
    header = bytearray(USER_BLOCK)
    header[:8] = MAGIC
    header[8:16] = VERSION.to_bytes(4, "little") + USER_BLOCK.to_bytes(4, "little")
    for at, number in ((16, index_at + len(data)), (24, index_at), (32, len(data))):
        header[at : at + 8] = number.to_bytes(8, "little")
    header[40:56] = checksum(data).to_bytes(16, "little")
    header[56:72] = structure.to_bytes(16, "little")
    header[496:] = checksum(bytes(header[:496])).to_bytes(16, "little")
    return bytes(header)


def read_at(file, offset, length):
    parts = []
    while length > 0:
        part = os.pread(file.fileno(), min(length, 1 << 30), offset)
        if not part:
            break
        parts.append(part)
        offset, length = offset + len(part), length - len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def read_header(file, path, places):
    """The numbers of the header: where the index is, its length, its checksum and that of the structure."""
    length = os.fstat(file.fileno()).st_size
    if length < USER_BLOCK:
        raise Damaged(path, places, f"it has {length} bytes; it was cut off or is no checkpoint")
    header = read_at(file, 0, USER_BLOCK)
    if header[:8] != MAGIC:
        raise Damaged(path, places, "it does not begin as a checkpoint does")

    def number(at, size=8):
        return int.from_bytes(header[at : at + size], "little")

    if number(496, 16) != checksum(header[:496]):
        raise Damaged(path, places, "the checksum of its header is wrong")
    if number(8, 4) != VERSION:
        raise OtherVersion(
            f"{path}: it has version {number(8, 4)} of the file format, and this ckpt-read knows {VERSION}: "
            "take the ckpt-read that belongs to the ckpt that wrote it"
        )
    if number(16) != length:
        raise Damaged(path, places, f"it has {length} bytes instead of {number(16)}")
    at, size = number(24), number(32)
    if at < USER_BLOCK or at + size != length:
        raise Damaged(path, places, "the index does not lie at the end of the file")
    return at, size, number(40, 16), number(56, 16)


class Container:
    """A checkpoint file whose header and index are those that were written, as are those of the files that it builds on."""

    def __init__(self, path, path_of):
        self.path = path
        self.file = open(path, "rb")
        self.others = []
        try:
            self._open(path_of)
        except BaseException:
            self.close()
            raise

    def _open(self, path_of):
        self.index_at, size, seal, self.structure = read_header(self.file, self.path, "header")
        data = read_at(self.file, self.index_at, size)
        if checksum(data) != seal:
            raise Damaged(self.path, "index", "its checksum is wrong")
        self.seal = seal
        try:
            self.index = indexes.parse(data, self.index_at)
        except (indexes.Malformed, RecursionError):
            raise Damaged(self.path, "index", "it makes no sense; it was not written by ckpt") from None
        for other, expected in self.index.files:
            place = f"checkpoint {other:06}, which it builds on"
            try:
                file = open(path_of(other), "rb")
            except OSError as error:
                raise Damaged(self.path, place, f"it cannot be opened ({error.strerror})") from None
            self.others.append(file)
            if read_header(file, self.path, place)[2] != expected:
                raise Damaged(self.path, place, "it is another one than it was")
        self.structure_is_right = False
        self.kept = {}

    def close(self):
        for file in [self.file, *self.others]:
            file.close()

    def verify_structure(self):
        """Checks all bytes of the file that are not those of values as they are in memory."""
        if not self.structure_is_right:
            found = structure_checksum(self.file, self.index_at, self.index.datasets)
            if found != self.structure:
                raise Damaged(self.path, "HDF5 structure", "its checksum is wrong")
            self.structure_is_right = True

    def verify(self):
        """Checks every byte, and those of other files that it reads."""
        self.structure_is_right = False
        self.verify_structure()
        for number in range(len(self.index.datasets)):
            self.read(number)

    def read(self, number):
        """All bytes of a dataset, which have the checksum that they were written with."""
        self.verify_structure()
        dataset = self.index.datasets[number]
        if number in self.kept:
            return self.kept[number]
        if dataset.extents is None:
            data = read_at(self.file, dataset.offset, dataset.bytes)
            if len(data) != dataset.bytes or checksum(data) != dataset.checksum:
                raise Damaged(self.path, dataset.path, "its checksum is wrong")
        else:
            data = self._blocks(dataset)
        # Single values share a table: it is asked for many times.
        if len(data) < 65_536:
            self.kept[number] = data
        return data

    def _blocks(self, dataset):
        data = bytearray(dataset.bytes)
        sums = bytearray()
        for block, extent in enumerate(dataset.extents):
            sums += extent.checksum.to_bytes(16, "little")
            if extent.coding is not None:
                first = block * dataset.size
                length = min(dataset.size, dataset.bytes - first)
                data[first : first + length] = self._block(dataset, block, extent, length)
        if checksum(bytes(sums)) != dataset.checksum:
            raise Damaged(self.path, dataset.path, "the checksum of its blocks is wrong")
        return bytes(data)

    def _block(self, dataset, block, extent, length):
        file = self.file if extent.file == 0 else self.others[extent.file - 1]
        where = f" in checkpoint {self.index.files[extent.file - 1][0]:06}" if extent.file else ""
        place = f"{dataset.path}: block {block}{where}"
        stored = read_at(file, extent.offset, extent.length)
        if len(stored) != extent.length:
            raise Damaged(self.path, place, "the file ends before it")
        if extent.coding:
            stored = unpack(self.path, place, extent.coding, stored, dataset.dtype.size, dataset.size)
            stored = stored[:length]
        if len(stored) != length or checksum(stored) != extent.checksum:
            raise Damaged(self.path, place, "its checksum is wrong")
        return stored


def unpack(path, place, coding, stored, element, size):
    """The block of `size` bytes that was packed to `stored`."""
    codec, shuffled = coding & 15, coding & 16
    if codec == 1:
        unpacker = zlib.decompressobj()
        try:
            block = unpacker.decompress(stored, size + 1)
        except zlib.error as error:
            raise Damaged(path, place, f"it cannot be unpacked ({error})") from None
    else:
        block = unpack_by_filter(path, place, {2: 32004, 3: 32015}[codec], stored, size)
    if len(block) != size:
        raise Damaged(path, place, "what was packed has another length")
    if shuffled:
        import numpy

        block = numpy.frombuffer(block, "u1").reshape(element, size // element).T.tobytes()
    return block


def unpack_by_filter(path, place, number, stored, size):
    """Has HDF5 undo a filter, in a file that is in memory only."""
    import h5py

    try:
        import hdf5plugin  # noqa: F401, it brings the filters
    except ImportError:
        name = {32004: "lz4", 32015: "zstd"}[number]
        from .errors import Error

        raise Error(f"{path}: it is compressed with {name}: pip install hdf5plugin") from None
    with h5py.File("block", "w", driver="core", backing_store=False) as memory:
        block = memory.create_dataset("b", (size,), "u1", chunks=(size,), compression=number)
        block.id.write_direct_chunk((0,), stored)
        try:
            return block[...].tobytes()
        except OSError as error:
            raise Damaged(path, place, f"it cannot be unpacked ({error})") from None


def structure_checksum(file, end, datasets):
    values = []
    for dataset in datasets:
        if dataset.extents is None:
            values.append((dataset.offset, dataset.offset + dataset.bytes))
        else:
            values += [
                (extent.offset, extent.offset + extent.length)
                for extent in dataset.extents
                if extent.coding == 0 and extent.file == 0
            ]
    sum_ = xxhash.xxh3_128()
    at = USER_BLOCK
    for first, last in [*sorted(values), (end, end)]:
        while at < min(first, end):
            piece = read_at(file, at, min(PIECE, min(first, end) - at))
            if not piece:
                return None
            sum_.update(piece)
            at += len(piece)
        at = max(at, last)
    return sum_.intdigest()
