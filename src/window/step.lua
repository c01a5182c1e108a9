-- One step of the claim protocol on the records of one message (docs/claim-protocol.md). The verb comes as a table:
-- one action for each class of record. window::rewrite() does the same in C++; a test holds the two together.
local actions, owner = ARGV[1], ARGV[2]
local lease, window, age = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local message_id, rest, slide_cap = ARGV[6], ARGV[7], tonumber(ARGV[8])

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = math.max(window, lease) - age

-- What stands under our key and is no record of this version may have been sent: it is doubt.
local unreadable = {state = 's', doubtful = '0', deadline = 0, at = 0, owner = '', message_id = '', rest = rest}

-- Behind `<n>:` and its n octets at `from`; nil when they are not there.
local function behind(value, from)
  local size, start = string.match(value, '^(%d+):()', from)
  if not size or #size > 15 or start + size > #value + 1 then return nil end
  return start + size
end

local function parse(value)
  local r = {}
  local from
  r.state, r.doubtful, r.deadline, r.at, r.owner, from =
    string.match(value, '^1([csS])([01]) (%d+) (%d+) (%S*) ()')
  if not r.state then return unreadable end
  local content = behind(value, from)
  local upstream = content and behind(value, content)
  local code = upstream and behind(value, upstream)
  local digits, text = string.match(value, '^(%d+) ()', code or #value + 2)
  if not text or #digits > 3 or behind(value, text) ~= #value + 1 then return unreadable end
  if #r.deadline > 15 or #r.at > 15 then return unreadable end
  if r.state == 'S' and not string.match(digits, '^2%d%d$') then return unreadable end
  r.deadline, r.at = tonumber(r.deadline), tonumber(r.at)
  r.message_id = string.sub(value, string.match(value, '^%d+:()', from), content - 1)
  r.rest = string.sub(value, content)
  return r
end

-- The column of the table: absent, claimed by me, by another alive, by another expired, sending by me, by another
-- alive, doubt, sent.
local function classify(r)
  if not r then return 1 end
  if r.state == 'S' then return 8 end
  local mine, alive = r.owner == owner, r.deadline > now
  if r.state == 'c' then
    if mine then return 2 end
    if alive then return 3 end
    return r.doubtful == '1' and 7 or 4
  end
  if r.deadline == 0 then return 7 end
  if mine then return 5 end
  return alive and 6 or 7
end

local function put(key, life, state, doubtful, deadline, at, by, id, tail)
  local value = string.format('1%s%s %.0f %.0f %s %d:', state, doubtful, deadline, at, by, #id) .. id .. tail
  redis.call('SET', key, value, 'PX', string.format('%.0f', math.max(life, 1)))
end

local function declare(key, r)
  local own = r and r.owner == owner
  put(key, window - age, 's', '0', 0, now - age, owner, own and r.message_id or message_id, own and r.rest or rest)
end

local write = {
  c = function(key) put(key, lease, 'c', '0', now + lease, now, owner, message_id, rest) end,
  d = function(key, r) put(key, held, 'c', '1', now + lease, now, owner, r.message_id, r.rest) end,
  e = function(key, r)
    local life = (r.state == 'c' and r.doubtful == '0') and lease or held
    put(key, life, r.state, r.doubtful, now + lease, r.at, owner, r.message_id, r.rest)
  end,
  s = function(key, r) put(key, held, 's', r.doubtful, now + lease, now, owner, r.message_id, r.rest) end,
  S = function(key) put(key, window - age, 'S', '0', 0, now - age, owner, message_id, rest) end,
  m = function(key, r)
    local declared = r.state == 's' and r.deadline == 0
    local life = declared and window - age or math.max(held, r.deadline - now)
    life = math.max(life, redis.call('PTTL', key))
    put(key, life, r.state, '1', r.deadline, r.at, r.owner, message_id, rest)
  end,
  r = function(key, r)
    if r.doubtful == '1' then declare(key, r) else redis.call('DEL', key) end
  end,
}
write.D = declare
write.f = function(key) redis.call('DEL', key) end
write.w = function(key, r)
  local life = math.min(window, r.at + slide_cap - now)
  if life > redis.call('PTTL', key) then redis.call('PEXPIRE', key, string.format('%.0f', life)) end
end

local values = redis.call('MGET', unpack(KEYS))
local records, chosen, answer = {}, {}, {0, now}
for i, value in ipairs(values) do
  if value then records[i] = parse(value) end
  local column = classify(records[i])
  chosen[i] = string.sub(actions, column, column)
  if chosen[i] == 'x' then answer[1] = 1 end
  answer[i + 2] = value
end
if answer[1] == 0 then
  for i, action in ipairs(chosen) do
    if action ~= '.' then write[action](KEYS[i], records[i]) end
  end
end
return answer
