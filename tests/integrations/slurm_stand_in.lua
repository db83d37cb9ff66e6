-- What cli_filter_lua.c gives to a script: `slurm` with its return codes and logs, and options that answer nil for what is not set, and take texts
-- for names that sbatch knows.  Arguments: the filter, the command, then cards as feature=card, "--", options as name=value.  Prints what the filter said, and what is set afterwards.
local known = { type = true, comment = true, constraint = true, gpus = true, ["gpus-per-node"] = true, gres = true, nodes = true }
local set, cards, at = {}, {}, 3
while arg[at] ~= "--" do
  cards[#cards + 1] = { arg[at]:match("^(.-)=(.*)$") }
  at = at + 1
end
for index = at + 1, #arg do
  local name, value = arg[index]:match("^(.-)=(.*)$")
  assert(known[name], name)
  set[name] = value
end

slurm = { SUCCESS = 0, ERROR = -1 }
for _, level in ipairs({ "info", "error" }) do
  slurm["log_" .. level] = function(form, ...) print(level .. ": " .. string.format(form, ...)) end
end
local options = setmetatable({}, {
  __index = function(_, name) assert(known[name], name); return set[name] end,
  __newindex = function(_, name, value) assert(known[name] and type(value) == "string", name); set[name] = value end,
})

TIDEMARK = { command = arg[2], cards = cards }
dofile(arg[1])
assert(slurm_cli_setup_defaults(options, true) == slurm.SUCCESS)
local code = slurm_cli_pre_submit(options, 0)
for name, value in pairs(set) do print("set: " .. name .. "=" .. value) end
print("code: " .. code)
assert(slurm_cli_post_submit(0, 1, 0) == slurm.SUCCESS)
