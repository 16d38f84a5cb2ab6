"""Homes: cities as populous as the real ones, their postcodes and phone numbers.

The map is the same for every seed. Cities are real; their postcodes, area codes and streets
are made up.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from gramlink.lab.datasets.frequencies import Frequencies, Ints, bundled

_PEOPLE_A_POSTCODE = 5_000
_PEOPLE_AN_AREA_CODE = 750_000
_FIRST_POSTCODE = 501

_TREES = """
    OAK MAPLE CEDAR PINE ELM WALNUT WILLOW CHERRY HICKORY LAUREL MAGNOLIA DOGWOOD BIRCH ASPEN
    SYCAMORE CHESTNUT POPLAR SPRUCE HOLLY JUNIPER
"""
_SIGHTS = """
    RIVER LAKE SPRING FOX DEER EAGLE MEADOW SUNSET STONE ROCK SILVER GREEN CRYSTAL INDIAN
    PLEASANT FAIR SUMMER WINTER NORTH SOUTH EAST WEST HIDDEN QUAIL PHEASANT WINDING ROLLING
"""
_LAND = """
    HILL CREEK RIDGE VIEW VALLEY GROVE RUN HOLLOW BROOK FOREST GLEN MEADOWS POINT BEND TRACE
    BRANCH CROSSING BLUFF FIELD WOODS
"""
_PLAIN = """
    MAIN PARK WASHINGTON CHURCH HIGH MILL CENTER UNION RAILROAD SCHOOL MARKET COURT WATER LINCOLN
    JEFFERSON FRANKLIN MADISON MONROE JACKSON ADAMS LIBERTY STATE COLLEGE FRONT BROAD CENTRAL
    LOCUST VINE GRANT HIGHLAND PROSPECT LIBRARY DEPOT FERRY COUNTY LINE CANAL BRIDGE
"""
_KINDS = Frequencies.of(
    ["ST", "AVE", "RD", "DR", "LN", "CT", "WAY", "BLVD", "PL", "CIR", "TER", "PKWY"],
    [22, 15, 15, 15, 9, 7, 4, 4, 3, 3, 2, 1],
)
_LARGEST_NUMBERS = np.array([99, 999, 999, 4999, 9999])  # from a short street to a long one


@dataclass(frozen=True, slots=True, eq=False)
class _Map:
    """Cities, and the postcodes and area code of each."""

    cities: Frequencies
    first_postcode: Ints
    postcodes: Ints
    area_code: Ints


@cache
def _the_map() -> _Map:
    cities = bundled("cities.csv.gz")
    people = cities.counts
    # neighbours are drawn at random, so that large and small cities share a region
    order = np.random.default_rng(2000).permutation(len(people))
    postcodes = 1 + people // _PEOPLE_A_POSTCODE
    first, region = np.empty_like(people), np.empty_like(people)
    # each city is followed by as many free codes as it has: not every number is a postcode
    first[order] = _FIRST_POSTCODE + 2 * (np.cumsum(postcodes[order]) - postcodes[order])
    region[order] = np.cumsum(people[order]) // _PEOPLE_AN_AREA_CODE
    assigned = np.array([code for code in range(201, 990) if code % 100 != 11])
    return _Map(cities, first, postcodes, assigned[region])


@cache
def _streets() -> Frequencies:
    trees, sights, land, plain = (text.split() for text in (_TREES, _SIGHTS, _LAND, _PLAIN))
    pairs = [f"{first} {second}" for second in land for first in trees + sights]
    people = bundled("surnames.csv.gz").names[:500].to_list()
    ordinals = [f"{n}{_ending(n)}" for n in range(1, 100)]
    names = list(dict.fromkeys(plain + trees + ordinals + pairs + people))
    return Frequencies.of(names, [100_000 // (rank + 50) for rank in range(len(names))])


def _ending(number: int) -> str:
    if number in (11, 12, 13):
        return "TH"
    return {1: "ST", 2: "ND", 3: "RD"}.get(number % 10, "TH")


def homes(count: int, random: np.random.Generator) -> pl.DataFrame:
    """`count` homes, spread over cities by their population: street, city, postcode and phone.

    >>> homes(1, np.random.default_rng(1)).row(0)
    ('4752 CENTER ST', 'BOULDER', '91528', '4928583549')
    """
    world, streets = _the_map(), _streets()
    city = world.cities.draw(count, random)
    postcode = world.first_postcode[city] + random.integers(0, world.postcodes[city])
    number = 1 + random.integers(0, random.choice(_LARGEST_NUMBERS, count))
    parts = pl.DataFrame(
        {
            "number": number,
            "name": streets.names[streets.draw(count, random)],
            "kind": _KINDS.names[_KINDS.draw(count, random)],
            "city": world.cities.names[city],
            "postcode": postcode,
        }
    )
    return parts.select(
        street=pl.concat_str("number", "name", "kind", separator=" "),
        city="city",
        postcode=pl.col("postcode").cast(pl.String).str.zfill(5),
        phone=phones(pl.Series(world.area_code[city]).cast(pl.String), random),
    )


def phones(area_codes: pl.Series, random: np.random.Generator) -> pl.Series:
    """A phone number of ten digits under each area code.

    >>> phones(pl.Series(["212"]), np.random.default_rng(1)).to_list()
    ['2125785509']
    """
    numbers = random.integers(2_000_000, 10_000_000, len(area_codes))
    return area_codes + pl.Series(numbers).cast(pl.String)
