# ruff: noqa: E501 - one row of the tables is one meaning
"""What words mean to a picture: settings, times, weathers, moods, faces, gestures, things.

English in full; for other languages the commonest words of place and time, so that their books are not all set in
the same meadow. Scripts without spaces are searched as text, the others word by word.
"""

from __future__ import annotations

SETTINGS: dict[str, str] = {
    "harbour": "harbour harbor quay quayside dock docks wharf pier port marina jetty hafen puerto порт гавань пристань ميناء 港 波止場 码头",
    "sea": "sea ocean waves deep seas sailing aboard meer mer mar océan море океан بحر 海 海上 大海",
    "ship": "ship deck schooner galleon frigate steamer ferry schiff navire barco корабль سفينة 船",
    "beach": "beach shore sand seaside coast dunes strand plage playa берег пляж شاطئ 浜 海岸 沙滩",
    "lighthouse": "lighthouse leuchtturm phare faro маяк منارة 灯台 灯塔",
    "river": "river stream brook bridge bank creek ford ferryman fluss rivière río река мост نهر جسر 川 橋 河 桥",
    "lake": "lake pond lagoon marsh swamp see lac lago озеро بحيرة 湖 池",
    "forest": "forest wood woods trees grove jungle thicket pines clearing wald forêt bosque лес غابة 森 林 森林",
    "village": "village hamlet cottage cottages lane dorf aldea деревня село قرية 村 村庄",
    "town": "town city street streets square market avenue alley plaza shops stadt straße ville rue ciudad calle город улица площадь مدينة شارع سوق 町 街 都 城市 街道",
    "house": "house farmhouse porch doorstep farm mansion manor haus maison casa дом بيت 家 屋敷 房子",
    "garden": "garden orchard courtyard park lawn hedge garten jardin jardín сад парк حديقة 庭 公園 花园",
    "field": "field meadow fields hill hills pasture grass plain moor heath countryside feld wiese champ campo поле луг حقل 野 野原 丘 田 田野",
    "mountain": "mountain mountains peak cliff cliffs alps summit pass valley ridge berg montagne montaña гора горы جبل 山 峠 谷",
    "desert": "desert dune dunes oasis wüste désert desierto пустыня صحراء 砂漠 沙漠",
    "castle": "castle palace fortress tower keep ramparts court schloss burg château castillo замок дворец قصر قلعة 城 宮殿 城堡",
    "road": "road path track crossroads highway carriage coach journey weg chemin camino дорога طريق 道 旅 路",
    "station": "station platform train railway carriage bahnhof gare estación вокзал станция поезд محطة قطار 駅 列車 车站",
    "cave": "cave cavern tunnel mine grotto underground höhle grotte cueva пещера كهف 洞窟 洞",
    "church": "church chapel cathedral temple abbey cloister monastery kirche église iglesia церковь храм كنيسة مسجد 寺 神社 教会 庙",
    "graveyard": "graveyard cemetery churchyard tomb grave friedhof cimetière кладбище مقبرة 墓 墓地",
    "night sky": "space stars planet galaxy moon cosmos heavens 宇宙 星空",
    "kitchen": "kitchen stove oven pantry küche cuisine cocina кухня مطبخ 台所 厨房",
    "bedroom": "bedroom bed nursery attic chamber schlafzimmer chambre dormitorio спальня غرفة 寝室 卧室",
    "library": "library study bookshop books office archive desk bibliothek bibliothèque biblioteca библиотека кабинет مكتبة 図書館 書斎 书房",
    "hall": "hall ballroom throne lobby hotel theatre theater court saal зал قاعة 広間 大厅",
    "parlour": "room parlour parlor living sitting drawing salon lounge inn tavern pub café cafe restaurant shop workshop school classroom zimmer salle sala комната трактир مقهى 部屋 居間 店 房间 学校",
    "cellar": "cellar dungeon basement prison cell vault keller cave à vin sótano подвал тюрьма سجن 地下室 牢",
}  # fmt: skip
INSIDE = frozenset({"kitchen", "bedroom", "library", "hall", "parlour", "cellar", "cave"})

TIMES: dict[str, str] = {
    "dawn": "dawn daybreak sunrise morning early morgen aube matin amanecer рассвет утро فجر صباح 朝 夜明け 黎明 早晨",
    "day": "day noon midday daylight afternoon sunny tag midi jour día день полдень نهار ظهر 昼 白天 中午",
    "golden": "sunset golden evening abend soir coucher tarde atardecer вечер закат غروب مساء 夕 夕方 夕暮れ 傍晚 黄昏",
    "dusk": "dusk twilight nightfall gloaming dämmerung crépuscule anochecer сумерки غسق 日暮れ",
    "night": "night midnight moonlight moonlit dark darkness stars nacht nuit noche ночь полночь ليل 夜 深夜 夜晚",
}  # fmt: skip
WEATHERS: dict[str, str] = {
    "storm": "storm stormy thunder lightning tempest gale hurricane sturm orage tormenta буря гроза عاصفة 嵐 暴风雨",
    "rain": "rain rainy raining drizzle shower downpour wet regen pluie lluvia дождь مطر 雨",
    "snow": "snow snowy snowing blizzard frost ice winter schnee neige nieve снег ثلج 雪",
    "mist": "mist misty haze hazy",
    "fog": "fog foggy smoke nebel brouillard niebla туман ضباب 霧 雾",
    "wind": "wind windy breeze breezy gust wehend vent viento ветер ريح 風 风",
    "cloudy": "cloudy clouds overcast cloud wolken nuages nubes облака тучи غيوم 雲 曇 云",
    "clear": "clear sunny bright cloudless fine starry ясно صاف 晴",
}  # fmt: skip
DENSITIES: dict[str, str] = {  # what words beside a word of fog or mist say of it
    "dense": "thick dense heavy solid impenetrable blinding nothing dicht dichter épais espesa густой كثيف 濃い 浓",
    "thin": "thin thins light faint slight fine soft wisp wisps scarf veil leicht légère ligera лёгкий лёгкая 薄い 薄",
    "torn": "torn tears tearing breaks breaking broken lifting lifts apart parting parts opening shreds ragged holes patches patchy",
}
MOODS: dict[str, str] = {
    "warm": "warm cosy cozy homely tender gentle loving snug firelight candlelight",
    "hopeful": "hopeful joyful happy merry bright cheerful triumphant glad relief festive",
    "gloomy": "gloomy sad lonely melancholy grief sorrow mournful bleak weary dreary",
    "tense": "tense fear danger dangerous threatening sinister ominous angry dread dramatic terror",
    "magic": "magic magical enchanted dreamlike mysterious wonder dream fairy uncanny",
}

FACES: dict[str, str] = {
    "asleep": "asleep sleeping sleeps slept dozing dozes dreaming 眠",
    "amazed": "amazed surprised astonished startled astonishment gasps gasped wonder stares staring 驚",
    "worried": "worried alarmed afraid fear frightened anxious scared nervous terrified pale trembling alarm",
    "angry": "angry furious rage shouts shouted scowls glares glared fury cross stern",
    "sad": "sad cries crying weeps wept tears sorrow mournful sobbed sobs lonely grief sighs sighed",
    "happy": "happy smiles smiling smiled laughs laughing laughed grins grinned joy joyful cheerful delighted proud merry",
    "curious": "curious wonders wondered thinking thinks thoughtful puzzled peering peers",
    "shy": "shy shyly blushes blushing embarrassed modest",
}
GESTURES: dict[str, str] = {
    "knit": "knitting knits winds winding sews sewing",
    "point": "points pointing pointed",
    "wave": "waves waving waved greets greeting",
    "raise": "lifts raises raising shouts cheers calls",
    "hold": "holding holds held carries carrying carried clutches reads reading",
    "think": "thinks thinking thoughtful wonders ponders chin",
    "hips": "hips proud scolds stern",
}
STANCES: dict[str, str] = {
    "kneel": "kneels kneeling knelt crouches crouching crouched",
    "sit": "sits sitting sat seated",
    "walk": "walks walking runs running ran hurries hurrying strides marching",
    "leap": "leaps leaping leaped leapt pounces pounced pouncing jumps jumping",
    "sleep": "asleep sleeping sleeps slept curled",
}
THINGS: dict[str, str] = {
    "paper boat": "paper-boat",
    "thread": "thread string yarn-line",
    "wool": "wool yarn knitting",
    "candle": "candle candles",
    "lantern": "lantern lamp lanterns lamps",
    "cup": "cup cups mug teacup tea bowl glass goblet",
    "book": "book books diary notebook page pages bible",
    "letter": "letter letters note envelope message postcard telegram",
    "key": "key keys",
    "clock": "clock watch hourglass",
    "rope": "rope ropes coil cord",
    "basket": "basket baskets",
    "flower": "flower flowers rose roses bouquet tulip daisy",
    "apple": "apple apples fruit",
    "bread": "bread loaf cake pie",
    "bottle": "bottle bottles flask potion",
    "box": "box chest trunk casket parcel suitcase",
    "sword": "sword swords dagger knife blade",
    "map": "map chart maps scroll",
    "bell": "bell bells",
    "feather": "feather quill pen feathers",
    "shell": "shell shells seashell",
    "coin": "coin coins money",
    "ring": "ring rings",
    "hat": "hat hats",
    "boots": "boots boot shoes shoe slipper",
    "hand": "hand hands fingers palm",
    "door": "door doors gate threshold",
    "window": "window windows pane",
    "fire": "fire flames flame hearth embers fireplace",
    "umbrella": "umbrella umbrellas parasol",
    "egg": "egg eggs nest",
    "mirror": "mirror mirrors",
    "fish": "fish fishes",
    "star": "star",
    "leaf": "leaf leaves",
    "hull": "hull keel prow",
}
