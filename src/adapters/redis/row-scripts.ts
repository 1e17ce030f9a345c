/**
 * Lua scripts of the rows of a crawl db, each of which Redis runs atomically. Keys are members of a sorted set, all
 * with score 0, which Redis orders by their bytes; values are in a hash. All keys carry one hash tag. The old state of
 * rows that changed since a snapshot is in a hash `<snaps>:v:<id>` (`1` and the old value, or `0` where there was
 * none), their keys in a sorted set `<snaps>:k:<id>`.
 */

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** In place of a token: the batch is written beside the holder of the lease. */
export const NO_FENCE = '';

/**
 * KEYS order, values, token, snaps. ARGV token, number of puts, key and value of each, then keys to be removed. 1:
 * written; 0: a writer with a newer token exists, and nothing was changed.
 */
export const WRITE = `
if ARGV[1] ~= '' and redis.call('GET', KEYS[3]) ~= ARGV[1] then return 0 end
local snapshots = {}
if redis.call('EXISTS', KEYS[4]) == 1 then
  ${NOW}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', now)) do
    redis.call('ZREM', KEYS[4], id)
    redis.call('UNLINK', KEYS[4] .. ':v:' .. id, KEYS[4] .. ':k:' .. id)
  end
  snapshots = redis.call('ZRANGE', KEYS[4], 0, -1)
end
local function keep(key)
  if #snapshots == 0 then return end
  local old = redis.call('HGET', KEYS[2], key)
  local mark = old and ('1' .. old) or '0'
  for _, id in ipairs(snapshots) do
    if redis.call('HSETNX', KEYS[4] .. ':v:' .. id, key, mark) == 1 then
      redis.call('ZADD', KEYS[4] .. ':k:' .. id, 0, key)
    end
  end
end
local at = 3
for i = 1, tonumber(ARGV[2]) do
  keep(ARGV[at])
  if redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1]) == 1 then redis.call('ZADD', KEYS[1], 0, ARGV[at]) end
  at = at + 2
end
for i = at, #ARGV do
  keep(ARGV[i])
  if redis.call('HDEL', KEYS[2], ARGV[i]) == 1 then redis.call('ZREM', KEYS[1], ARGV[i]) end
end
return 1`;

/**
 * KEYS order, values, snaps. ARGV first and last key in the syntax of ZRANGEBYLEX, rows, reverse, whether with values,
 * snapshot or nothing, its life in ms, whether to take it. Returns the state (`1`: the snapshot exists, `0`: none was
 * needed, `-1`: it is lost), keys, values, and the keys of the range that have changed since the snapshot, with their
 * old state.
 */
export const PAGE = `
local count, id = tonumber(ARGV[3]), ARGV[6]
local function range(key)
  if ARGV[4] == '1' then return redis.call('ZREVRANGEBYLEX', key, ARGV[2], ARGV[1], 'LIMIT', 0, count) end
  return redis.call('ZRANGEBYLEX', key, ARGV[1], ARGV[2], 'LIMIT', 0, count)
end
local keys, values, own, was, state = range(KEYS[1]), {}, {}, {}, 0
if id ~= '' then
  ${NOW}
  if ARGV[8] == '1' then
    if #keys == count then
      redis.call('ZADD', KEYS[3], now + ARGV[7], id)
      state = 1
    end
  elseif redis.call('ZSCORE', KEYS[3], id) then
    redis.call('ZADD', KEYS[3], now + ARGV[7], id)
    own = range(KEYS[3] .. ':k:' .. id)
    if #own > 0 then was = redis.call('HMGET', KEYS[3] .. ':v:' .. id, unpack(own)) end
    state = 1
  else
    return {-1, {}, {}, {}, {}}
  end
end
if ARGV[5] == '1' and #keys > 0 then values = redis.call('HMGET', KEYS[2], unpack(keys)) end
return {state, keys, values, own, was}`;

/** KEYS values, snaps. ARGV snapshot, keys. Their values at the snapshot; nothing: it is lost. */
export const READ_AT = `
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then return false end
local values = {}
for i = 2, #ARGV do
  local was = redis.call('HGET', KEYS[2] .. ':v:' .. ARGV[1], ARGV[i])
  if not was then values[i - 1] = redis.call('HGET', KEYS[1], ARGV[i])
  elseif string.sub(was, 1, 1) == '1' then values[i - 1] = string.sub(was, 2)
  else values[i - 1] = false end
end
return values`;

/** KEYS values. ARGV keys. A text of one \`0\` or \`1\` per key. */
export const HAS = `
local answers = {}
for i = 1, #ARGV do answers[i] = redis.call('HEXISTS', KEYS[1], ARGV[i]) end
return table.concat(answers)`;

/** KEYS snaps. ARGV snapshot, its life in ms. Takes it, or extends its life. 0: there was none to extend. */
export const KEEP_SNAPSHOT = `
${NOW}
if ARGV[3] ~= '1' and not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
return 1`;

/** KEYS snaps. ARGV snapshot. */
export const DROP_SNAPSHOT = `
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('UNLINK', KEYS[1] .. ':v:' .. ARGV[1], KEYS[1] .. ':k:' .. ARGV[1])
return 1`;

/** KEYS lease, token. ARGV holder, life in ms. The new token, or the holder of the lease and its remaining life, ms. */
export const TAKE_LEASE = `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return {tostring(redis.call('INCR', KEYS[2]))} end
return {false, redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}`;

/** KEYS lease. ARGV holder, life in ms. 0: another holder has it, or none. */
export const KEEP_LEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/** KEYS lease. ARGV holder. */
export const DROP_LEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;
