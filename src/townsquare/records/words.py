"""The words that the town's names are made of; none contains an apostrophe or an accent.

A name must score the same however a model quotes it, so that only a wrong fact costs points.
"""

from __future__ import annotations

FIRST_NAMES = (
    "Ada Bram Celia Dorian Edith Felix Greta Hugo Imogen Jasper Kezia Lorcan Maud Nestor Odile "
    "Piers Quilla Rufus Sabine Tobias Una Victor Wilma Xavier Yvette Zachary Agnes Basil Clara "
    "Desmond Elspeth Fergus Gwen Harold Iris Julian Katya Leopold Mabel Norman"
).split()
LAST_NAMES = (
    "Abernathy Blackwood Cartwright Dunmore Ellery Fairbairn Garside Hathaway Inglewood Jessop "
    "Kettering Lockhart Merriweather Northcott Oakshott Pemberton Quillfeather Ravenscroft "
    "Stillwater Thistlewood Underhay Vickerstaff Wainwright Yardley Ashdown Birchall Copperfield "
    "Drinkwater Elphinstone Foxglove Greenhalgh Holloway"
).split()
STREETS = (
    "Larch Lane|Copper Street|Millrace Road|Gannet Terrace|Saltmarsh Avenue|Foundry Row|"
    "Heron Close|Orchard Rise|Beacon Hill|Cooper Yard|Linden Walk|Anchor Street|Quarry Road|"
    "Willow Bank|Tannery Lane|Chapel Street|Kestrel Drive|Ropewalk|Juniper Crescent|Ferry Road"
).split("|")
STATIONS = (
    "Harbour Wall|Mill Hill|Old Airfield|Lock Gate|Signal Tower|North Reservoir|Abbey Farm|"
    "Heath Common"
).split("|")
ADJECTIVES = (
    "Copper Silver Crooked Amber Little Gilded Merry Quiet Painted Winding Blue Scarlet Ivory "
    "Rambling Golden Rusty Velvet Speckled Humble Lucky"
).split()
THINGS = (
    "Kettle Lantern Sparrow Anchor Compass Thistle Acorn Feather Barrel Candle Magpie Pebble "
    "Bramble Clover Otter Badger Wren Juniper Saddle Bell"
).split()
HALLS = (
    "Tidewater Hall|Saint Bride Hall|The Corn Exchange|Ropemakers Hall|The Assembly Rooms|"
    "Quayside Pavilion|Weavers Institute|Eastgate Hall|Mariners Rest|The Granary"
).split("|")
HOBBIES = (
    "Chess|Beekeeping|Rowing|Astronomy|Pottery|Fell Running|Model Railway|Folk Dance|Botany|"
    "Photography|Choral|Archery|Debating|Quilting|Bird Watching|Cycling|Fencing|Film|Gardening|"
    "Local History|Kite Flying|Letterpress|Mosaic|Origami|Philately|Puppetry|Radio|Sailing|"
    "Sketching|Tabletop Games|Topography|Ukulele|Vintage Tractor|Walking|Watercolour|Woodcarving|"
    "Brass Band|Cheese Making|Fungi|Calligraphy|Juggling|Meteorology|Bell Ringing|Open Water Swim"
).split("|")
SHOP_KINDS = "Grocer|Provisions|Market|Stores|Pantry|Larder|Corner Shop|Trading Post".split("|")
ITEMS = (
    "Heather Honey 340 g|Rye Flour 1 kg|Smoked Haddock 500 g|Oat Biscuits 200 g|Plum Jam 300 g|"
    "Pearl Barley 500 g|Black Tea 125 g|Ground Coffee 250 g|Salted Butter 250 g|Goat Cheese 150 g|"
    "Brown Eggs box of 12|Cider Vinegar 500 ml|Rapeseed Oil 750 ml|Sea Salt 250 g|"
    "Dried Peas 500 g|Beeswax Candles box of 6|Lamp Oil 1 l|Marmalade 340 g|Mustard 180 g|"
    "Pickled Onions 440 g|Ginger Beer 750 ml|Elderflower Cordial 500 ml|Wool Soap 400 ml|"
    "Garden Twine 100 m|Seed Potatoes 2 kg|Apple Juice 1 l|Treacle 450 g|Hazelnuts 200 g|"
    "Dark Chocolate 100 g|Crispbread 250 g"
).split("|")
COMMITTEES = (
    "Planning|Harbour and Fisheries|Parks and Allotments|Finance|Roads and Lighting|"
    "Education and Libraries|Licensing|Heritage"
).split("|")
BRANCHES = "Central|Northgate|Riverside|Beacon Hill|Harbour|Orchard".split("|")
STOPS = (
    "Town Square|Railway Station|Harbour Gate|Hospital|Market Cross|Mill Hill|College|Lighthouse|"
    "Abbey Ruins|Sports Ground|Cattle Market|Reservoir|Old Airfield|Garden Suburb|Lock Gate|"
    "Observatory|Fish Quay|Windmill"
).split("|")
WORKS = (
    "Resurface|Plant lime trees along|Install benches on|Widen the pavement of|Repair the wall of|"
    "Light the steps of|Drain the gutters of|Ban lorries from"
).split("|")
