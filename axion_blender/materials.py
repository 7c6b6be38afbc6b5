# SPDX-License-Identifier: GPL-3.0-or-later
"""What common materials weigh, how they slide and how they bounce, each figure with its source.  Knows no Blender.

A figure that no source was found for is called a typical value.

Friction is that of the material on itself, sliding and dry: the scene takes the geometric mean of two bodies'
coefficients, so the pair of one material gets exactly this.  Where only a pair with another material was measured, the
coefficient is the one that gives that pair its figure.  Bounciness depends on shape and speed as much as on the
material: the figures are those of balls, or blocks of rock, at some metres per second, on hard ground.  None stands
where no figure deserves to be copied; a preset leaves that setting alone.
"""

from dataclasses import dataclass

SOURCES = {
    "CRC": "CRC Handbook of Chemistry and Physics, Density of Various Solids (middle of the range)",
    "EN1991": "EN 1991-1-1, table A.4: steel, 77.0 to 78.5 kN/m3",
    "CollegePhysics": "OpenStax, College Physics for AP Courses, table 11.1: aluminium 2700, concrete 2300 to 3000",
    "ACI318": "ACI 318, 22.9.4.2: concrete against hardened concrete that was not roughened",
    "Serway": "Serway and Beichner, Physics for Scientists and Engineers, 5th edition, table 5.2, kinetic",
    "Hill": "S. A. Hill, Coefficients of Friction, howwhy.nfshost.com (2022), kinetic",
    "OpenStax": "Physics Fundamentals, appendix A (eCampusOntario Pressbooks), kinetic",
    "Barton": "Barton and Choubey, Rock Mechanics 10 (1977): basic friction angle of sawn granite, 31 to 35 degrees",
    "Factbook": "The Physics Factbook, Coefficients of Restitution (balls dropped on a hard floor)",
    "Wyllie": "D. C. Wyllie, Calibration of rock fall modeling parameters (2014): normal impacts on rock and concrete",
    "Alciatore": "D. G. Alciatore, billiards.colostate.edu, physical properties: ball on ball, 0.03 to 0.08",
    "WPA": "World Pool-Billiard Association, equipment specifications: 156 to 170 g, 57.15 mm",
    "ITF": "International Tennis Federation, rules of tennis: 56.0 to 59.4 g, 65.4 to 68.6 mm, over the whole ball",
    "typical": "a typical value, without a source",
}


@dataclass(frozen=True)
class Material:
    """One material.

    Attributes:
        label: name in menus.
        density: [kg/m^3].
        friction, restitution: coefficients, or None where there is no figure.
        sources: keys of SOURCES for density, friction, restitution, "" where there is no figure.
        remark: how a figure follows from its source where it is not simply read there.
    """

    label: str
    density: float
    friction: float | None
    restitution: float | None
    sources: tuple
    remark: str = ""

    def unknown(self):
        """Words for the settings that it has no figure for."""
        return [
            word for word, figure in (("friction", self.friction), ("bounciness", self.restitution)) if figure is None
        ]

    def description(self):
        """The figures in one line, for a menu's tooltip."""
        texts = [f"{self.density:g} kg/m3"]
        texts += [f"friction {self.friction:g}"] if self.friction is not None else []
        texts += [f"bounciness {self.restitution:g}"] if self.restitution is not None else []
        return f"{self.label} has " + ", ".join(texts)


MATERIALS = {
    "ALUMINIUM": Material("Aluminium", 2700.0, 0.4, None, ("CollegePhysics", "OpenStax", "")),
    "BILLIARD_BALL": Material("Billiard Ball", 1670.0, 0.06, 0.8, ("WPA", "Alciatore", "Factbook"), "0.163 kg"),
    "BRICK": Material("Brick", 1800.0, 0.4, 0.2, ("CRC", "typical", "Wyllie"), "bounciness as of rock"),
    "CONCRETE": Material("Concrete", 2400.0, 0.6, 0.2, ("CollegePhysics", "ACI318", "Wyllie"), "the usual mix"),
    "COPPER": Material("Copper", 8960.0, 0.23, None, ("typical", "Serway", ""), "0.36 on steel: 0.36^2 / 0.57"),
    "GLASS": Material("Glass", 2600.0, 0.4, 0.66, ("CRC", "Serway", "Factbook")),
    "ICE": Material("Ice", 917.0, 0.03, None, ("CRC", "Serway", "")),
    "PTFE": Material("PTFE", 2200.0, 0.04, None, ("typical", "Serway", "")),
    "RUBBER": Material("Rubber", 1100.0, 1.07, 0.83, ("typical", "Serway", "Factbook"), "0.8 on concrete: 0.8^2 / 0.6"),
    "STEEL": Material("Steel", 7850.0, 0.57, 0.6, ("EN1991", "Serway", "Factbook")),
    "STONE": Material("Stone (Granite)", 2700.0, 0.65, 0.2, ("CRC", "Barton", "Wyllie"), "tangent of 33 degrees"),
    "TENNIS_BALL": Material("Tennis Ball", 366.0, None, 0.71, ("ITF", "", "Factbook"), "57.7 g in 67 mm"),
    "WOOD_OAK": Material("Wood (Oak)", 750.0, 0.3, 0.6, ("CRC", "Hill", "Factbook")),
    "WOOD_PINE": Material("Wood (Pine)", 430.0, 0.3, 0.6, ("typical", "Hill", "Factbook")),
}
"""Identifier -> Material, in the order of the menus."""


def table():
    """The table of the manual, Markdown."""
    lines = [
        "| material | density [kg/m³] | friction | bounciness | sources | remark |",
        "|---|---|---|---|---|---|",
    ]
    for material in MATERIALS.values():
        figures = [material.density, material.friction, material.restitution]
        cells = ["–" if figure is None else f"{figure:g}" for figure in figures]
        sources = ", ".join(source or "–" for source in material.sources)
        lines.append(f"| {material.label} | {' | '.join(cells)} | {sources} | {material.remark} |")
    lines += ["", "| source | |", "|---|---|"]
    lines += [f"| {key} | {text} |" for key, text in SOURCES.items()]
    return "\n".join(lines)
