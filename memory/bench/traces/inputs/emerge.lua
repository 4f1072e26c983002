-- A mod of the world: generates the blocks around the origin, and ends the server.
core.after(0.2, function()
  local low, high = { x = -40, y = -40, z = -40 }, { x = 40, y = 40, z = 40 }
  core.emerge_area(low, high, function(_, _, left)
    if left == 0 then core.request_shutdown() end
  end)
end)
