# ruff: noqa: E501 - tables
"""The words of passports: colours, hair, hats, garments, animals, and what each means to the brush."""

from __future__ import annotations

from animastor.workers.storyboard.colour import RGB, rgb

SKINS = tuple(map(rgb, ("#f8dcc8", "#f3c9a8", "#e8b48c", "#d69a70", "#b0764e", "#7d4f38")))

COLOURS: dict[str, RGB] = {
    word: rgb(code)
    for word, code in {
        "red": "#c63d36", "scarlet": "#d2392f", "crimson": "#a82a3c", "maroon": "#7a2e36", "rust": "#b25a34",
        "orange": "#df7f32", "amber": "#d9982f", "yellow": "#f0bf3a", "gold": "#d9ac3e", "golden": "#d9ac3e",
        "mustard": "#c79a34", "cream": "#efe4cb", "white": "#f0ece4", "ivory": "#efe8d8", "beige": "#d8c4a2",
        "green": "#4f8a52", "olive": "#7c8145", "emerald": "#2f8a66", "mint": "#9bceb0", "teal": "#2f7f80",
        "turquoise": "#3fa3a5", "blue": "#3f6fb0", "navy": "#2c3c66", "sky": "#86b8dd", "indigo": "#3f4386",
        "purple": "#74529a", "violet": "#7a5bb0", "plum": "#7d3f6b", "lavender": "#b3a2d6", "lilac": "#b79bd0",
        "pink": "#dd8ea4", "rose": "#d0738a", "brown": "#7d5437", "tan": "#c19a6b", "chestnut": "#8a4b30",
        "leather": "#7d5437", "tweed": "#8a7b62", "black": "#33323d", "charcoal": "#484853", "grey": "#8d9097",
        "gray": "#8d9097", "silver": "#b8bcc4", "dark": "#3a3c4c", "pale": "#e3dccb", "copper": "#b8663a",
    }.items()
}  # fmt: skip

HAIR_COLOURS: dict[str, RGB] = {
    word: rgb(code)
    for word, code in {
        "brown": "#6b4630", "black": "#2e2a33", "chestnut": "#7d4630", "blond": "#dcb565", "auburn": "#8f4327",
        "dark": "#3d2f2f", "blonde": "#dcb565", "fair": "#dcb565", "golden": "#d9a94a", "red": "#b9522c",
        "copper": "#c0602f", "ginger": "#cf7233", "grey": "#a3a3a6", "gray": "#a3a3a6", "silver": "#c6c8cc",
        "white": "#e9e6e0", "snowy": "#e9e6e0", "tabby": "#8d8a88", "orange": "#d0782f", "blue": "#4f6fb0",
        "green": "#4f8a62", "pink": "#d98aa8", "purple": "#7d5a9c",
    }.items()
}  # fmt: skip

HAIR_STYLES = (
    ("braid", "braids"), ("plait", "braids"), ("pigtail", "braids"), ("bun", "bun"), ("ponytail", "ponytail"),
    ("bald", "bald"), ("afro", "curly"), ("curl", "curly"), ("wavy", "long"), ("long[^,]*hair", "long"),
    ("bob", "bob"), ("tousled", "tousled"), ("messy", "tousled"), ("wild", "tousled"), ("spiky", "tousled"),
    ("short[^,]*hair", "short"), ("cropped", "short"), ("shaved", "bald"),
)  # fmt: skip

HATS = (
    ("sailor cap", "sailor"), ("captain's cap", "sailor"), ("peaked cap", "sailor"), ("beanie", "beanie"),
    ("woollen cap", "beanie"), ("knitted cap", "beanie"), ("wool hat", "beanie"), ("top hat", "top"), ("bowler", "bowler"),
    ("straw hat", "wide"), ("wide hat", "wide"), ("brimmed hat", "wide"), ("sou'wester", "wide"), ("pointed hat", "witch"),
    ("wizard", "witch"), ("crown", "crown"), ("tiara", "crown"), ("headscarf", "headscarf"), ("kerchief", "headscarf"),
    ("veil", "headscarf"), ("hijab", "headscarf"), ("hood", "hood"), ("helmet", "helmet"), ("cap", "cap"), ("beret", "beret"),
    ("turban", "turban"), ("hat", "bowler"),
)  # fmt: skip

GARMENTS = (
    ("raincoat", "coat"), ("overcoat", "coat"), ("coat", "coat"), ("cloak", "robe"), ("cape", "robe"), ("robe", "robe"),
    ("habit", "robe"), ("kimono", "robe"), ("gown", "dress"), ("dress", "dress"), ("frock", "dress"), ("skirt", "legs"),
    ("suit", "suit"), ("jacket", "suit"), ("waistcoat", "suit"), ("uniform", "suit"), ("jersey", "jersey"),
    ("sweater", "jersey"), ("jumper", "jersey"), ("cardigan", "jersey"), ("tunic", "shirt"), ("shirt", "shirt"),
    ("blouse", "shirt"), ("overalls", "shirt"), ("armou?r", "suit"), ("scarf", "scarf"), ("shawl", "shawl"),
    ("apron", "apron"), ("boots?", "shoes"), ("shoes?", "shoes"), ("slippers?", "shoes"), ("clogs?", "shoes"),
    ("trousers", "legs"), ("breeches", "legs"), ("jeans", "legs"), ("pants", "legs"), ("collar", "collar"),
)  # fmt: skip

ANIMALS = {
    "cat": "cat", "kitten": "cat", "tomcat": "cat", "dog": "dog", "puppy": "dog", "hound": "dog", "terrier": "dog",
    "fox": "fox", "vixen": "fox", "rabbit": "rabbit", "hare": "rabbit", "mouse": "mouse", "rat": "mouse", "bear": "bear",
    "wolf": "wolf", "bird": "bird", "crow": "bird", "raven": "bird", "gull": "bird", "seagull": "bird", "sparrow": "bird",
    "robin": "bird", "duck": "bird", "goose": "bird", "owl": "owl", "horse": "horse", "pony": "horse", "donkey": "horse",
    "goat": "goat", "frog": "frog", "toad": "frog", "dragon": "dragon",
}  # fmt: skip

GIRLS = frozenset(
    (
        "alice", "agnes", "amy", "ann", "anne", "beth", "betty", "carol", "catherine", "charlotte", "chloe", "claire",
        "daisy", "diane", "dorothy", "edith", "eleanor", "elizabeth", "ellen", "emily", "esther", "eve", "evelyn",
        "florence", "grace", "harriet", "hazel", "helen", "irene", "iris", "isabel", "ivy", "jane", "janet", "jean",
        "jill", "joan", "joy", "judith", "kate", "katherine", "lily", "lisbeth", "louise", "lucy", "mabel", "madeleine",
        "margaret", "marie", "mary", "may", "meg", "mildred", "millicent", "nancy", "nell", "phyllis", "polly", "rose",
        "rosemary", "ruby", "ruth", "sarah", "sophie", "sue", "susan", "violet", "winifred", "wren", "zoe",
    )
)  # fmt: skip
BOYS = frozenset(
    (
        "adam", "albert", "alexander", "alfred", "andrew", "arthur", "ben", "benjamin", "bertie", "bill", "bob",
        "charles", "charlie", "daniel", "david", "edward", "elijah", "eric", "ernest", "francis", "frank", "fred",
        "frederick", "george", "gilbert", "harold", "harry", "henry", "hugh", "isaac", "jack", "jacob", "james",
        "jeremy", "jim", "joe", "john", "jonah", "joseph", "joshua", "luca", "luke", "mark", "martin", "matthew",
        "michael", "mickey", "ned", "nicholas", "noah", "oliver", "oscar", "patrick", "paul", "peter", "philip",
        "ralph", "richard", "robert", "roger", "sam", "samuel", "simon", "stanley", "stephen", "ted", "thomas", "tim",
        "tom", "walter", "will", "william",
    )
)  # fmt: skip
