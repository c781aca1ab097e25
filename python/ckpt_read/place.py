"""From what is typed behind a name to what is meant: `bodies[3].moons[0].name`, as `cargo ckpt inspect` has it."""

import re

import numpy

from .errors import NotFound
from .values import Lazy, Records, Struct, Variant

_STEP = re.compile(r"\[([^\[\]]*)\]|\.([^.\[\]]+)")


def below(value, name, steps):
    """The value that `steps` lead to from that of `name`. Raises `NotFound`."""
    at = 0
    while at < len(steps):
        step = _STEP.match(steps, at)
        if step is None:
            raise NotFound(f"`{name}{steps}` makes no sense from `{steps[at:]}` on; write `bodies[3].pos` or `pos[0..10]`")
        inside, part = step.groups()
        reached = name + steps[:at]
        value = _part(value, part, reached) if inside is None else _elements(value, inside, reached)
        at = step.end()
    return value


def _part(value, part, reached):
    if isinstance(value, (Lazy, list)) and not isinstance(value, Records):
        raise NotFound(f"`{reached}` is several elements: a part is that of one, as in `bodies[3].pos`")
    try:
        if isinstance(value, (Struct, Records, Variant)):
            return value[part]
    except (KeyError, TypeError):
        pass
    what = "None" if value is None else f"a {type(value).__name__}"
    if isinstance(value, (Struct, Records)):
        what = f"a struct of {', '.join(value if isinstance(value, Struct) else value._fields)}"
    elif isinstance(value, Variant):
        what = value.name
    raise NotFound(f"`{reached}` has no part `{part}`; it is {what}")


def _elements(value, inside, reached):
    """`[3]`, `[0..10]`, `[2, ..5]`: as in Rust, so that what is outside is an error."""
    if not isinstance(value, (numpy.ndarray, Lazy, list)):
        raise NotFound(f"`{reached}` is no array: it is {value!r}")
    places = inside.split(",")
    axes = value.ndim if isinstance(value, numpy.ndarray) else 1
    if len(places) <= axes and isinstance(value, numpy.ndarray):
        chosen = value[bounds_of(value, places, reached)]
        return chosen.item() if isinstance(chosen, numpy.generic) else chosen
    # A list of lists, whose rows may differ in length.
    first, *others = places
    value = value[_bounds(first, len(value), reached)]
    return _elements(value, ",".join(others), f"{reached}[{first}]") if others else value


def bounds_of(array, places, reached):
    """What the places choose in an array."""
    if len(places) > array.ndim:
        raise NotFound(f"`{reached}` has {array.ndim} dimensions, not {len(places)}")
    return tuple(_bounds(place, size, reached) for place, size in zip(places, array.shape))


def _bounds(place, size, reached):
    """An index, or a range of them."""
    try:
        first, dots, end = place.strip().partition("..")
        if not dots:
            bounds = (int(first), int(first) + 1)
        elif end.startswith("="):
            bounds = (int(first or 0), int(end[1:]) + 1)
        else:
            bounds = (int(first or 0), int(end or size))
    except ValueError:
        raise NotFound(f"`{reached}[{place}]`: `{place}` is no index; write `[3]`, `[0..10]` or `[2, ..5]`") from None
    if not 0 <= bounds[0] <= bounds[1] <= size:
        raise NotFound(f"`{reached}[{place}]` is outside of 0..{size}")
    return slice(*bounds) if dots else bounds[0]
