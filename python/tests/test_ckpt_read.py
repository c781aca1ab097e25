"""Tests against checkpoints of the program in `zoo`, in folders that the environment names: `machines/tests/tests/ckpt_read.rs` makes
them and starts this."""

import os
import shutil
import tempfile
import unittest
import warnings
from dataclasses import replace
from pathlib import Path

import numpy

import ckpt_read as ckpt

#: Stores of the same run: whole files; such that build on others; compressed in each way, building on others as well.
STORES = Path(os.environ["CKPT_READ_STORES"])
NAMES = ["whole", "incremental", "deflate", "lz4", "zstd"]


class Reads(unittest.TestCase):
    def test_every_store_has_the_same_values(self):
        for name in NAMES:
            with self.subTest(name):
                store = ckpt.open(STORES / name)
                self.assertEqual(list(store), [1, 2, 3, 4])
                for number in store:
                    store[number].verify()
                    expected = numpy.zeros(200_000)
                    expected[100_000:] = numpy.sqrt(numpy.arange(100_000))
                    if number > 1:
                        expected[:50_000] = numpy.arange(50_000) + number - 2
                    numpy.testing.assert_array_equal(store[number]["big"], expected)

    def test_the_stores_are_what_they_are_called(self):
        for name in NAMES:
            index = ckpt.open(STORES / name)[4]._index
            codings = {extent.coding for dataset in index.datasets for extent in dataset.extents or []}
            self.assertEqual(bool(index.files), name != "whole", name)
            packed = {"deflate": {1, 17}, "lz4": {2, 18}, "zstd": {3, 19}}.get(name)
            self.assertTrue(packed is None or packed & codings, f"{name}: {codings}")

    def test_values_are_what_a_python_user_expects(self):
        latest = ckpt.open(STORES / "whole").latest
        cells = latest["cells"]
        self.assertEqual(len(cells), 3)
        numpy.testing.assert_array_equal(cells.at, [[0, 0.5, -1], [1, 0.5, -1], [2, 0.5, -1]])
        self.assertEqual([cell.name for cell in cells], ["cell 0 é", "cell 1 é", "cell 2 é"])
        self.assertEqual(list(cells.mass), [0.0, None, 4.0])
        self.assertEqual(cells[0].shape, "Point")
        self.assertEqual((cells[1].shape.name, cells[1].shape.radius), ("Circle", 2.5))
        self.assertEqual((cells[-1].shape[0], cells[-1].shape[1]), ("here", 7))
        self.assertEqual([trail.tolist() for trail in cells.trail], [[], [0], [0, 1]])
        self.assertEqual(latest["one"].name, "cell 2 é")
        self.assertEqual(latest["one.shape.Label.1"], 7)
        numpy.testing.assert_array_equal(latest["holder"].values, [1.0, 2.0])
        self.assertEqual([row.tolist() for row in latest["nested"]], [[1, 2], [], [3]])
        self.assertEqual((latest["matrix"].shape, latest["matrix"].dtype), ((3, 4), numpy.float32))
        self.assertEqual({key: value.tolist() for key, value in latest["names"].items()}, {"a": [1, 2], "b": []})
        self.assertEqual(latest["squares"], {0: 0.0, 1: 1.0, 2: 4.0, 3: 9.0})
        self.assertEqual(latest["seen"].tolist(), [-3, 5])
        self.assertEqual((latest["maybe"], latest["nothing"]), ("text", None))
        deep = latest["deep"]
        self.assertEqual((deep[0].name, deep[0][0], deep[1].name, deep[1][0], deep[2]), ("Some", 43, "Some", None, None))
        self.assertEqual((latest["deepest"].name, latest["deepest"][0]), ("Some", None))
        self.assertEqual((len(latest["empty"]), len(latest["nobody"])), (0, 0))
        self.assertEqual(latest["wide"], 2**128 - 6)
        self.assertEqual(latest["wides"].tolist(), [-7, 1 << 100])
        self.assertEqual("".join(latest["letters"]), "aé")
        self.assertEqual([latest["pair"][k] for k in range(3)], [1, -2, True])
        self.assertEqual([(one[0], one[1]) for one in latest["pairs"]], [(1, 0.5), (2, 0.25)])
        self.assertIs(latest["twice"][0], latest["twice"][1])
        self.assertEqual(latest["tree"].left.key, 1)
        self.assertIsNone(latest["tree"].left.left)
        self.assertEqual(latest["flags"].tolist(), [True, False])
        self.assertEqual(list(latest["shapes"]), ["Point", "Point"])
        self.assertEqual(list(latest["options"]), [1.5, None])
        self.assertEqual(latest.statics["zoo::COUNT"], 6)

    def test_names_lead_to_frames_and_parts(self):
        latest = ckpt.open(STORES / "whole").latest
        self.assertEqual(latest["main/step"], latest["0/step"])
        self.assertIn("cells.shape.Circle.radius", latest)
        self.assertNotIn("cells.colour", latest)
        with self.assertRaisesRegex(ckpt.NotFound, "no variable `colour`; there are: main/cells"):
            latest["colour"]
        with self.assertRaisesRegex(ckpt.NotFound, "`cells` has no part `colour`; it has: at, name"):
            latest["cells.colour"]
        self.assertEqual([frame.function for frame in latest.frames], ["main"])
        self.assertEqual(latest.type_of("big"), "alloc::vec::Vec<f64>")
        self.assertEqual(list(latest.ranks), [0])
        with self.assertRaisesRegex(ckpt.NotFound, "rank 1 has no file"):
            latest.rank(1)

    def test_brackets_choose_elements(self):
        latest = ckpt.open(STORES / "whole").latest
        self.assertEqual(latest["cells[1].shape.radius"], 2.5)
        self.assertEqual(latest["cells[2].at[1]"], 0.5)
        self.assertEqual(latest["cells[2].trail[..]"].tolist(), [0, 1])
        self.assertEqual(latest["cells.at[1, ..2]"].tolist(), [1.0, 0.5])
        self.assertEqual([cell.name for cell in latest["main/cells[1..]"]], ["cell 1 é", "cell 2 é"])
        self.assertEqual((latest["nested[2, 0]"], latest["nested[0][1]"]), (3, 2))
        self.assertEqual(latest["matrix[2, 1..=2]"].shape, (2,))
        self.assertEqual((latest["pairs[1].1"], latest["letters[1]"], latest["holder.values[1]"]), (0.25, "é", 2.0))
        self.assertEqual(latest["cells[1..].mass"], [None, 4.0])
        self.assertIn("cells[0].mass", latest)
        for name, wrong in [
            ("cells[3]", "outside of 0..3"),
            ("cells[-1]", "outside of 0..3"),
            ("cells[1].colour", "has no part `colour`; it is a struct of at, name"),
            ("cells[0].shape.radius", "has no part `radius`"),
            ("nested[..].shape", "is several elements"),
            ("step[0]", "`step` is no array"),
            ("cells[x]", "`x` is no index"),
            ("cells[1", "makes no sense"),
        ]:
            with self.subTest(name), self.assertRaisesRegex(ckpt.NotFound, wrong):
                latest[name]

    def test_runs_are_told(self):
        store = ckpt.open(STORES / "whole")
        ((name, run),) = store.runs.items()
        self.assertEqual((name, run.state, run.checkpoints), (store.latest.run, "completed", (1, 2, 3, 4)))

    def test_xarray_has_all_numbers(self):
        data = ckpt.open(STORES / "incremental").latest.to_xarray()
        self.assertEqual(data["main/big"].shape, (200_000,))
        self.assertEqual(data["main/step"].dtype, numpy.uint32)
        self.assertEqual(data.attrs["program"], "zoo")


class Copied(unittest.TestCase):
    """What is done to a copy of a store."""

    def copy(self, name):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Path(shutil.copytree(STORES / name, Path(folder.name) / name))


class Damage(Copied):
    def everything(self, store, number):
        checkpoint = store[number]
        checkpoint.verify()
        return {key: repr(checkpoint[key]) for key in checkpoint.keys()}

    def test_a_flipped_bit_is_found_wherever_it_is(self):
        for name in ["whole", "deflate", "zstd"]:
            folder = self.copy(name)
            path = folder / "000002.r0.h5"
            good = path.read_bytes()
            for at in sorted({*range(0, len(good), len(good) // 150), *range(0, 512, 40), len(good) - 1}):
                bad = bytearray(good)
                bad[at] ^= 0x10
                path.write_bytes(bad)
                with self.subTest(f"{name}: byte {at}"), self.assertRaises((ckpt.Damaged, ckpt.OtherVersion)):
                    self.everything(ckpt.open(folder), 2)

    def test_a_value_that_is_damaged_is_not_read(self):
        folder = self.copy("whole")
        path = folder / "000004.r0.h5"
        index = ckpt.open(folder)[4]._index
        big = next(one for one in index.datasets if one.path.endswith("/big"))
        extent = next(extent for extent in big.extents if extent.coding == 0)
        data = bytearray(path.read_bytes())
        data[extent.offset + 8] ^= 1
        path.write_bytes(data)
        latest = ckpt.open(folder).latest
        self.assertEqual(latest["step"], 3)
        with self.assertRaisesRegex(ckpt.Damaged, "/frames/0/big: block 0: its checksum is wrong.*cargo ckpt seal"):
            latest["big"]

    def test_a_file_that_was_cut_off_is_passed_over(self):
        folder = self.copy("whole")
        path = folder / "000004.r0.h5"
        good = path.read_bytes()
        for length in [0, 511, 512, 4096, len(good) - 1]:
            path.write_bytes(good[:length])
            with self.assertRaises(ckpt.Damaged):
                ckpt.open(folder)[4]
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                self.assertEqual(ckpt.open(folder).latest.number, 3)
            self.assertIn("checkpoint 4 is passed over", str(said[0].message))

    def test_what_is_lent_to_threads_is_told_of(self):
        with ckpt.open(STORES / "whole").latest as latest, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.assertEqual(latest["maybe"], "text")
            self.assertEqual(said, [])
            latest._index.frames.append(replace(latest._index.frames[-1], function="worker", thread=1, variables=[]))
            self.assertEqual(latest["maybe"], "text")
            self.assertIn("maybe", latest)
            self.assertEqual([one.category for one in said], [ckpt.WaitsForThreads])

    def test_what_a_file_builds_on_must_be_there_and_be_the_same(self):
        folder = self.copy("incremental")
        base = ckpt.open(folder)[4]._index.files[0][0]
        path = folder / f"{base:06}.r0.h5"
        other = folder / f"{base - 1 or 2:06}.r0.h5"
        shutil.copy(other, path)
        with self.assertRaisesRegex(ckpt.Damaged, "which it builds on: it is another one than it was"):
            ckpt.open(folder)[4]
        path.unlink()
        with self.assertRaisesRegex(ckpt.Damaged, "which it builds on: it cannot be opened"):
            ckpt.open(folder)[4]

    def test_what_h5py_has_changed_is_damaged_until_it_is_sealed(self):
        import h5py

        folder = self.copy("whole")
        with h5py.File(folder / "000004.r0.h5", "r+") as file:
            file["frames/0/cells/at"][0, 0] = 9.0
        with self.assertRaisesRegex(ckpt.Damaged, "cargo ckpt seal"):
            ckpt.open(folder)[4]["cells.at"]


class Writes(Copied):
    def test_what_is_written_is_sealed(self):
        for name, number in [("whole", 4), ("deflate", 1), ("lz4", 1), ("zstd", 1)]:
            with self.subTest(name):
                folder = self.copy(name)
                for later in range(number + 1, 5):
                    (folder / f"{later:06}.r0.h5").unlink()
                checkpoint = ckpt.open(folder)[number]
                big = checkpoint["big"].copy()
                big[1000:3000], big[150_000] = 900.0, -1.0
                checkpoint.write({"big": big, "step": 2, "cells.at": checkpoint["cells.at"] + 1, "shapes.variant": ["Point", "Point"]})
                numpy.testing.assert_array_equal(checkpoint["big"], big)
                checkpoint.verify()
                self.assertEqual(ckpt.open(folder).latest["step"], 2)
                self.assertFalse(list(folder.glob(".*")))
                # HDF5 finds the same, and the checksum that people read is the new one.
                import h5py
                import hdf5plugin  # noqa: F401

                with h5py.File(checkpoint.path) as file:
                    numpy.testing.assert_array_equal(file["frames/0/big"][()], big)
                    of = next(one for one in checkpoint._index.datasets if one.path == "/frames/0/big")
                    self.assertIn(f"{of.checksum:032x}", str(file["frames/0/big"].attrs["checksum"]))
                keep = os.environ.get("CKPT_READ_WRITTEN")
                if keep:
                    shutil.copytree(folder, Path(keep) / name)

    def test_elements_and_wide_numbers_are_written(self):
        checkpoint = ckpt.open(self.copy("whole"))[4]
        wides = [-(1 << 127), 5]
        checkpoint.write({"matrix[1, 2]": 7, "matrix[2, ..2]": [8, 9], "cells[1].at[2]": 4.5, "wide": 1 << 100, "wides": wides})
        expected = numpy.ones((3, 4), numpy.float32)
        expected[1, 2], expected[2, :2] = 7, [8, 9]
        numpy.testing.assert_array_equal(checkpoint["matrix"], expected)
        numpy.testing.assert_array_equal(checkpoint["cells.at"], [[0, 0.5, -1], [1, 0.5, 4.5], [2, 0.5, -1]])
        self.assertEqual((checkpoint["wide"], checkpoint["wides"].tolist()), (1 << 100, wides))
        checkpoint.write({"wides[0]": 1, "flags[1]": True})
        self.assertEqual((checkpoint["wides"].tolist(), checkpoint["flags"].tolist()), ([1, 5], [True, True]))
        checkpoint.verify()

    def test_a_disk_that_takes_nothing_is_an_error_of_the_package(self):
        from unittest import mock

        checkpoint = ckpt.open(self.copy("whole"))[4]
        full = OSError(30, "Read-only file system")
        with mock.patch("shutil.copyfile", side_effect=full), self.assertRaisesRegex(ckpt.Error, "Read-only file system"):
            checkpoint.write({"step": 0})

    def test_what_has_no_place_is_refused_and_the_file_is_as_it_was(self):
        folder = self.copy("whole")
        checkpoint = ckpt.open(folder)[4]
        before = checkpoint.path.read_bytes()
        for values, words in [
            ({"big": numpy.zeros(3)}, r"has the shape \(200000,\), not \(3,\)"),
            ({"step": -1}, "not every value has a place in uint32"),
            ({"step": 1.5}, "not every value has a place in uint32"),
            ({"flags": [2, 0]}, "not every value has a place in bool"),
            ({"total": "many"}, "is no number"),
            ({"maybe.value": "other"}, "only numbers"),
            ({"cells": 1}, "write its parts, at, name"),
            ({"wide": -1}, "not every value has a place in u128"),
            ({"wides": [0.5, 1]}, "not every value has a place in i128"),
            ({"cells[1].mass.value": 1.0}, "only fields of structs"),
            ({"matrix[1]": 1.0}, r"has the shape \(4,\), not \(\)"),
        ]:
            with self.assertRaisesRegex(ckpt.Refused, words):
                checkpoint.write(values)
        self.assertEqual(checkpoint.path.read_bytes(), before)

    def test_what_others_build_on_is_not_written(self):
        folder = self.copy("incremental")
        base = ckpt.open(folder)[4]._index.files[0][0]
        with self.assertRaisesRegex(ckpt.Refused, "builds on it"):
            ckpt.open(folder)[base].write({"step": 0})
        with self.assertRaisesRegex(ckpt.Refused, "are in another checkpoint"):
            ckpt.open(folder)[4].write({"big": numpy.ones(200_000)})

    def test_nothing_is_written_while_a_job_uses_the_store(self):
        import fcntl

        folder = self.copy("whole")
        with open(folder / "lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with self.assertRaisesRegex(ckpt.Refused, "a job uses the store"):
                ckpt.open(folder)[4].write({"step": 0})

    def test_what_is_damaged_is_not_sealed(self):
        folder = self.copy("whole")
        path = folder / "000004.r0.h5"
        checkpoint = ckpt.open(folder)[4]
        at = next(one for one in checkpoint._index.datasets if one.path.endswith("cells/at"))
        data = bytearray(path.read_bytes())
        data[at.offset] ^= 1
        path.write_bytes(data)
        with self.assertRaises(ckpt.Damaged):
            checkpoint.write({"step": 0})
        self.assertEqual(path.read_bytes(), data)


@unittest.skipUnless("CKPT_READ_RANKS" in os.environ, "no store of several ranks is given")
class Ranks(unittest.TestCase):
    """A store of the program `mpi/programs/ring` with three ranks and whole files, taken at every step."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(shutil.copytree(os.environ["CKPT_READ_RANKS"], Path(folder.name) / "ranks"))
        self.store = ckpt.open(self.folder)

    def test_each_rank_has_its_own_values(self):
        first = self.store[1]
        self.assertEqual(list(first.ranks), [0, 1, 2])
        first.verify()
        for rank in first.ranks:
            own = first.rank(rank)
            self.assertEqual((own.run, own.visit, own.rank_number), (first.run, first.visit, rank))
            numpy.testing.assert_allclose(own["cells"], numpy.sin(numpy.arange(500) * 0.01 + rank), rtol=1e-14)
        self.assertEqual(list(self.store.runs), [first.run])
        with self.assertRaisesRegex(ckpt.NotFound, "rank 3 has no file"):
            first.rank(3)

    def passed_over(self, why):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            latest = self.store.latest
        self.assertIn("is passed over", str(said[0].message))
        self.assertIn(why, str(said[0].message))
        return latest.number

    def test_what_one_rank_lacks_no_rank_has(self):
        newest = self.store.latest.number
        self.store.latest._path_of_rank(2).unlink()
        self.assertEqual(self.passed_over("rank 2 has no file"), newest - 1)

    def test_damage_of_any_rank_is_found(self):
        latest = self.store.latest
        path = latest._path_of_rank(1)
        data = bytearray(path.read_bytes())
        at = next(one for one in latest.rank(1)._index.datasets if one.path.endswith("/cells"))
        place = at.offset if at.extents is None else at.extents[0].offset
        data[place] ^= 1
        path.write_bytes(data)
        with self.assertRaisesRegex(ckpt.Damaged, "r1.h5.*cells"):
            latest.verify()
        path.write_bytes(data[:-1])
        self.assertEqual(self.passed_over("r1.h5"), latest.number - 1)

    def test_each_rank_is_written_by_itself(self):
        number = self.store.latest.number
        for rank in range(3):
            self.store[number].rank(rank).write({"cells": numpy.zeros(500)})
        self.store.latest.verify()
        self.assertEqual(self.store.latest.number, number)
        self.assertFalse(list(self.folder.glob(".*")))
        keep = os.environ.get("CKPT_READ_WRITTEN")
        if keep:
            shutil.copytree(self.folder, Path(keep) / "ranks")


if __name__ == "__main__":
    unittest.main()
