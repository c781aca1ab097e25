"""The index of a checkpoint file, both ways. The book's page on the file format, section Index, is its specification.

Every number is taken to be hostile: a length is compared with the bytes that are there, a place with the size of what it points into.
"""

from dataclasses import dataclass, field

import numpy

U8, U16, U32, U64, I8, I16, I32, I64, F32, F64 = range(10)
U128, I128, COMPLEX32, COMPLEX64, BOOL, CHAR, UNIT, TEXT, VARIANT, OBJECT, RECORD = range(10, 21)
STRUCT, LIST, MAP, OPTION, ENUM, STRINGS, DYN = range(7)

USER_BLOCK = 512
LARGEST_BLOCK = 64 << 20
DEEPEST = 256 + 8

#: How the elements of a type look to numpy. Numbers of 128 bits are their halves, the low one first.
NUMPY = {
    U8: "u1", U16: "<u2", U32: "<u4", U64: "<u8", I8: "i1", I16: "<i2", I32: "<i4", I64: "<i8",
    F32: "<f4", F64: "<f8", U128: [("low", "<u8"), ("high", "<u8")], I128: [("low", "<u8"), ("high", "<i8")],
    COMPLEX32: "<c8", COMPLEX64: "<c16", BOOL: "?", CHAR: "<u4", UNIT: "u1", TEXT: "u1", VARIANT: "<i4", OBJECT: "<u8",
}  # fmt: skip


class Malformed(Exception):
    """The bytes are no index."""


@dataclass
class DType:
    code: int
    names: list = field(default_factory=list)
    number: int = 0  # the table of an object, the bytes of a record

    @property
    def size(self):
        return self.number if self.code == RECORD else numpy.dtype(NUMPY[self.code]).itemsize


@dataclass
class Extent:
    """A block. Without a coding it is zeros, which are stored nowhere."""

    coding: int | None = None
    file: int = 0
    offset: int = 0
    length: int = 0
    checksum: int = 0


@dataclass
class Dataset:
    path: str
    dtype: DType
    shape: list
    bytes: int
    checksum: int
    offset: int | None  # of what is side by side
    size: int = 0  # of a block
    extents: list | None = None


@dataclass
class Data:
    dtype: DType
    single: bool
    dataset: int
    offset: int
    bytes: int


@dataclass
class Group:
    kind: int
    children: dict


@dataclass
class Rows:
    length: int
    items: object


@dataclass
class Variable:
    key: str
    line: int
    rust_type: str
    parameter: int | None
    column: object = None  # `None`: nothing has been saved here
    link: tuple | None = None


@dataclass
class Frame:
    """An active function."""

    function: str
    module: str
    file: str
    line: int
    thread: int
    site: int
    site_line: int
    site_column: int
    callee: str | None
    layout: int
    source: int
    variables: list


@dataclass
class Table:
    type: str
    ids: tuple
    items: object


@dataclass
class Index:
    head: bytes  # meta, as it is
    meta: dict
    files: list
    datasets: list
    frames: list
    tables: list
    statics: list
    tail: bytes  # frames, tables and statics, as they are

    def to_bytes(self):
        """The index anew: what may differ is where the values are, and their checksums."""
        to = bytearray(self.head)
        number(to, len(self.files), 4)
        for other, seal in self.files:
            number(to, other, 8)
            number(to, seal, 16)
        number(to, len(self.datasets), 4)
        for dataset in self.datasets:
            text(to, dataset.path)
            dtype(to, dataset.dtype)
            number(to, len(dataset.shape), 4)
            for side in dataset.shape:
                number(to, side, 8)
            number(to, dataset.bytes, 8)
            number(to, dataset.checksum, 16)
            body(to, dataset)
        return bytes(to) + self.tail


def number(to, value, size):
    to += value.to_bytes(size, "little")


def text(to, value):
    encoded = value.encode()
    number(to, len(encoded), 4)
    to += encoded


def dtype(to, of):
    number(to, of.code, 1)
    if of.code == VARIANT:
        number(to, len(of.names), 4)
        for name in of.names:
            text(to, name)
    elif of.code in (OBJECT, RECORD):
        number(to, of.number, 4)


def body(to, dataset):
    if dataset.extents is None:
        number(to, 0, 1)
        number(to, dataset.offset, 8)
        return
    number(to, 1, 1)
    number(to, dataset.size, 8)
    number(to, len(dataset.extents), 4)
    for extent in dataset.extents:
        if extent.coding is None:
            number(to, 0, 1)
            continue
        number(to, 1 + extent.coding, 1)
        number(to, extent.file, 4)
        number(to, extent.offset, 8)
        number(to, extent.length, 8)
        number(to, extent.checksum, 16)


class Reader:
    def __init__(self, data):
        self.data = data
        self.at = 0
        self.sizes = []
        self.depth = DEEPEST

    def take(self, length):
        end = self.at + length
        if end > len(self.data):
            raise Malformed
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def number(self, size, signed=False):
        return int.from_bytes(self.take(size), "little", signed=signed)

    def u8(self):
        return self.number(1)

    def u32(self):
        return self.number(4)

    def u64(self):
        return self.number(8)

    def flag(self):
        value = self.u8()
        if value > 1:
            raise Malformed
        return value == 1

    def text(self):
        try:
            return self.take(self.u32()).decode()
        except UnicodeDecodeError:
            raise Malformed from None

    def list(self, each):
        return [each() for _ in range(self.u32())]

    def option(self, each):
        return each() if self.flag() else None

    def meta(self):
        meta = {"program": self.text(), "version": self.text(), "visit": self.u64(), "time": self.number(8, signed=True)}
        meta |= {"reason": self.text(), "host": self.text()}
        meta["notes"] = dict(self.list(lambda: (self.text(), self.text())))
        return meta

    def dtype(self):
        code = self.u8()
        if code == VARIANT:
            return DType(code, names=self.list(self.text))
        if code in (OBJECT, RECORD):
            return DType(code, number=self.u32())
        if code > RECORD:
            raise Malformed
        return DType(code)

    def extent(self):
        code = self.u8()
        if code == 0:
            return Extent()
        coding = code - 1
        if coding != 0 and coding & ~16 not in (1, 2, 3):
            raise Malformed
        return Extent(coding, self.u32(), self.u64(), self.u64(), self.number(16))

    def dataset(self):
        path, of, shape = self.text(), self.dtype(), self.list(self.u64)
        size, checksum = self.u64(), self.number(16)
        if self.flag():
            return Dataset(path, of, shape, size, checksum, None, self.u64(), self.list(self.extent))
        return Dataset(path, of, shape, size, checksum, self.u64())

    def block(self):
        dataset, offset, length = self.u32(), self.u64(), self.u64()
        if dataset >= len(self.sizes) or offset + length > self.sizes[dataset]:
            raise Malformed
        return dataset, offset, length

    def column(self):
        self.depth -= 1
        if self.depth < 0:
            raise Malformed
        sort = self.u8()
        if sort == 0:
            column = None
        elif sort == 1:
            of, single = self.dtype(), self.flag()
            block = self.block()
            if of.code == RECORD or block[2] % of.size or (single and of.code != TEXT and block[2] != of.size):
                raise Malformed
            column = Data(of, single, *block)
        elif sort == 2:
            kind = self.u8()
            if kind > DYN:
                raise Malformed
            column = Group(kind, dict(self.list(lambda: (self.text(), self.column()))))
        elif sort == 3:
            column = Rows(self.u64(), self.column())
        else:
            raise Malformed
        self.depth += 1
        return column

    def variable(self):
        variable = Variable(self.text(), self.u32(), self.text(), self.option(self.u32))
        if self.flag():
            variable.link = (self.u32(), self.text())
        else:
            variable.column = self.column()
        return variable

    def frame(self):
        names = [self.text() for _ in range(3)]
        places = [self.u32() for _ in range(5)]
        return Frame(*names, *places, self.option(self.text), self.u64(), self.u64(), self.list(self.variable))

    def table(self):
        return Table(self.text(), self.block(), self.column())


def holds(dataset, limit, others):
    """Whether a reader may rely on every number of the body of a dataset."""

    def inside(offset, length):
        return offset >= USER_BLOCK and offset + length <= limit

    if dataset.extents is None:
        return dataset.bytes == 0 or inside(dataset.offset, dataset.bytes)
    size = dataset.size
    if not 1 <= size <= LARGEST_BLOCK or dataset.dtype.size == 0 or size % dataset.dtype.size:
        return False
    if -(-dataset.bytes // size) != len(dataset.extents):
        return False
    for block, extent in enumerate(dataset.extents):
        if extent.coding is None:
            continue
        here = min(size, dataset.bytes - block * size)
        fits = extent.length == here if extent.coding == 0 else 1 <= extent.length <= size
        if not fits or extent.file > others or (extent.file == 0 and not inside(extent.offset, extent.length)):
            return False
    return True


def parse(data, limit):
    """The index in these bytes; the values of its file lie before `limit`."""
    reader = Reader(data)
    meta = reader.meta()
    head = data[: reader.at]
    files = reader.list(lambda: (reader.u64(), reader.number(16)))
    datasets = reader.list(reader.dataset)
    tail = data[reader.at :]
    reader.sizes = [dataset.bytes for dataset in datasets]
    index = Index(
        head, meta, files, datasets, reader.list(reader.frame), reader.list(reader.table), reader.list(reader.variable), tail
    )
    variables = {(number, one.key): one for number, frame in enumerate(index.frames) for one in frame.variables}
    links_lead = all(
        one.link is None or (one.link in variables and variables[one.link].link is None) for one in variables.values()
    )
    sound = all(holds(dataset, limit, len(files)) for dataset in datasets)
    if reader.at != len(data) or not sound or not links_lead or any(one.link for one in index.statics):
        raise Malformed
    return index
