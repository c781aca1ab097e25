"""What can go wrong. Every error names the file, what is wrong with it, and what can be done."""


class Error(Exception):
    """Anything that this package finds wrong."""


class Damaged(Error):
    """Bytes of a checkpoint are not those that were written, or one that it builds on is not there."""

    def __init__(self, path, place, what):
        super().__init__(
            f"{path}: {place}: {what}. If you have changed the file on purpose, `cargo ckpt seal` makes it whole; "
            "else take an older checkpoint"
        )
        self.path = path
        self.place = place
        self.what = what


class OtherVersion(Error):
    """The file has another version of the format."""


class NotFound(Error, KeyError):
    """There is no such checkpoint, rank or variable."""

    def __str__(self):
        return str(self.args[0])


class Refused(Error):
    """A value cannot be written."""


class WaitsForThreads(UserWarning):
    """A value was read out of a function that waits for threads. What they write to is in their frames, under the names that they
    have for it; in the function that waits it is as it was before they began."""
