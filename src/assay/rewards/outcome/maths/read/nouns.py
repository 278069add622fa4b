"""What may be counted: the closed table of nouns, and of the words that may stand before them.

After a number, a phrase is one of three things. *Listed*: all its words are in these tables, with
a noun at the end, or at the end of what stands before `of`; it says what is counted and changes
nothing. *Unlisted*: its noun is a plural that the tables do not have; it agrees with the same
phrase, and a reference so written is met by the bare number, but an answer that adds it to a
number is refused, since the word might be a verb or a part. *Unread*: everything else.
"""

from __future__ import annotations

from typing import Final

from assay.rewards.outcome.maths.limits import UnreadableAnswer

_NOUNS: Final = frozenset(
    # Of mathematics.
    """
    angle arc area arrangement asymptote axis base box case cell chord circle circuit
    coefficient column combination component condition cone configuration constant coordinate
    corner cube curve cycle cylinder decimal derivative diagonal diameter digit dimension
    direction distribution divisor edge element ellipse entry equation event exponent expression
    extremum face factor figure formula fraction function graph grid group hexagon hyperbola
    hypotenuse inequality inflection integer intersection interval leg letter line loop map
    matrix maximum median minimum mode move node number octagon operation order ordering
    orientation outcome pair parabola parallelogram parameter partition path pattern pentagon
    permutation place plane point polygon polyhedron polynomial position possibility prime prism
    pyramid quadrilateral quadruple quotient radius rectangle reflection region remainder
    residue rhombus root rotation route row sector segment semicircle sequence set side sign
    slope solution sphere square statement step string subgroup subinterval subset sum surface
    symmetry tangent term tetrahedron tile tiling torus trapezoid tree triangle triple tuple
    unit value variable vector vertex walk way word zero
    """.split()
    # Of word problems: people and beings.
    + """
    actor adult animal ant antelope artist athlete baby bacterium baker bear beaver bee beetle
    bird boy bride brother bug bull bunny butterfly camel candidate captain cat caterpillar
    chick chicken child citizen client coach colleague contestant cook couple cousin cow crab
    creature crew cricket crow customer dancer daughter deer dentist dinosaur doctor dog dolphin
    donkey dragon driver duck duckling eagle elephant elf employee engineer family fan farmer
    father female firefighter fish fisherman fly follower fox friend frog gentleman giraffe girl
    goat goldfish goose gorilla grandchild guard guest gymnast hamster hen hero hiker horse
    hunter infant insect instructor invitee jogger judge juror kid king kitten knight lady lamb
    leader lion lizard male man manager marathoner mare member monkey mother mouse musician
    neighbor neighbour nephew niece nurse owl ox panda parent parrot participant partner
    passenger patient penguin person pet pig pigeon pilot pirate player politician pony prisoner
    professor pupil puppy queen rabbit raccoon rat reader resident rider robot rooster runner
    sailor salesman scientist scout senator sheep shopper shrimp singer sister skater snail
    snake soldier son spectator spider squirrel starfish student subscriber survivor swan
    swimmer teacher teammate teen teenager tiger tourist traveler traveller troll turkey turtle
    twin user vendor viewer villager visitor volunteer voter waiter whale winner witch wolf
    woman worker worm zebra
    """.split()
    # Things, food, places and events.
    + """
    account acorn airplane album almond apartment appetizer apple apricot arrow article
    assignment avocado award bag bagel ball balloon banana band banner bar barrel baseball
    basket basketball bat bath battery bead beaker bean bed bell bench berry bicycle bike bill
    biscuit bit blade blanket block blouse board boat bone book bookcase bookmark bookshelf boot
    bottle bottlecap bouquet bow bowl bowling bracelet branch bread breadstick brick bridge
    broom brownie brush bucket building bulb bun bundle burger burrito bus bush button byte
    cabin cabinet cake calf call can candle candy cantaloupe cap car card carnation carriage
    carrot cart carton cashew castle cd cent chain chair championship channel chapter cherry
    chestnut chip chocolate church cigar class classroom clip clock cloth club coat coconut coin
    comic commercial computer container contract cookie cord cottage couch coupon course crate
    crayon cream croissant crop cucumber cup cupcake curtain cushion dart date deck deposit desk
    dessert diamond dice die dime dinner dish dog doll dollar dollhouse donut door dot doughnut
    drawer drawing dress drill drink drop drum dvd earring egg email enchilada envelope episode
    eraser error essay exam exercise experiment farm fence ferry festival field file film flag
    flight floor flower folder football fork frame fruit gadget gallon game garage garden
    garment gate gem gift glass glove goal grape grapefruit guitar gumball gumdrop hair hairband
    haircut hamburger hammer handkerchief handshake hat hay headband helmet hole holiday home
    honeycomb hospital hotdog hotel house hurdle icicle icing image ingredient inning instrument
    invitation island item jacket jar jellybean jewel job joke journal journey jug juice jump
    key keyboard keychain kite knife knot ladder lake lamp lap laptop lawn leaf league lecture
    lego lemon lemonade lesson lettuce level library lid light lightbulb lily lime list load
    loaf lock log lollipop loss lot lunch lunchbox machine magazine maggot magnet mango marathon
    marble mark marker market mask mast mat match meal meatball medal medicine meeting melon
    message milk milkshake mirror mission mistake model mountain movie muffin mug mushroom nail
    name napkin necklace nectarine needle neighborhood nest net newspaper nickel night note
    notebook novel nut object office olive onion orange orchard orchid outfit oven oyster pack
    package packet pad page painting palm pan pancake panel paper paperclip parcel park parking
    party pass password pastry patch payment pea peach peanut pear pearl pebble pen pencil penny
    pepper peppermint period petal phone photo photograph piano piccolo picture pie piece pier
    pill pillow pine pineapple pipe pizza plan planet plant plate platform play playground plot
    plum pocket poem pole pond pool pop popsicle portion postcard poster pot potato present
    pretzel print prize problem product program project puddle pumpkin purse puzzle question
    quilt quiz race rack radish raffle raisin raspberry ream receipt recipe record refund rental
    report reservation response restaurant ribbon rice ring river road rock roll roof room rope
    rose round rug ruler run sachet salad sale sample sandal sandwich saucer sausage scarf
    school scoop scooter score screen screw sculpture seashell seat seed selfie semester
    sentence server serving session shade sharpie sheet shelf shell ship shirt shoe shop shot
    shovel show sibling sink site skirt sleeve slice smoothie snack snowball snowflake snowman
    soap sock soda sofa song soup space spoon spot sprinkle stair stamp star state station stem
    stick sticker stitch stocking stone stop store storm story strawberry street stripe subject
    suit suitcase sunflower survey sweater sweet swing table taco tank tape target task taxi
    team test text textbook theater thing ticket tie time tire toast toilet token tomato tool
    tooth toothbrush toothpick top towel tower town toy track tractor trailer train trampoline
    treat trial trick trip trophy truck trunk try tub tube tulip turn tv umbrella uniform van
    vase vegetable vehicle video village violin visit vote wagon wall wallet walnut wand washer
    watch watermelon wave website wedding weed weight wheel whistle win window wing wire wreath
    yarn yo-yo yogurt zone zoo
    """.split()
    # Measures that are counted rather than converted.
    + """
    batch beat block bunch bushel century coin couple decade dose edition generation heartbeat lap
    minute night page peso point ruble rupee season second share shift stroke sweep tablespoon
    teaspoon term tick weekday weekend workday yen yuan
    """.split()
)
_IRREGULAR: Final = {
    "axes": "axis", "bacteria": "bacterium", "calves": "calf", "children": "child",
    "dice": "die", "elves": "elf", "extrema": "extremum", "feet": "foot", "fishermen": "fisherman",
    "geese": "goose", "gentlemen": "gentleman", "grandchildren": "grandchild", "knives": "knife",
    "leaves": "leaf", "loaves": "loaf", "matrices": "matrix", "maxima": "maximum", "men": "man",
    "mice": "mouse", "minima": "minimum", "oxen": "ox", "people": "person", "persons": "person",
    "polyhedra": "polyhedron", "radii": "radius", "salesmen": "salesman", "scarves": "scarf",
    "shelves": "shelf", "snowmen": "snowman", "teeth": "tooth", "tetrahedra": "tetrahedron",
    "vertices": "vertex", "wolves": "wolf", "women": "woman",
}  # fmt: skip
"""Plurals that no rule makes."""
_UNCHANGED: Final = frozenset("deer fish goldfish hay rice sheep shrimp yuan yen".split())
"""Nouns whose plural is the singular."""
_MODIFIERS: Final = frozenset(
    """
    acute additional adjacent adult big black blue bright brown cheap chocolate clean cold
    common complete complex congruent consecutive content correct cubic dark different digital
    distinct distinguishable drawn dry empty equal equivalent even excellent extra false female
    five-digit foreign four-digit fresh frozen full fun glass gold golden good gray green grey
    healthy heavy high hot identical independent indistinguishable integer integral invertible
    irrational isosceles large large-size light linear little local long loose lucky male
    maximal medium metal minimal narrow new non-congruent non-empty non-isomorphic noncongruent
    nonempty nonzero obtuse odd old open orange ordered original outer paper parallel perfect
    perpendicular pink plain plastic positive possible prime purple rational ready-made real red
    regular rich right ripe rotten round scalene separate sharp shiny short silver similar
    simple single small solid spare special sq square such sweet tall thick thin three-digit tiny
    total two-digit unique unordered unused used valid vertical violet warm wet white whole wide
    wild wooden working yellow young
    """.split()
)
_PARTS: Final = frozenset(
    "halves half third thirds quarter quarters fourth fourths times tens hundreds thousands "
    "millions billions trillions dozens scores ones twos threes fours fives negatives inverses "
    "opposites doubles triples reciprocals fails works loses remains exceeds equals".split()
)
"""Words that look like plurals of things and change the number, or say something of it."""
TRAILING: Final = (
    "in total", "in all", "left", "total", "altogether", "each", "old", "exactly", "only",
    "overall", "of them", "of these", "is the answer", "(the only solution)", "as the answer",
)  # fmt: skip
"""What may stand after the noun, or after a unit."""
LISTED: Final = "noun:"
UNLISTED: Final = "word:"


def counted_noun(phrase: str, *, one: bool = False) -> str:
    """The unit's name for what a phrase counts, in one spelling; raises UnreadableAnswer.

    The noun is in the plural, unless there is `one`: `5 cube` and `5 maximum` say something else.
    """
    words = [word.strip(".,()") for word in phrase.lower().replace("(s)", "").split()]
    head, _, rest = " ".join(words).partition(" of ")
    if not words or len(words) > 6 or not all(map(_is_word, words)):
        raise UnreadableAnswer(f"{phrase!r} after a value")
    if words == ["times"]:
        return f"{LISTED}time"
    counted, _, each = head.partition(" per ")
    if each and not rest and _is_counted(counted) and _is_counted(each, one=True):
        return f"{LISTED}{singular(counted)} per {singular(each)}"
    if _is_counted(head, one=one) and (not rest or rest in _SUBSTANCES or _is_counted(rest)):
        return LISTED + " ".join(singular(word) for word in words)
    if rest or not _is_plural(words[-1]) or not all(map(_may_stand_before, words[:-1])):
        raise UnreadableAnswer(f"{phrase!r} after a value")
    return UNLISTED + " ".join(singular(word) for word in words)


_SUBSTANCES: Final = frozenset(
    "bread candy cheese chocolate coffee cream flour fruit gold gum hay ice juice lemonade meat "
    "milk paint paper pizza popcorn rice salt sand soup sugar tape tea water wood work".split()
)


def without_trailing(phrase: str) -> str:
    """The phrase without `left`, `in total` and the like at its end; `units^2` as it is said."""
    for words in TRAILING:
        if phrase == words and words != "old":
            return ""
        phrase = phrase.removesuffix(f" {words}")
    for power, word in (("^2", "square"), ("^3", "cubic")):
        if phrase in (f"units {power}", f"units{power}", f"unit{power}"):
            return f"{word} units"
    return phrase


def singular(word: str) -> str:
    """The word in the singular, by the rules of English spelling."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _NOUNS or not word.endswith("s"):
        return word
    for ending, replacement in (("ies", "y"), ("es", ""), ("s", "")):
        stem = word.removesuffix(ending) + replacement
        if word.endswith(ending) and stem in _NOUNS:
            return stem
    return word[:-1]


def is_listed(word: str) -> bool:
    """Whether one word is a noun in the plural that the tables have."""
    return _is_counted(word.lower()) if word.isalpha() else False


def is_unlisted(unit: tuple[tuple[str, int], ...]) -> bool:
    """Whether the unit is a noun that the tables do not have."""
    return any(name.startswith(UNLISTED) for name, _ in unit)


def same_noun(left: tuple[tuple[str, int], ...], right: tuple[tuple[str, int], ...]) -> bool:
    """Whether two listed phrases count the same: one may say more of it than the other."""
    words = [
        frozenset(unit[0][0].removeprefix(LISTED).split())
        for unit in (left, right)
        if len(unit) == 1 and unit[0][0].startswith(LISTED)
    ]
    return len(words) == 2 and (words[0] <= words[1] or words[1] <= words[0])


def _is_counted(phrase: str, *, one: bool = False) -> bool:
    *before, noun = phrase.split()
    known = noun not in _PARTS and singular(noun) in _NOUNS
    counted = one or noun in _UNCHANGED or singular(noun) != noun
    return known and counted and all(map(_may_stand_before, before))


def _is_word(word: str) -> bool:
    return word.replace("-", "").replace("'", "").isalpha() and word.isascii()


def _is_plural(word: str) -> bool:
    parts = word in _PARTS or word.endswith(("ths", "ss", "us", "is", "'s"))
    return word.endswith("s") and len(word) > 3 and not parts


def _may_stand_before(word: str) -> bool:
    return word in _MODIFIERS or singular(word) in _NOUNS
