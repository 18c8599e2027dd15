"""Makes formulas.woff2 of Latin Modern Math: python3 subset.py latinmodern-math.otf (needs fonttools and brotli).

The font is for devices without a font for formulas, such as those with Android. It has the characters that Temml writes for
common TeX, their larger forms, and the table MATH, without which browsers do not stretch brackets and roots. Rare signs are left
out: each kilobyte of the font is one of the deployed function.
"""

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

CHARACTERS = """
20-7E A0 B1 B7 D7 F7 131 237 302-30C 332 338 391-3A9 3B1-3C9 3D5 3F5 2016 2026 2032-2034 2057 2061-2064 20D7 2102 210B 210D-210F 2110-2113
2115 2119 211A 211B 211D 2124 212C 2130 2131 2133 2190-2194 21A6 21CC 21D0-21D4 2200-2203 2205 2207-2209 220B 220F-2213 2216-221E 2220
2223-222E 2234 2235 223C 2243 2245 2248 2260 2261 2264 2265 226A 226B 2282-2287 2295 2297 22A2 22A4 22A5 22C5 22EE-22F1 2308-230B 2320
2321 239B-23AE 23DC-23DF 27E8 27E9 27F5-27FA 2A7D 2A7E 1D400-1D467 1D49C-1D4B5 1D538-1D550 1D6E2-1D71B
""".split()

PRIMES = range(0x2032, 0x2038)


def lower_primes(font):
    """Maps primes to their forms for small sizes: browsers raise a prime already, and Chromium does not look for those forms."""
    forms = {}
    for lookup in font["GSUB"].table.LookupList.Lookup:
        for subtable in lookup.SubTable:
            forms.update(getattr(subtable, "alternates", {}))
    for table in font["cmap"].tables:
        for code in PRIMES:
            if table.cmap.get(code) in forms:
                table.cmap[code] = forms[table.cmap[code]][0]


font = TTFont(sys.argv[1])
lower_primes(font)
options = subset.Options(flavor="woff2", hinting=False, desubroutinize=True, layout_features=[], name_IDs=[0, 5, 13])
subsetter = subset.Subsetter(options)
bounds = [[int(bound, 16) for bound in part.split("-")] for part in CHARACTERS]
subsetter.populate(unicodes=[code for bound in bounds for code in range(bound[0], bound[-1] + 1)])
subsetter.subset(font)
# The licence wishes another name for what is made of the font.
font["CFF "].cff.fontNames = ["Formulas"]
font.flavor = "woff2"
font.save(Path(__file__).with_name("formulas.woff2"))
