"""A store and the checkpoints in it."""

import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy

from . import index as ix
from .container import Container
from .errors import Error, NotFound, WaitsForThreads
from .place import below
from .values import Struct, Values, is_list_type

_FILE = re.compile(r"(\d{6,})\.r(0|[1-9]\d*)\.h5")


@dataclass(frozen=True)
class Run:
    """A run that the store has checkpoints of: `id`, what its `job.json` says (`state`, `command`, ...) as `job`."""

    id: str
    job: dict
    checkpoints: tuple

    @property
    def state(self):
        return self.job.get("state")

    @property
    def command(self):
        return self.job.get("command")


class Store(Mapping):
    """The checkpoints in a folder by their numbers, the oldest first."""

    def __init__(self, folder):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise NotFound(f"{folder}: there is no such folder; a store is a folder such as heat.ckpt.d")

    def _files(self):
        files = {}
        for path in self.folder.iterdir():
            if match := _FILE.fullmatch(path.name):
                files.setdefault(int(match[1]), set()).add(int(match[2]))
        return {number: files[number] for number in sorted(files)}

    def __iter__(self):
        return iter(self._files())

    def __len__(self):
        return len(self._files())

    def __getitem__(self, number):
        number = int(number)
        files = self._files()
        if number not in files:
            there = ", ".join(map(str, files)) or "none"
            raise NotFound(f"{self.folder}: there is no checkpoint {number}; there are: {there}")
        return Checkpoint(self, number, min(files[number]))

    @property
    def latest(self):
        """The newest checkpoint that all ranks have and whose files are sound; one that is not is passed over with a warning.

        The values themselves are checked when they are read, and all at once by `Checkpoint.verify`.
        """
        for number in reversed(self._files()):
            try:
                checkpoint = self[number]
                checkpoint.check()
                return checkpoint
            except (Error, OSError) as error:
                warnings.warn(f"checkpoint {number} is passed over: {error}", stacklevel=2)
        raise NotFound(f"{self.folder}: there is no checkpoint that can be read")

    @property
    def runs(self):
        """The runs of the store, by their identities, in the order in which they were begun."""
        of = {}
        for number in self:
            try:
                with self[number] as checkpoint:
                    of.setdefault(checkpoint.run, []).append(number)
            except (Error, OSError) as error:
                warnings.warn(f"checkpoint {number} is passed over: {error}", stacklevel=2)
        jobs = {}
        for path in self.folder.glob("runs/*/job.json"):
            try:
                job = json.loads(path.read_text())
            except (OSError, ValueError):
                continue
            jobs[path.parent.name] = job if isinstance(job, dict) else {}
        names = {*of, *jobs} - {None}

        def order(name):
            place = jobs.get(name, {}).get("order")
            return (place if isinstance(place, int) else 0, name)

        return {name: Run(name, jobs.get(name, {}), tuple(of.get(name, ()))) for name in sorted(names, key=order)}

    def __repr__(self):
        return f"<store {self.folder}: checkpoints {', '.join(map(str, self)) or 'none'}>"


@dataclass(frozen=True)
class FrameView:
    """An active function: its name, where its site is, and its variables by name."""

    function: str
    file: str
    line: int
    thread: int
    variables: tuple

    def __repr__(self):
        return f"<{self.function}, {self.file}:{self.line}: {', '.join(self.variables)}>"


class Checkpoint:
    """What one rank has in one checkpoint. `checkpoint["plate.now"]` is a value, with all its bytes checked.

    Names are those of `cargo ckpt inspect`: a variable, a field of it after a dot, and the function or the number of its
    frame in front (`advance/self.now`, `1/self.now`) where several functions have a variable of this name.
    """

    def __init__(self, store, number, rank):
        self.store = store
        self.number = number
        self.rank_number = rank
        self.path = self._path(number)
        self._container = Container(self.path, self._path)
        self._values = Values(self._container)
        self._index = self._container.index

    def _path(self, number):
        return self.store.folder / f"{number:06}.r{self.rank_number}.h5"

    def close(self):
        """Closes its files. What has been read stays."""
        self._container.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if container := getattr(self, "_container", None):
            container.close()

    @property
    def meta(self):
        """What the file says about itself: program, version, visit, time, reason, host, notes."""
        meta = dict(self._index.meta)
        meta["time"] = self.time
        return meta

    @property
    def time(self):
        """When it was taken."""
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=self._index.meta["time"] // 1000)

    @property
    def visit(self):
        """How often the site had been visited."""
        return self._index.meta["visit"]

    @property
    def run(self):
        """The identity of its run."""
        return self._index.meta["notes"].get("run")

    @property
    def ranks(self):
        """The ranks of the program, of which each has a file."""
        return range(int(self._index.meta["notes"].get("mpi_ranks", "1")))

    def rank(self, rank):
        """The same checkpoint of another rank."""
        if not self._path_of_rank(rank).exists():
            raise NotFound(f"{self._path_of_rank(rank)}: rank {rank} has no file of checkpoint {self.number}")
        other = Checkpoint(self.store, self.number, rank)
        if other.run != self.run:
            raise Error(f"{other.path}: it is of another run than rank {self.rank_number}")
        return other

    def _path_of_rank(self, rank):
        return self.store.folder / f"{self.number:06}.r{rank}.h5"

    def check(self):
        """Checks the files of all ranks but for their values. Raises `Damaged`, or `NotFound` where a rank lacks its file."""
        for rank in self.ranks:
            if rank == self.rank_number:
                self._container.verify_structure()
            else:
                with self.rank(rank) as other:
                    other._container.verify_structure()

    def verify(self):
        """Checks every byte of all ranks, also those that lie in other checkpoints. Raises `Damaged`."""
        for rank in self.ranks:
            if rank == self.rank_number:
                self._container.verify()
            else:
                with self.rank(rank) as other:
                    other._container.verify()

    @property
    def frames(self):
        """The active functions, the outermost first; those of the members of a team have their number as `thread`.

        Where there are such, the last of thread 0 waits for them: what they write to is in their frames, and in that one as it was
        before they began.
        """
        return [
            FrameView(
                frame.function,
                frame.file,
                frame.site_line,
                frame.thread,
                tuple(variable.key for variable in frame.variables),
            )
            for frame in self._index.frames
        ]

    @property
    def statics(self):
        """The statics of the program, by name."""
        return {one.key: self._values.single(one.column, is_list_type(one.rust_type)) for one in self._index.statics}

    def keys(self):
        """The names of all variables, each as `FUNCTION/VARIABLE`."""
        return [f"{function}/{variable.key}" for _, function, variable in self._variables() if variable.link is None]

    def __contains__(self, name):
        try:
            self[name] if "[" in name else self._find(name)
        except NotFound:
            return False
        return True

    def __getitem__(self, name):
        whole, bracket, rest = name.partition("[")
        column, many = self._find(whole)
        self._tell_of_threads(whole)
        # What has elements is a list.
        value = self._values.single(column, many or bool(bracket))
        if not bracket:
            return value
        try:
            return below(value, whole, bracket + rest)
        except NotFound as error:
            raise NotFound(f"{self.path}: {error}") from None

    def type_of(self, name):
        """The Rust type of a variable; None of a part of one, whose type is not in the file."""
        _, variable, parts = self._candidate(name)
        return None if parts else variable.rust_type

    def _variables(self):
        for number, frame in enumerate(self._index.frames):
            for variable in frame.variables:
                yield number, frame.function, variable
        for variable in self._index.statics:
            yield "statics", "statics", variable

    def _tell_of_threads(self, name):
        """Warns where the frame of a variable waits for threads, whose frames hold what they write to."""
        frames = self._index.frames
        waiting = max((place for place, frame in enumerate(frames) if frame.thread == 0), default=None)
        if self._candidate(name)[0] == waiting and any(frame.thread > 0 for frame in frames):
            warnings.warn(
                f"{self.path}: `{name}` is in a function that waits for threads. What they write to is in their frames "
                "(see `frames` and `keys()`), and here as it was before they began",
                WaitsForThreads,
                stacklevel=3,
            )

    def _candidate(self, name):
        """The frame and the variable that a name means, and the parts of the path below it."""
        where, slash, path = name.partition("/")
        if not slash:
            where, path = None, name
        found = {}
        for number, function, variable in self._variables():
            if where is not None and where not in (str(number), function):
                continue
            if path != variable.key and not path.startswith(variable.key + "."):
                continue
            parts = path[len(variable.key) + 1 :].split(".") if path != variable.key else []
            target = variable
            while target.link is not None:
                number, key = target.link
                target = next(one for one in self._index.frames[number].variables if one.key == key)
            found.setdefault((number, target.key), (target, parts))
        # Of `a` and `a.b` the longer is meant.
        shortest = min((len(parts) for _, parts in found.values()), default=0)
        found = {place: one for place, one in found.items() if len(one[1]) == shortest}
        if not found:
            raise NotFound(f"{self.path}: there is no variable `{name}`; there are: {', '.join(self.keys())}")
        if len(found) > 1:
            names = ", ".join(f"{number}/{key}" for number, key in found)
            raise NotFound(f"{self.path}: several frames have a variable `{name}`: choose one of {names}")
        ((number, _), (target, parts)), = found.items()
        return number, target, parts

    def _find(self, name):
        """The column that a name means, and whether it is one of many values."""
        _, variable, parts = self._candidate(name)
        column, many = variable.column, is_list_type(variable.rust_type)
        reached = variable.key
        for part in parts:
            children = column.children if isinstance(column, ix.Group) else {}
            if isinstance(column, ix.Rows) and part == "items":
                children = {"items": column.items}
            if part not in children:
                there = f"it has: {', '.join(children)}" if children else "it has no parts"
                raise NotFound(f"{self.path}: `{reached}` has no part `{part}`; {there}")
            column, reached = children[part], f"{reached}.{part}"
        return column, many

    def arrays(self):
        """All numbers and arrays of numbers of the checkpoint, by their full names."""
        named = {}

        def below(name, column):
            if isinstance(column, ix.Data):
                if column.dtype.code <= ix.F64 or column.dtype.code in (ix.COMPLEX32, ix.COMPLEX64, ix.BOOL):
                    array = self._values.batch(column)
                    named[name] = array[0] if column.single else array
            elif isinstance(column, ix.Rows):
                array = self._values.batch(column)
                if isinstance(array, numpy.ndarray) and array.dtype.kind in "biufc":
                    named[name] = array
            elif isinstance(column, ix.Group):
                for part, child in column.children.items():
                    below(f"{name}.{part}", child)

        taken = [f"{function}/{variable.key}" for _, function, variable in self._variables()]
        for number, function, variable in self._variables():
            name = f"{function}/{variable.key}"
            # A function that calls itself has the same names again.
            below(name if taken.count(name) == 1 else f"{number}/{variable.key}", variable.column)
        return named

    def to_xarray(self):
        """`arrays()` as an `xarray.Dataset`, the dimensions named after the arrays."""
        try:
            import xarray
        except ImportError:
            raise Error("to_xarray() needs xarray: pip install xarray") from None
        variables = {
            name: ([f"{name}.{axis}" for axis in range(array.ndim)], array) for name, array in self.arrays().items()
        }
        about = {name: value for name, value in self._index.meta.items() if name != "notes"}
        return xarray.Dataset(variables, attrs=about | {"checkpoint": self.number, "rank": self.rank_number})

    def write(self, values):
        """Writes values into the file and seals it: `write({"plate.now": now, "deck.end": 2.0})`.

        Values may be changed, types and shapes may not. The file is the old one or the new one, whatever happens
        meanwhile; it is refused while a job uses the store and where another checkpoint builds on this one.
        """
        from .seal import write

        write(self, values)
        self._container.close()
        self.__init__(self.store, self.number, self.rank_number)

    def __repr__(self):
        about = self._index.meta
        return f"<checkpoint {self.number} of {about['program']} {about['version']}, {self.time:%Y-%m-%d %H:%M:%S} UTC>"


def open(folder):  # noqa: A001, as h5py and xarray have it
    """The store in a folder."""
    return Store(folder)


__all__ = ["Checkpoint", "FrameView", "Run", "Store", "Struct", "open"]
