-- Writes one input to standard output: lua5.4 generate.lua sql|redis|git|svg|scene. The seed of its random numbers is
-- fixed, so the text is the same on every machine.
math.randomseed(23, 0)
local random, format = math.random, string.format

local syllables = { "ka", "lo", "mir", "ten", "us", "vor", "ash", "el", "dra", "qui", "no", "bre" }

local function word()
  local parts = {}
  for i = 1, random(1, 4) do parts[i] = syllables[random(#syllables)] end
  return table.concat(parts)
end

local function words(least, most)
  local parts = {}
  for i = 1, random(least, most) do parts[i] = word() end
  return table.concat(parts, " ")
end

local inputs = {}

-- A shop: rows one by one, an index, joins, updates and deletions.
function inputs.sql()
  print("CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL, note TEXT);")
  print("CREATE TABLE sale(id INTEGER PRIMARY KEY, item INTEGER, day INTEGER, n INTEGER);")
  for id = 1, 1500 do
    print(format("INSERT INTO item VALUES(%d, '%s', %.2f, '%s');", id, word(), random() * 100, words(0, 30)))
  end
  for id = 1, 4000 do
    print(format("INSERT INTO sale VALUES(%d, %d, %d, %d);", id, random(1500), random(365), random(9)))
    if id == 2000 then print("CREATE INDEX bought ON sale(item, day);") end
  end
  for i = 1, 60 do
    print(format("SELECT name, sum(n * price) AS total FROM sale JOIN item ON item.id = sale.item WHERE day BETWEEN %d AND %d GROUP BY name ORDER BY total DESC LIMIT 10;", random(200), random(200, 365)))
    print(format("UPDATE item SET note = note || ' %s' WHERE id %% %d = 3;", word(), random(5, 50)))
    print(format("DELETE FROM sale WHERE day = %d;", random(365)))
    print(format("SELECT group_concat(DISTINCT substr(note, 1, %d)) FROM item WHERE name LIKE '%s%%';", random(40), syllables[random(#syllables)]))
  end
end

-- Strings, lists, hashes and sorted sets under 2,000 names.
function inputs.redis()
  for i = 1, 30000 do
    local key = random(2000)
    local kind = random(8)
    if kind <= 2 then print(format('SET string:%d "%s"', key, words(1, random(60))))
    elseif kind == 3 then print(format("GET string:%d", key))
    elseif kind == 4 then print(format('LPUSH list:%d "%s"', key % 200, words(1, 8)))
    elseif kind == 5 then print(format("RPOP list:%d", key % 200))
    elseif kind == 6 then print(format('HSET hash:%d %s "%s"', key % 300, word(), words(1, 12)))
    elseif kind == 7 then print(format("ZADD sorted:%d %d %s", key % 100, random(1000), word()))
    else print(format("DEL string:%d", key)) end
  end
end

-- A history of 300 commits of 40 files, for git fast-import.
function inputs.git()
  local files = {}
  for i = 1, 40 do
    files[i] = { name = format("%s/%s%d.txt", syllables[i % 5 + 1], word(), i), lines = {} }
    for j = 1, random(20, 200) do files[i].lines[j] = words(3, 12) end
  end
  for commit = 1, 300 do
    local message = words(3, 20)
    print("commit refs/heads/main")
    print(format("committer Strata <strata@example.org> %d +0000", 1600000000 + commit * 3600))
    print(format("data %d\n%s", #message, message))
    for i = 1, commit == 1 and #files or random(3) do
      local file = files[commit == 1 and i or random(#files)]
      for _ = 1, random(8) do
        local at = random(#file.lines)
        if random(3) == 1 then table.insert(file.lines, at, words(3, 12)) else file.lines[at] = words(3, 12) end
      end
      if commit > 1 and random(12) == 1 then
        print("D " .. file.name)
        file.name = format("%s/%s%d.txt", syllables[random(5)], word(), commit)
      end
      local text = table.concat(file.lines, "\n") .. "\n"
      print(format("M 100644 inline %s\ndata %d\n%s", file.name, #text, text))
    end
  end
end

local function colour() return format("#%06x", random(0, 0xffffff)) end

-- A picture of paths, gradients, groups and a filter.
function inputs.svg()
  print('<svg xmlns="http://www.w3.org/2000/svg" width="800" height="600"><defs>')
  for i = 1, 40 do
    print(format('<linearGradient id="g%d" x1="%.2f" y2="%.2f"><stop offset="0" stop-color="%s"/><stop offset="1" stop-color="%s"/></linearGradient>', i, random(), random(), colour(), colour()))
  end
  print('<filter id="soft"><feGaussianBlur stdDeviation="3"/></filter></defs>')
  for i = 1, 400 do
    local filter = i % 40 == 0 and ' filter="url(#soft)"' or ""
    print(format('<g transform="translate(%d %d) rotate(%d)" opacity="%.2f"%s>', random(800), random(600), random(360), random(), filter))
    local points = {}
    for j = 1, random(3, 30) do points[j] = format("C%d %d %d %d %d %d", random(-80, 80), random(-80, 80), random(-80, 80), random(-80, 80), random(-80, 80), random(-80, 80)) end
    print(format('<path d="M0 0%sZ" fill="url(#g%d)" stroke="%s" stroke-width="%d"/>', table.concat(points), random(40), colour(), random(4)))
    print(format('<circle r="%d" style="fill:%s;stroke:%s"/></g>', random(30), colour(), colour()))
  end
  print("</svg>")
end

-- A scene of spheres, boxes and a surface of triangles, for POV-Ray.
function inputs.scene()
  print("#version 3.7;\nglobal_settings { assumed_gamma 1 }\ncamera { location <0, 6, -14> look_at 0 }\nlight_source { <20, 30, -20> rgb 1 }")
  for i = 1, 900 do
    local x, y, z = random() * 16 - 8, random() * 4, random() * 16 - 8
    local finish = format("texture { pigment { rgb <%.2f, %.2f, %.2f> } finish { phong %.2f reflection %.2f } }", random(), random(), random(), random(), random() * 0.3)
    if i % 3 == 0 then print(format("box { <%.2f, %.2f, %.2f>, <%.2f, %.2f, %.2f> %s }", x, y, z, x + 0.4, y + 0.4, z + 0.4, finish))
    elseif i % 3 == 1 then print(format("sphere { <%.2f, %.2f, %.2f>, %.2f %s }", x, y, z, random() * 0.5 + 0.1, finish))
    else print(format("union { cylinder { <%.2f, 0, %.2f>, <%.2f, %.2f, %.2f>, 0.1 } torus { 0.3, 0.1 translate <%.2f, %.2f, %.2f> } %s }", x, z, x, y, z, x, y, z, finish)) end
  end
  print("mesh {")
  for x = -20, 19 do
    for z = -20, 19 do
      local function corner(i, j) return format("<%.1f, %.3f, %.1f>", i / 2, math.sin(i * 0.7) * math.cos(j * 0.4) * 0.5 - 1, j / 2) end
      print(format("triangle { %s, %s, %s } triangle { %s, %s, %s }", corner(x, z), corner(x + 1, z), corner(x, z + 1), corner(x + 1, z), corner(x + 1, z + 1), corner(x, z + 1)))
    end
  end
  print("pigment { rgb <0.3, 0.5, 0.3> } }")
end

local input = inputs[arg[1]]
if not input then error("generate.lua: an input is sql, redis, git, svg or scene, not " .. tostring(arg[1])) end
input()
