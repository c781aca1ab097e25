"""Values are written into a copy of the file, which gets new checksums and then takes the file's place."""

import fcntl
import os
import shutil

import h5py
import numpy

from . import index as ix
from .container import Container, checksum, header_of, read_at, structure_checksum
from .errors import Error, Refused
from .place import bounds_of
from .values import ordered


def write(checkpoint, values):
    try:
        _write(checkpoint, values)
    except OSError as error:
        raise Error(f"{checkpoint.path}: it cannot be written: {error}") from error


def _write(checkpoint, values):
    with _locked(checkpoint):
        _not_needed(checkpoint)
        with type(checkpoint)(checkpoint.store, checkpoint.number, checkpoint.rank_number) as now:
            container = now._container
            # What is damaged must not get a checksum that says it is not.
            container.verify()
            edited = _edited(now, values)
            if not edited:
                return
            copy = checkpoint.path.with_name(f".{checkpoint.path.name}.tmp")
            try:
                shutil.copyfile(checkpoint.path, copy)
                shutil.copymode(checkpoint.path, copy)
                _renew(copy, container, edited)
                check = Container(copy, now._path)
                try:
                    check.verify()
                    for number, data in edited.items():
                        if check.read(number) != data:
                            raise Error(f"{checkpoint.path}: what was written is not what is read; the file is as it was")
                finally:
                    check.close()
                os.replace(copy, checkpoint.path)
            except BaseException:
                copy.unlink(missing_ok=True)
                raise
            _sync(checkpoint.store.folder)


class _locked:
    """Holds the lock of the store that a job holds while it runs."""

    def __init__(self, checkpoint):
        rank = checkpoint.rank_number
        self.path = checkpoint.store.folder / ("lock" if rank == 0 else f"lock.r{rank}")

    def __enter__(self):
        self.file = open(self.path, "a")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.file.close()
            raise Refused(f"{self.path}: a job uses the store; write when it has ended") from None

    def __exit__(self, *_):
        self.file.close()


def _not_needed(checkpoint):
    for number, ranks in checkpoint.store._files().items():
        if number == checkpoint.number or checkpoint.rank_number not in ranks:
            continue
        try:
            with type(checkpoint)(checkpoint.store, number, checkpoint.rank_number) as other:
                needs = any(base == checkpoint.number for base, _ in other._index.files)
        except (Error, OSError):
            continue  # It cannot be restored, whatever it builds on.
        if needs:
            raise Refused(
                f"{checkpoint.path}: checkpoint {number} builds on it, and would be lost: write into a copy of the store "
                "without that one, or take checkpoints with `full-every = 1`"
            )


def _edited(checkpoint, values):
    """The bytes that datasets are to have, by their numbers."""
    container, edited = checkpoint._container, {}
    for name, value in values.items():
        whole, places = _without_brackets(checkpoint, name)
        column, many = checkpoint._find(whole)
        checkpoint._tell_of_threads(whole)
        order = checkpoint._values.order_of(column)
        column = column if order is None else order[3]
        rows = []
        while isinstance(column, ix.Rows):
            rows.append(column.length)
            column = column.items
        if not isinstance(column, ix.Data):
            parts = f": write its parts, {', '.join(column.children)}" if isinstance(column, ix.Group) else ""
            raise Refused(f"`{name}` is no number, nor an array of numbers{parts}")
        if column.dtype.code == ix.TEXT:
            raise _no_numbers(name)
        count = column.bytes // column.dtype.size
        shape = () if column.single else (count // int(numpy.prod(rows)), *rows) if rows else (count,)
        if column.dataset not in edited:
            edited[column.dataset] = bytearray(container.read(column.dataset))
        span = slice(column.offset, column.offset + column.bytes)
        stored = numpy.frombuffer(bytes(edited[column.dataset][span]), f"V{column.dtype.size}").copy()
        elements = stored.reshape(shape) if order is None else ordered(stored, *order[:3])
        chosen = bounds_of(elements, places, name) if places else ...
        size = numpy.shape(elements[chosen])
        data = _stored(name, column, value, size)
        elements[chosen] = numpy.frombuffer(data, stored.dtype).reshape(size)
        edited[column.dataset][span] = stored.tobytes()
    return {number: bytes(data) for number, data in edited.items() if bytes(data) != container.read(number)}


def _no_numbers(name):
    return Refused(f"`{name}`: only numbers, bools and variants without fields can be written")


def _without_brackets(checkpoint, name):
    """`bodies[3].pos[0]` is `bodies.pos` and `3, 0`: a field of a list of structs has a row for each."""
    whole, bracket, rest = name.partition("[")
    places = []
    column = checkpoint._find(whole)[0] if bracket else None
    while bracket:
        inside, bracket, rest = rest.partition("]")
        if not bracket or not (rest == "" or rest[0] in "[."):
            raise Refused(f"`{name}`: write `bodies[3].pos` or `pos[0..10]`")
        places += inside.split(",")
        part, bracket, rest = rest.partition("[")
        for field in part.split(".")[1:]:
            if not (isinstance(column, ix.Group) and column.kind == ix.STRUCT):
                raise Refused(f"`{name}`: only fields of structs have a row for each element: write `{whole}` as a whole")
            whole += f".{field}"
            column = checkpoint._find(whole)[0]
    return whole, places


def _stored(name, column, value, shape):
    code = column.dtype.code
    if code in (ix.U128, ix.I128):
        return _wide(name, value, shape, code == ix.I128)
    plain = code <= ix.F64 or code in (ix.COMPLEX32, ix.COMPLEX64, ix.BOOL)
    if code == ix.VARIANT:
        names = column.dtype.names
        unknown = [str(one) for one in numpy.ravel(value) if str(one) not in names]
        if unknown:
            raise Refused(f"`{name}`: `{unknown[0]}` is no variant; there are: {', '.join(names)}")
        numbers = [names.index(str(one)) for one in numpy.ravel(value)]
        value = numpy.array(numbers, "<i4").reshape(numpy.shape(value))
    elif not plain:
        raise _no_numbers(name)
    given = numpy.asarray(value)
    if given.shape != shape:
        raise Refused(f"`{name}` has the shape {shape}, not {given.shape}: values may be changed, types and shapes may not")
    if given.dtype.kind not in "biufc":
        raise Refused(f"`{name}`: {value!r} is no number")
    if numpy.iscomplexobj(given) and code not in (ix.COMPLEX32, ix.COMPLEX64):
        raise Refused(f"`{name}`: it has no imaginary part")
    to = numpy.dtype(ix.NUMPY[code])
    with numpy.errstate(all="ignore"):
        stored = given.astype(to)
    # Whole numbers and bools are stored as they are, or not at all; floats are rounded.
    if to.kind in "biu" and not all(one == two for one, two in _pairs(given, stored)):
        raise Refused(f"`{name}`: not every value has a place in {to.name}")
    return stored.tobytes()


def _wide(name, value, shape, signed):
    """Numbers of 128 bits, which are whole or not at all."""
    given = numpy.asarray(value, dtype=object)
    if given.shape != shape:
        raise Refused(f"`{name}` has the shape {shape}, not {given.shape}: values may be changed, types and shapes may not")
    stored = b""
    for one in given.ravel():
        try:
            whole = int(one)
            stored += whole.to_bytes(16, "little", signed=signed)
        except (TypeError, ValueError):
            raise Refused(f"`{name}`: {one!r} is no number") from None
        except OverflowError:
            whole = None
        if whole is None or whole != one:
            raise Refused(f"`{name}`: not every value has a place in {'i128' if signed else 'u128'}")
    return stored


def _pairs(given, stored):
    if numpy.array_equal(given, stored) and given.dtype.kind == stored.dtype.kind:
        return ()
    return zip(given.ravel().tolist(), stored.ravel().tolist())


def _object_name(name):
    """A name as HDF5's tree has it."""
    if name in ("", ".", ".."):
        return f"%{name}"
    return "".join(f"%{ord(c):02X}" if c in "/%" or c < " " else c for c in name)


def _renew(copy, container, edited):
    index = container.index
    behind = []
    for number in edited:
        dataset = index.datasets[number]
        if any(extent.file for extent in dataset.extents or []):
            raise Refused(
                f"{container.path}: values of {dataset.path} are in another checkpoint: write into one that builds on no "
                "other (`full-every = 1`)"
            )
    # Filters that pack what is written.
    if any(extent.coding in (2, 3, 18, 19) for number in edited for extent in index.datasets[number].extents or []):
        import hdf5plugin  # noqa: F401
    with h5py.File(copy, "r+", locking=False) as file:
        for number, data in edited.items():
            dataset = index.datasets[number]
            names = [_object_name(name) for name in dataset.path.split("/") if name]
            opened = file["/" + "/".join(names)]
            of = opened.id.get_type()
            if of.get_size() * opened.size != len(data):
                raise Error(f"{container.path}: {dataset.path}: HDF5 sees another type or shape than the index")
            opened.id.write(h5py.h5s.ALL, h5py.h5s.ALL, numpy.frombuffer(data, "u1"), mtype=of)
            file.flush()
            _renew_sums(dataset, number, data, behind)
            size = "" if dataset.extents is None else f"/{dataset.size}"
            text = f"xxh3-128{size}:{dataset.checksum:032x}"
            attribute = h5py.h5a.open(opened.id, b"checksum")
            of = attribute.get_type()
            if of.get_size() < len(text):
                raise Error(f"{container.path}: {dataset.path}: its attribute `checksum` has no room")
            attribute.write(numpy.array(text.encode(), f"S{of.get_size()}"), mtype=of)
    with open(copy, "r+b") as file:
        _place(file, index, edited, behind)
        _finish(file, index)


def _renew_sums(dataset, number, data, behind):
    """The checksums of what a dataset has now; which of its blocks may lie elsewhere than they did."""
    if dataset.extents is None:
        dataset.checksum = checksum(data)
        behind.append((number, None))
        return
    sums = bytearray()
    for block, extent in enumerate(dataset.extents):
        part = data[block * dataset.size : (block + 1) * dataset.size]
        if extent.coding is None and part.strip(b"\0"):
            extent.coding, extent.checksum = 0, checksum(part)
            behind.append((number, block))
        elif extent.coding is not None:
            # What is packed may have been packed anew, and be somewhere else.
            extent.checksum = checksum(part)
            behind.append((number, block))
        sums += extent.checksum.to_bytes(16, "little")
    dataset.checksum = checksum(bytes(sums))


def _place(file, index, edited, behind):
    """Where the values are now. Those that HDF5 has put elsewhere, or packed, are written once more, behind the rest."""
    end = os.fstat(file.fileno()).st_size
    for number, block in behind:
        dataset, data = index.datasets[number], edited[number]
        if block is None:
            if read_at(file, dataset.offset, len(data)) != data:
                raise Error(f"{dataset.path}: HDF5 has put it elsewhere than it was written")
            continue
        extent = dataset.extents[block]
        part = data[block * dataset.size : (block + 1) * dataset.size]
        if extent.coding == 0 and extent.offset and read_at(file, extent.offset, len(part)) == part:
            continue
        extent.coding, extent.offset, extent.length = 0, end, len(part)
        os.pwrite(file.fileno(), part, end)
        end += len(part)


def _finish(file, index):
    """Appends the index, fills in the header and syncs, as ckpt does."""
    end = os.fstat(file.fileno()).st_size
    data = index.to_bytes()
    _set_end(file, end + len(data))
    header = header_of(end, data, structure_checksum(file, end, index.datasets))
    os.pwrite(file.fileno(), data, end)
    os.pwrite(file.fileno(), header, 0)
    os.fsync(file.fileno())


def _set_end(file, end):
    """Has HDF5 take the file to end behind the index."""
    block = bytearray(read_at(file, ix.USER_BLOCK, 48))
    known = block[:8] == b"\x89HDF\r\n\x1a\n" and block[8] in (2, 3) and block[9] == 8
    if not known or block[44:] != _lookup3(block[:44]).to_bytes(4, "little"):
        return
    block[28:36] = end.to_bytes(8, "little")
    block[44:] = _lookup3(block[:44]).to_bytes(4, "little")
    os.pwrite(file.fileno(), bytes(block), ix.USER_BLOCK)


def _lookup3(data):
    """The checksum of HDF5's own structures: Jenkins' lookup3 from 0."""
    mask = 0xFFFFFFFF

    def rotated(x, k):
        return ((x << k) | (x >> (32 - k))) & mask

    a = b = c = (0xDEADBEEF + len(data)) & mask

    def word(rest, at):
        return int.from_bytes(rest[4 * at : 4 * at + 4], "little")

    rest = bytes(data)
    while len(rest) > 12:
        a, b, c = (a + word(rest, 0)) & mask, (b + word(rest, 1)) & mask, (c + word(rest, 2)) & mask
        for turn in (4, 6, 8, 16, 19, 4):
            a, c = ((a - c) ^ rotated(c, turn)) & mask, (c + b) & mask
            a, b, c = b, c, a
        rest = rest[12:]
    if not rest:
        return c
    a, b, c = (a + word(rest, 0)) & mask, (b + word(rest, 1)) & mask, (c + word(rest, 2)) & mask
    for turn in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - rotated(b, turn)) & mask
        a, b, c = b, c, a
    return b


def _sync(folder):
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
