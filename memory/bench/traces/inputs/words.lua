-- Counts the words of the files named on the command line, sorts them, and builds an index of the lines of each.
local index, names = {}, {}
for _, name in ipairs(arg) do
  local number = 0
  for line in io.lines(name) do
    number = number + 1
    for word in line:gmatch("%a+") do
      word = word:lower()
      local entry = index[word]
      if not entry then
        entry = { count = 0, lines = {} }
        index[word] = entry
        names[#names + 1] = word
      end
      entry.count = entry.count + 1
      entry.lines[#entry.lines + 1] = name:match("[^/]*$") .. ":" .. number
    end
  end
end
table.sort(names, function(a, b)
  if index[a].count ~= index[b].count then return index[a].count > index[b].count end
  return a < b
end)
for _, word in ipairs(names) do
  print(word, index[word].count, table.concat(index[word].lines, " "))
end
