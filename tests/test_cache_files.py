# SPDX-License-Identifier: GPL-3.0-or-later
"""Caches that are not as they were written: refused with a sentence, never executed, never half read."""

import dataclasses
import errno
import json
import os
import pickle
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from axion.axion_blender.cache import Cache, CacheError, files, frames
from axion.axion_blender.cache.errors import DamagedError, ForeignError, NewerError, writing_failed
from axion.axion_blender.cache.inputs import inputs_of
from axion.solver import simulate
from cached import CPU, assert_same, bake, first_to_solve, small_files
from scenes import pile

FILES = ("head", "000001-000003.frames", "000004-000006.frames", "000007-000009.frames")
posix = pytest.mark.skipif(os.name == "nt", reason="needs /dev/full")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a folder that even root cannot write")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A folder with a cache of 9 frames, three a file; copy it."""
    folder = tmp_path_factory.mktemp("good")
    with pytest.MonkeyPatch.context() as patch:
        small_files(patch)
        bake(folder, pile(2), 9)
    (folder / "lock").unlink()
    return folder


@pytest.fixture
def folder(good, tmp_path):
    shutil.copytree(good, tmp_path / "cache")
    return tmp_path / "cache"


def look(folder):
    """What a bake of these 9 frames would find."""
    return Cache(folder).find(inputs_of(pile(2), 24.0, CPU), 9, pile(2))


def rewrite(path, change):
    """Change the JSON of a file and give it the right checksum again, as no accident could."""
    data = path.read_bytes()
    _, form, text, end, _ = files.PREFIX.unpack_from(data)
    tree = json.loads(data[files.PREFIX.size :][:text])
    arrays = data[files.PREFIX.size + text :]
    form = change(tree) or form
    text = json.dumps(tree).encode()
    digest = files._digest(form, len(text), end, text + arrays)
    path.write_bytes(files.PREFIX.pack(files.MAGIC, form, len(text), end, digest) + text + arrays)


@pytest.mark.parametrize("dtype", files.TYPES)
def test_arrays_come_back_bit_for_bit(tmp_path, dtype):
    values = np.arange(-12, 12).reshape(2, 3, 4)[:, ::-1].astype(dtype)
    given = {"a": values, "b": np.asfortranarray(values[0]), "none": values[:0], "one": np.array(values[0, 0, 0])}
    digest = files.write(tmp_path / "file", "kind", {"text": "Wörfel \ud800", "inf": float("inf")}, given)
    header, found, again = files.read(tmp_path / "file", "kind")
    assert header == {"text": "Wörfel \ud800", "inf": float("inf")} and digest == again
    for name, wanted in given.items():
        assert found[name].dtype == dtype and np.array_equal(found[name], wanted) and found[name].shape == wanted.shape


@dataclasses.dataclass
class Part:
    names: list[str]
    few: np.ndarray
    same: np.ndarray


@dataclasses.dataclass
class Whole:
    frame: int
    number: float
    part: Part | None = None
    other: Part | None = None


@pytest.mark.parametrize("sizes", [(2, 0, 3), (1, 1, 1)], ids=("of different length", "alike"))
def test_columns_of_dataclasses_come_back(sizes):
    values = [
        Whole(k, 0.5 * k, Part(["a", "ü"], np.arange(3.0 * n).reshape(n, 3), np.array([k, 2])))
        for k, n in enumerate(sizes)
    ]
    arrays, texts = {}, {}
    frames._pack_fields(Whole, "x", values, arrays, texts)
    assert len(texts["x.part.names"]) == 1 and all(isinstance(entry, np.ndarray) for entry in arrays.values())
    columns = frames._columns(Whole, "x", len(sizes), arrays, json.loads(json.dumps(texts)))
    assert columns.keys() == {"number", "part"} and list(columns["number"]) == [0.0, 0.5, 1.0]
    for part, value in zip(columns["part"], values, strict=True):
        assert part.names == ["a", "ü"] and np.array_equal(part.few, value.part.few)
        assert np.array_equal(part.same, value.part.same) and part.few.shape == value.part.few.shape


def test_objects_are_never_written(tmp_path):
    with pytest.raises(TypeError, match="cannot keep"):
        files.write(tmp_path / "file", "kind", {}, {"a": np.array([{}], object)})
    assert list(tmp_path.iterdir()) == []


def spots(path):
    """A byte of each kind in a file: (name, place)."""
    data = path.read_bytes()
    _, _, text, end, _ = files.PREFIX.unpack_from(data)
    head = files.PREFIX.size
    arrays = {"first array": head + text, "last array": head + text + end - 1} if end else {}
    fixed = {"magic": 3, "format": 16, "length of the header": 20, "length of the arrays": 24, "digest": 40}
    return {**fixed, "JSON": head + text // 2, **arrays}


@pytest.mark.parametrize("name", FILES)
def test_one_wrong_byte_anywhere_is_seen(folder, name):
    path = folder / name
    data = path.read_bytes()
    before = 3 * (FILES.index(name) - 1)
    for spot, place in spots(path).items():
        broken = bytearray(data)
        broken[place] ^= 0x04
        path.write_bytes(broken)
        if spot == "magic":  # may be anybody's file, so nobody's is replaced
            with pytest.raises(ForeignError, match="no file of an Axion cache"):
                look(folder)
            continue
        found = look(folder)
        assert len(found.results) == max(before, 0) and len(found.notes) == 1, spot
        assert str(path) in found.notes[0] and ("damaged" in found.notes[0] or "no file" in found.notes[0])


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_off_or_too_long_is_seen(folder, name):
    path = folder / name
    data = path.read_bytes()
    for length in (0, 1, 15, 16, 63, 64, 200, len(data) // 2, len(data) - 1, len(data) + 1):
        path.write_bytes((data + b"\0")[:length])
        found = look(folder)
        assert len(found.results) == max(0, 3 * (FILES.index(name) - 1)) and len(found.notes) == 1


@pytest.mark.parametrize("name", FILES[1:])
def test_a_missing_file_ends_what_is_found(folder, name):
    (folder / name).unlink()
    assert len(look(folder).results) == 3 * (FILES.index(name) - 1)


def test_frames_of_another_bake_do_not_fit(folder, tmp_path, monkeypatch):
    small_files(monkeypatch)
    own = (folder / FILES[2]).read_bytes()
    (folder / FILES[2]).write_bytes((folder / FILES[1]).read_bytes())
    assert len(look(folder).results) == 3, "a file under another's name"
    bake(tmp_path / "other", pile(2), 9)
    shutil.copy(tmp_path / "other" / FILES[2], folder)
    found = look(folder)
    assert len(found.results) == 3 and "belongs to another bake" in found.notes[0]
    (folder / FILES[2]).write_bytes(own)
    assert len(look(folder).results) == 9


def test_the_bake_goes_on_before_the_damage_and_ends_with_the_same_bits(folder, monkeypatch):
    small_files(monkeypatch)
    path = folder / FILES[2]
    path.write_bytes(path.read_bytes()[:-1])
    mended = bake(folder, pile(2), 9)
    assert mended.found == [1, 2, 3] and mended.solved == [4, 5, 6, 7, 8, 9]
    assert len(mended.warned) == 1 and mended.warned[0].endswith("goes on from the frames before it")
    assert_same(mended.trajectory, simulate(pile(2), 9, config=CPU))
    assert first_to_solve(folder, pile(2), 9) == 10


def test_a_damaged_head_begins_anew(folder):
    path = folder / "head"
    path.write_bytes(path.read_bytes()[:-1])
    anew = bake(folder, pile(2), 2)
    assert anew.solved == [1, 2] and anew.warned[0].endswith("begins at the first frame")
    assert first_to_solve(folder, pile(2), 2) == 3 and not (folder / FILES[2]).exists()


@pytest.mark.parametrize(
    "content", [b"somebody's notes", pickle.dumps(print), b"PK\x03\x04" + bytes(80)], ids=("text", "pickle", "zip")
)
def test_a_foreign_head_is_refused_and_kept(folder, content):
    (folder / "head").write_bytes(content)
    for resume in (True, False):
        with pytest.raises(CacheError, match="no file of an Axion cache: move it away"):
            bake(folder, pile(2), 9, resume=resume)
    assert (folder / "head").read_bytes() == content and (folder / FILES[1]).exists()


def test_a_newer_cache_is_refused_and_kept(folder):
    rewrite(folder / "head", lambda tree: files.FORMAT + 1)
    before = (folder / "head").read_bytes()
    with pytest.raises(NewerError, match="newer version of Axion .format 2, this one reads 1.: update Axion"):
        bake(folder, pile(2), 9)
    assert (folder / "head").read_bytes() == before


def twist(value, random):
    """A value of JSON that is something else now."""
    others = [None, -1, 10**30, 1e400, "x", [], {}, True, [[]], "../../x", -0.5]
    if isinstance(value, dict) and value and random.random() < 0.8:
        key = random.choice(sorted(value))
        value[key] = twist(value[key], random)
        return value
    if isinstance(value, list) and value and random.random() < 0.8:
        index = random.integers(len(value))
        value[index] = twist(value[index], random)
        return value
    return others[random.integers(len(others))]


def test_two_hundred_fuzzed_caches_are_refused_or_read_but_never_crash(good, tmp_path):
    """Half with random bytes; half with a right checksum over wrong content, which only somebody's hand can make."""
    truth = [result.position for result in look(good).results]
    random, refused = np.random.default_rng(1), 0
    for number in range(200):
        folder = tmp_path / str(number)
        shutil.copytree(good, folder)
        path = folder / FILES[random.integers(len(FILES))]
        if number % 2:
            rewrite(path, lambda tree: twist(tree, random) and None)
        else:
            data = bytearray(path.read_bytes())
            for _ in range(random.integers(1, 20)):
                data[random.integers(len(data))] = random.integers(256)
            path.write_bytes(data[: random.integers(len(data))] if random.random() < 0.3 else data)
        try:
            found = look(folder)
        except (ForeignError, NewerError, DamagedError) as error:
            assert str(path) in str(error)
            refused += 1
            continue
        refused += bool(found.notes)
        assert len(found.results) in (0, 3, 6, 9)
        if number % 2 == 0:
            assert all(np.array_equal(r.position, p) for r, p in zip(found.results, truth, strict=False))
        for result in found.results:
            assert result.position.shape == (3, 3) and result.position.dtype == float
        shutil.rmtree(folder)
    assert refused > 150


def test_a_checkpoint_that_does_not_fit_is_a_sentence(folder, monkeypatch):
    small_files(monkeypatch)

    def other(tree):
        tree["arrays"]["checkpoint.state.position"][1] = [2, 3]

    rewrite(folder / FILES[3], other)
    with pytest.raises(CacheError, match="holds what Axion did not write .state.position .* free it"):
        bake(folder, pile(2), 12)


def test_a_start_that_does_not_fit_is_a_sentence(folder):
    def other(tree):
        tree["arrays"]["checkpoint.start.position"][1] = [2, 3]

    rewrite(folder / FILES[3], other)
    with pytest.raises(CacheError, match="holds what Axion did not write .* free it"):
        bake(folder, pile(2), 9)


def test_a_refusal_names_both_that_it_may_mean(tmp_path):
    text = str(writing_failed(tmp_path, PermissionError(errno.EACCES, "Permission denied")))
    assert "it is read-only, or another program has a file of it open: close that program, choose another" in text


@posix
def test_a_full_disk_is_one_sentence_and_loses_nothing(folder, monkeypatch):
    small_files(monkeypatch)
    beside = folder / f".000010-000012.frames.{os.getpid()}.tmp"

    def fill(result):
        if result.frame == 12:
            beside.symlink_to("/dev/full")  # the system itself says that there is no space

    with pytest.raises(CacheError) as caught:
        bake(folder, pile(2), 15, simulate=during(fill))
    assert str(caught.value) == (
        f"The cache folder {folder} cannot be written, the disk is full: free some space and bake again, which goes on"
        " from the frames already kept"
    )
    assert not os.path.lexists(beside) and json.loads((folder / "progress.json").read_bytes())["phase"] == "failed"
    assert first_to_solve(folder, pile(2), 15) == 10


def during(act):
    """simulate that calls ``act`` with each FrameResult first."""

    def solve(scene, frames, fps, config, on_frame, **more):
        def both(result):
            act(result)
            return on_frame(result)

        return simulate(scene, frames, fps=fps, config=config, on_frame=both, **more)

    return solve


@linux
@pytest.mark.parametrize("folder", [Path("/proc/sys/axion/cache"), Path("/sys/axion/cache")], ids=str)
def test_a_folder_that_cannot_be_written_is_one_sentence_before_anything_is_solved(folder):
    with pytest.raises(CacheError, match=f"The cache folder {folder} cannot be written, .*choose another Cache Folder"):
        bake(folder, pile(2), 3, simulate=lambda *given, **named: pytest.fail("the solver ran"))


def test_a_file_in_the_place_of_the_folder_is_one_sentence(tmp_path):
    (tmp_path / "cache").write_text("mine")
    for folder in (tmp_path / "cache", tmp_path / "cache" / "one"):
        with pytest.raises(CacheError, match="cannot be written"):
            bake(folder, pile(2), 3)
    assert (tmp_path / "cache").read_text() == "mine"


def test_what_a_killed_bake_left_half_written_goes(folder):
    left = folder / ".000010-000012.frames.123.tmp"
    left.write_bytes(b"half")
    (folder / ".keep").write_text("mine")
    assert first_to_solve(folder, pile(2), 9) == 10
    assert not left.exists() and (folder / ".keep").exists()
