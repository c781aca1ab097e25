"""How columns become values again: the book's page on the file format, section "How values become columns"."""

import re
from reprlib import recursive_repr

import numpy

from . import index as ix

_LISTS = {"Vec", "VecDeque", "LinkedList", "HashSet", "BTreeSet", "BinaryHeap", "IndexSet", "SmallVec", "ArrayVec"}
_AROUND = {"Box", "Cell", "RefCell", "Mutex", "RwLock", "Cow", "ManuallyDrop", "UnsafeCell", "OnceCell"}


def is_list_type(rust_type):
    """Whether a Rust type is a list, so that a struct of columns is many structs."""
    while True:
        rust_type = rust_type.strip().lstrip("&").strip()
        if rust_type.startswith("'"):
            rust_type = rust_type.partition(" ")[2]
        rust_type = rust_type.removeprefix("mut ").strip()
        if rust_type.startswith("["):
            return True
        name, bracket, rest = rust_type.partition("<")
        if not re.fullmatch(r"[\w:]+", name):
            return False  # A tuple, a function.
        name = name.rsplit("::", 1)[-1]
        if name in _AROUND and bracket:
            rust_type = rest.rstrip(">") if name != "Cow" else rest.partition(",")[2]
            continue
        return name in _LISTS


class Struct:
    """A struct or a tuple: its fields by name, `plate["now"]` or `plate.now`; those of a tuple by number, `pair[0]`.

    It has no methods of its own that a field could be mistaken for; `_asdict()` and `_rows()` are named as those of a named tuple.
    """

    def __init__(self, fields):
        self.__dict__["_fields"] = fields

    def __getitem__(self, name):
        value = self._fields[str(name)]
        return value() if isinstance(value, _Later) else value

    def __getattr__(self, name):
        if not name.startswith("_") and name in self._fields:
            return self[name]
        raise AttributeError(f"no field `{name}`; there are {', '.join(self.__dict__.get('_fields', ()))}")

    def __setattr__(self, name, value):
        raise AttributeError("values of a checkpoint are written by `Checkpoint.write`")

    def __iter__(self):
        return iter(self._fields)

    def __contains__(self, name):
        return str(name) in self._fields

    def __len__(self):
        return len(self._fields)

    def __dir__(self):
        return [*super().__dir__(), *self._fields]

    def __eq__(self, other):
        if not isinstance(other, Struct) or list(self) != list(other):
            return False
        return all(numpy.array_equal(self[name], other[name]) for name in self)

    __hash__ = None

    def _asdict(self):
        """Its fields in a dictionary."""
        return {name: self[name] for name in self}

    def _rows(self):
        """Its fields as those of many structs. The file does not say whether a field of lists of one length is one or many."""
        return Records(self._asdict())

    @recursive_repr("...")
    def __repr__(self):
        return "Struct(" + ", ".join(f"{name}={self[name]!r}" for name in self) + ")"


class _Later:
    def __init__(self, make):
        self.make = make

    def __call__(self):
        return self.make()


class Lazy:
    """A list whose items are made when they are asked for."""

    def __init__(self, length, make):
        self._length = length
        self._make = make

    def __len__(self):
        return self._length

    def __getitem__(self, at):
        if isinstance(at, slice):
            return [self[k] for k in range(*at.indices(self._length))]
        at = at.__index__()
        at += self._length if at < 0 else 0
        if not 0 <= at < self._length:
            raise IndexError(f"{at} of {self._length}")
        return self._make(at)

    def __iter__(self):
        return (self[at] for at in range(self._length))

    def __eq__(self, other):
        if not hasattr(other, "__len__") or not hasattr(other, "__getitem__"):
            return False
        return len(self) == len(other) and all(numpy.array_equal(one, two) for one, two in zip(self, other))

    __hash__ = None

    @recursive_repr("...")
    def __repr__(self):
        shown = [repr(item) for item in self[:6]] + (["..."] if len(self) > 6 else [])
        return "[" + ", ".join(shown) + "]"


class Records(Lazy):
    """Many structs: a field of all by its name (an array, where it is a number), a struct by its place."""

    def __init__(self, fields):
        self._fields = fields
        lengths = [len(column) for column in fields.values()]
        super().__init__(lengths[0] if lengths else 0, self._row)

    def _row(self, at):
        def later(column):
            return _Later(lambda: _plain(column[at]))

        return Struct({name: later(column) for name, column in self._fields.items()})

    def __getitem__(self, at):
        if isinstance(at, str):
            return self._fields[at]
        if isinstance(at, slice):
            return Records({name: column[at] for name, column in self._fields.items()})
        return super().__getitem__(at)

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._fields:
            raise AttributeError(f"no field `{name}`; there are {', '.join(self._fields)}")
        return self._fields[name]

    def __dir__(self):
        return [*super().__dir__(), *self._fields]


class Variant:
    """An enum's variant: its `name`, and its fields as those of a struct, `circle.radius`, `label[0]`. One without is equal to its name.

    A field that is called `name` or `fields` is `variant["name"]`.
    """

    def __init__(self, name, fields=None):
        self.name = name
        self.fields = fields

    def __getattr__(self, name):
        fields = self.__dict__.get("fields")
        if not isinstance(fields, Struct):
            raise AttributeError(f"`{self.__dict__.get('name')}` has no field `{name}`")
        return getattr(fields, name)

    def __getitem__(self, name):
        if self.fields is None:
            raise KeyError(f"`{self.name}` has no fields")
        return self.fields[name]

    def __eq__(self, other):
        if isinstance(other, str):
            return self.fields is None and self.name == other
        return isinstance(other, Variant) and (self.name, self.fields) == (other.name, other.fields)

    def __hash__(self):
        return hash(self.name)

    @recursive_repr("...")
    def __repr__(self):
        return self.name if self.fields is None else f"{self.name}{repr(self.fields).removeprefix('Struct')}"


def _plain(value):
    """An element of an array as Python has it."""
    return value.item() if isinstance(value, numpy.generic) else value


_STRIDED = ("shape", "strides", "items")
_ORDERED = (_STRIDED, ("rows", "columns", "by_column"))


def ordered(items, shape, first, steps):
    """Elements that lie in an order of their own, by their indices: a view of an array."""
    if not isinstance(items, numpy.ndarray):
        return None
    size = items.itemsize
    return numpy.lib.stride_tricks.as_strided(items[first:], shape, [step * size for step in steps])


def _text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _starts(lengths):
    """Where each of several lists begins, and where the last ends."""
    starts = numpy.zeros(len(lengths) + 1, dtype=object)
    starts[1:] = numpy.cumsum(numpy.asarray(lengths).astype(object)) if len(lengths) else 0
    return [int(start) for start in starts]


class Values:
    """The values of one file."""

    def __init__(self, container):
        self.container = container
        self.tables = {}

    def _bytes(self, data):
        return self.container.read(data.dataset)[data.offset : data.offset + data.bytes]

    def single(self, column, many=False):
        """The value of a column that stands for one; `many`: a list, so that structs in it are many."""
        if column is None:
            return []
        if isinstance(column, ix.Rows):
            return self.batch(column)
        if isinstance(column, ix.Data):
            return self._one(column) if column.single else self.batch(column)
        array = self._array(column)
        if array is not None:
            return array
        if column.kind == ix.STRUCT and not many:
            later = {name: self._later(child) for name, child in column.children.items()}
            return Struct(later)
        if column.kind == ix.MAP and column.children.get("lengths") is None:
            return self._map(column)
        single = self._kind_is_single(column)
        if column.kind == ix.OPTION and single:
            value = column.children.get("value")
            return _some(value, self.single(value)) if self._one(column.children["present"]) else None
        if column.kind in (ix.ENUM, ix.DYN) and single:
            name = self._one(column.children["variant"])
            fields = column.children.get(name)
            return Variant(name, None if fields is None else self.single(fields))
        return self.batch(column)

    def order_of(self, column):
        """How the elements of an array of `ndarray` or `nalgebra` lie in its dataset: the shape, the element whose indices are 0, and
        how much farther the next in each dimension lies; with the dataset. None of another struct."""
        names = tuple(column.children) if isinstance(column, ix.Group) and column.kind == ix.STRUCT else ()
        if names not in _ORDERED:
            return None
        one, two, items = column.children.values()
        while isinstance(items, ix.Rows):
            items = items.items
        if not all(isinstance(part, ix.Data) for part in (one, two, items)) or items.dtype.code == ix.TEXT:
            return None
        elements = items.bytes // items.dtype.size
        if (one.dtype.code, two.dtype.code) != (ix.U64, ix.I64 if names == _STRIDED else ix.U64) or not elements:
            return None
        one, two = (numpy.ravel(self.batch(part)).tolist() for part in (one, two))
        if names == _STRIDED:
            shape, steps = one, two
            inside = 1
            for step, length in sorted((abs(step), length) for step, length in zip(steps, shape) if length != 1):
                if step != inside:
                    return None
                inside *= length
            if len(shape) != len(steps) or not shape or inside != elements:
                return None
        else:
            rows, columns = one[0], two[0]
            if rows * columns != elements:
                return None
            shape, steps = ([elements], [1]) if 1 in (rows, columns) else ([rows, columns], [1, rows])
        first = sum(-step * (length - 1) for step, length in zip(steps, shape) if step < 0 and length > 1)
        return tuple(shape), first, tuple(steps), items

    def _array(self, column):
        """Such an array, with the indices of the program."""
        order = self.order_of(column)
        if order is None:
            return None
        shape, first, steps, items = order
        return ordered(self.batch(items), shape, first, steps)

    def _later(self, column):
        kept = []

        def make():
            if not kept:
                kept.append(self.single(column))
            return kept[0]

        return _Later(make)

    def _kind_is_single(self, column):
        mark = {ix.OPTION: "present", ix.ENUM: "variant", ix.DYN: "variant"}.get(column.kind)
        mark = column.children.get(mark)
        return isinstance(mark, ix.Data) and mark.single

    def _map(self, column):
        keys, values = self.batch(column.children.get("keys")), self.batch(column.children.get("values"))
        return {_key(key): _plain(value) for key, value in zip(keys, values)}

    def _one(self, data):
        data_bytes = self._bytes(data)
        if data.dtype.code == ix.TEXT:
            return _text(data_bytes)
        return _plain(self._elements(data.dtype, data_bytes)[0])

    def _elements(self, dtype, data):
        """Elements of one type: an array, but for objects."""
        array = numpy.frombuffer(data, ix.NUMPY[dtype.code])
        code = dtype.code
        if code in (ix.U128, ix.I128):
            return array["low"].astype(object) + (array["high"].astype(object) << 64)
        if code == ix.CHAR:
            return numpy.array([chr(one) for one in array], dtype="<U1")
        if code == ix.VARIANT:
            return numpy.array(dtype.names)[array] if len(array) else numpy.array([], dtype="<U1")
        if code == ix.UNIT:
            return Lazy(len(array), lambda _: None)
        if code == ix.OBJECT:
            return Lazy(len(array), lambda at: self._object(dtype.number, int(array[at])))
        return array

    def _object(self, table, number):
        if table not in self.tables:
            of = self.container.index.tables[table]
            ids = numpy.frombuffer(self._bytes(ix.Data(ix.DType(ix.U64), False, *of.ids)), "<u8")
            # A table is a batch whatever its type is.
            self.tables[table] = ({int(one): at for at, one in enumerate(ids)}, self.batch(of.items), {})
        ids, items, made = self.tables[table]
        if number not in made:
            made[number] = _plain(items[ids[number] if ids else number])
        return made[number]

    def batch(self, column):
        """The values of a column that stands for many: an array, where they are numbers; else a sequence."""
        if column is None:
            return []
        if isinstance(column, ix.Data):
            return self._elements(column.dtype, self._bytes(column))
        if isinstance(column, ix.Rows):
            items = self.batch(column.items)
            rows = len(items) // column.length if column.length else len(items)
            if isinstance(items, numpy.ndarray):
                return items.reshape(rows, column.length, *items.shape[1:])
            return Lazy(rows, lambda at: items[at * column.length : (at + 1) * column.length])
        children = column.children
        if column.kind == ix.STRUCT:
            return Records({name: self.batch(child) for name, child in children.items()})
        if column.kind == ix.STRINGS:
            starts = _starts(self.batch(children["lengths"]))
            text = b"" if children.get("text") is None else self._bytes(children["text"])
            return Lazy(len(starts) - 1, lambda at: _text(text[starts[at] : starts[at + 1]]))
        if column.kind == ix.LIST:
            starts = _starts(self.batch(children["lengths"]))
            items = self.batch(children.get("items"))
            return Lazy(len(starts) - 1, lambda at: items[starts[at] : starts[at + 1]])
        if column.kind == ix.MAP:
            starts = _starts(self.batch(children["lengths"]))
            keys, values = self.batch(children.get("keys")), self.batch(children.get("values"))

            def entries(at):
                span = range(starts[at], starts[at + 1])
                return {_key(keys[k]): _plain(values[k]) for k in span}

            return Lazy(len(starts) - 1, entries)
        if column.kind == ix.OPTION:
            present = self.batch(children["present"])
            places = numpy.cumsum(present) - 1
            value = children.get("value")
            values = self.batch(value)

            def option(at):
                return _some(value, _plain(values[int(places[at])])) if present[at] else None

            return Lazy(len(present), option)
        variants = self.batch(children["variant"])
        places = numpy.zeros(len(variants), dtype=int)
        fields = {}
        for name, child in children.items():
            if name != "variant" and child is not None:
                places[variants == name] = numpy.arange(numpy.count_nonzero(variants == name))
                fields[name] = self.batch(child)

        def variant(at):
            name = str(variants[at])
            return Variant(name, _plain(fields[name][int(places[at])]) if name in fields else None)

        return Lazy(len(variants), variant)


def _some(column, value):
    """What an option holds. Where that is an option itself, `Some(None)` is not `None`."""
    is_option = isinstance(column, ix.Group) and column.kind == ix.OPTION
    return Variant("Some", Struct({"0": value})) if is_option else value


def _key(key):
    """A key as Python can look it up."""
    key = _plain(key)
    if isinstance(key, numpy.ndarray):
        return tuple(key.tolist())
    if isinstance(key, Struct):
        return tuple(_key(key[name]) for name in key)
    if isinstance(key, Lazy):
        return tuple(_key(one) for one in key)
    return key
