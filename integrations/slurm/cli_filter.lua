-- Slurm's cli_filter: a job that names its spec (`#SBATCH --comment=tidemark:train.yaml`) asks for the GPUs that the spec trains on, and for
-- nodes whose cards it fits.  It runs in sbatch, srun and salloc, as the user and where the user's files are; slurmctld waits for nothing.
-- The interface: slurm.schedmd.com/cli_filter_plugins.html, src/plugins/cli_filter/lua/cli_filter_lua.c, names of options: src/common/slurm_opt.c.
-- It keeps to what Lua 5.1 to 5.4 have alike, since Slurm loads whichever there is.

-- What a site says: the command, and for each feature of nodes (slurm.conf, `Feature=`) the card that such nodes have (`tidemark gpus`), best first.
TIDEMARK = TIDEMARK or {
  command = "tidemark",
  cards = { { "l40s", "l40s" }, { "a100", "a100-80gb" }, { "h100", "h100-80gb" } },
}

local function quoted(word)
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- What a command prints on both channels, and its exit code (which io.popen does not tell in Lua 5.1, so the shell does).
local function run(...)
  local words = {}
  for _, word in ipairs({ ... }) do words[#words + 1] = quoted(word) end
  local pipe = io.popen(table.concat(words, " ") .. " 2>&1; printf '\\n%d' $?")
  local text = pipe:read("*a")
  pipe:close()
  local output, code = text:match("^(.*)\n(%d+)$")
  return output, tonumber(code)
end

local function first_line(text)
  return text:match("[^\n]*")
end

-- Every rank of the training, on one card: the exit code of `tidemark predict`, its report (JSON), or its words.
local function predict(spec, card)
  return run(TIDEMARK.command, "predict", "--spec", spec, "--gpu", card, "--all-ranks", "--quiet", "--json", "-")
end

-- Ranks, and ranks of one node, as the report has them; one card has none.
local function ranks_of(report)
  local ranks, per_node = report:match('"ranks": (%d+),%s*"ranks_per_node": (%d+)')
  return tonumber(ranks or 1), tonumber(per_node or 1)
end

local function verdict_of(report)
  return report:match('"verdict": "([^"]*)"') or first_line(report)
end

-- The features whose cards it fits, what was said of the others, and the ranks; or an exit code other than 0 and 1, and why.
local function looked_at(spec, features)
  local fitting, refused, ranks, per_node = {}, {}, 1, 1
  for _, row in ipairs(features) do
    local said, code = predict(spec, row[2])
    if code ~= 0 and code ~= 1 then return nil, code, said end
    ranks, per_node = ranks_of(said)
    if code == 0 then fitting[#fitting + 1] = row[1] else refused[#refused + 1] = row[1] .. ": " .. verdict_of(said) end
  end
  return { fitting = fitting, refused = refused, ranks = ranks, per_node = per_node }
end

local function row_of(feature)
  for _, row in ipairs(TIDEMARK.cards) do
    if row[1] == feature then return row end
  end
end

-- The type of GPU in `--gpus=h100:8`, `--gres=gpu:h100:8`.
local function type_of(options)
  for _, name in ipairs({ "gpus", "gpus-per-node", "gres" }) do
    local kind = (options[name] or ""):gsub("^gres[:/]", ""):gsub("^gpu:", ""):match("^([%a][%w_-]*)")
    if kind and kind ~= "gpu" then return kind end
  end
end

-- The cards that are looked at: those of the type or the features that the job asks for itself, else all.
-- nil: it asks for something that is no feature of ours.
local function features_for(options)
  local asked = type_of(options) or options.constraint
  if not asked then return TIDEMARK.cards end
  local rows = {}
  for feature in asked:gsub("^%[(.*)%]$", "%1"):gmatch("[^|]+") do   -- in brackets: one of them, for all nodes
    local row = row_of(feature)
    if not row then return nil, asked end
    rows[#rows + 1] = row
  end
  return rows
end

-- How many GPUs the job asks for itself, in all; nil where it does not say.
local function gpus_of(options)
  local function count(text) return text and tonumber(text:match("(%d+)$") or 1) end
  if options.gpus then return count(options.gpus) end
  local per_node = options["gpus-per-node"] or options.gres
  return per_node and count(per_node) * (tonumber((options.nodes or "1"):match("%d+")) or 1)
end

local function gpus_in_words(count)
  return count == 1 and "1 GPU" or count .. " GPUs"
end

-- Several nodes have the same card, as in what was predicted: that is what brackets say (sbatch(1), --constraint, Matching OR).
local function one_of(features, are_several_nodes)
  local any = table.concat(features, "|")
  return #features > 1 and are_several_nodes and "[" .. any .. "]" or any
end

local function ask_for(options, found)
  if not gpus_of(options) then
    if found.ranks > found.per_node then
      options.nodes = tostring(math.floor((found.ranks + found.per_node - 1) / found.per_node))
      options["gpus-per-node"] = tostring(found.per_node)
    else
      options.gpus = tostring(found.ranks)
    end
  end
  if not type_of(options) then options.constraint = one_of(found.fitting, found.ranks > found.per_node) end
end

function slurm_cli_pre_submit(options, offset)
  local spec = (options.comment or ""):match("tidemark:(%S+)")
  if not spec or options.type == "srun" and os.getenv("SLURM_JOB_ID") then return slurm.SUCCESS end   -- a step of a job takes what that has
  local features, asked = features_for(options)
  if not features then
    slurm.log_info("tidemark: not looked at, since %s is no card that is known here", asked)
    return slurm.SUCCESS
  end
  local found, code, why = looked_at(spec, features)
  if not found and code == 2 then   -- a wrong spec
    slurm.log_error("%s", why)
    return slurm.ERROR
  elseif not found then             -- not known, or the command is not there: no reason to keep a job back
    slurm.log_info("not looked at: %s", first_line(why))
    return slurm.SUCCESS
  elseif #found.fitting == 0 then
    slurm.log_error("tidemark: %s fits on no card:\n  %s", spec, table.concat(found.refused, "\n  "))
    return slurm.ERROR
  end
  local gpus = gpus_of(options)
  if gpus and gpus ~= found.ranks then
    slurm.log_error("tidemark: the job asks for %s, and %s trains on %d", gpus_in_words(gpus), spec, found.ranks)
    return slurm.ERROR
  end
  ask_for(options, found)
  slurm.log_info("tidemark: %s trains on %s, and fits on %s", spec, gpus_in_words(found.ranks), table.concat(found.fitting, ", "))
  return slurm.SUCCESS
end

function slurm_cli_setup_defaults(options, early)
  return slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job_id, step_id)
  return slurm.SUCCESS
end
