/**
 * Lua scripts of the hosts that workers share. The key of a host holds the id of the worker that fetches from it, or
 * `rest:` and the id of the last one while no worker may; it expires by itself. Redis' own clock decides, so the
 * workers' clocks may differ.
 */

/** KEYS host. ARGV worker, life in ms. 0: the worker holds the host; else the least time to wait, ms. */
export const TAKE_HOST = `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] and owner ~= 'rest:' .. ARGV[1] then return math.max(1, redis.call('PTTL', KEYS[1])) end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 0`;

/** KEYS host. ARGV worker, life in ms. 0: the worker no longer holds the host. */
export const KEEP_HOST = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/** KEYS host. ARGV worker, time during which other workers must not take the host, ms. */
export const LEAVE_HOST = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if tonumber(ARGV[2]) > 0 then redis.call('SET', KEYS[1], 'rest:' .. ARGV[1], 'PX', ARGV[2])
else redis.call('DEL', KEYS[1]) end
return 1`;
