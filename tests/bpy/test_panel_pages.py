# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual's pages on the panels: they say what the tooltips say, leave nothing out, and have their pictures."""

import re
import struct
from pathlib import Path

import bpy
import panel_scenes
import pytest
import test_native_order
import write_panel_pages as writer
from panel_popovers import POPOVERS

ROOT = Path(__file__).resolve().parent.parent.parent
IMAGES = ROOT / "docs/images"
LARGEST = 150_000


def test_pages_are_what_the_add_on_says_now(empty_file):
    for path, text in writer.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run tools/write_panel_pages.py"


@pytest.mark.parametrize(
    ("page", "owner", "pointer"),
    [("body", "Object", "axion"), ("joint", "Object", "axion_joint"), ("world", "Scene", "axion")],
)
def test_every_setting_stands_on_its_page(page, owner, pointer):
    text = (writer.PAGES / f"{page}.md").read_text(encoding="utf-8")
    group = getattr(bpy.types, owner).bl_rna.properties[pointer].fixed_type
    hidden = {"rna_type", "name", "uuid", "overlays"} | (
        {"enabled"} if page == "body" else set()
    )  # the button above the panel
    nested = {p.identifier: p.fixed_type for p in group.properties if writer.is_group(p) and p.identifier not in hidden}
    wanted = {p.identifier for p in group.properties} - hidden - set(nested)
    for name, inner in nested.items():
        wanted |= {f"{name}.{p.identifier}" for p in inner.properties if p.identifier not in hidden}
    assert {name for name in wanted if f"`{owner}.{pointer}.{name}`" not in text} == set()


def test_every_operator_stands_in_the_manual():
    text = (writer.PAGES / "sidebar.md").read_text(encoding="utf-8")
    names = [name for name in dir(bpy.ops.axion) if not name.startswith("_")]
    assert names and {name for name in names if f"bpy.ops.axion.{name}(" not in text} == set()


def test_native_settings_without_a_place_are_named():
    text = (writer.PAGES / "native.md").read_text(encoding="utf-8")
    missing = {name.split()[0] for name in test_native_order.EXPLAINED | test_native_order.ELSEWHERE}
    assert {name for name in missing | {"kinematic", "breaking_threshold"} if f"`{name}`" not in text} == set()


@pytest.mark.parametrize("path", sorted((ROOT / "docs/panels").glob("*.md")), ids=lambda path: path.name)
def test_links_and_pictures_exist(path):
    for link in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / link).exists(), link


@pytest.mark.parametrize("picture", panel_scenes.PICTURES, ids=lambda picture: picture.name)
def test_pictures_are_there_small_and_shown(picture):
    check(IMAGES / f"panel_{picture.name}.png", 100)
    for name in picture.panels:
        assert hasattr(bpy.types, name), f"{name} is no panel"


@pytest.mark.parametrize("picture", [picture for _, picture in POPOVERS.values()])
def test_popovers_have_pictures_too(picture):
    check(IMAGES / picture, 60)


def check(path, lowest):
    """A picture is there, small, at least ``lowest`` pixels high, and a page shows it."""
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n" and len(content) < LARGEST
    width, height = struct.unpack(">II", content[16:24])
    assert width > 200 and height > lowest
    assert any(path.name in page.read_text(encoding="utf-8") for page in (ROOT / "docs/panels").glob("*.md"))


def test_every_panel_is_in_a_picture():
    shown = {name for picture in panel_scenes.PICTURES for name in picture.panels}
    panels = {name for name in dir(bpy.types) if name.startswith("AXION_PT_")}
    assert panels - shown == set(POPOVERS)
