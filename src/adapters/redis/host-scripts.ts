/*
 * Lua scripts of the hosts that workers share. The key of a host holds the id of the worker that asks it, or `rest:`
 * and the id of the last one while nobody may; it expires by itself. Redis' own clock decides, so the workers' clocks
 * may differ.
 */

/** KEYS host. ARGV worker, life in ms. 0: it is the worker's; else how long to wait at least, ms. */
export const TAKE_HOST = `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] and owner ~= 'rest:' .. ARGV[1] then return math.max(1, redis.call('PTTL', KEYS[1])) end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 0`;

/** KEYS host. ARGV worker, life in ms. 0: it is the worker's no more. */
export const KEEP_HOST = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/** KEYS host. ARGV worker, how long others are to leave the host alone, ms. */
export const LEAVE_HOST = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if tonumber(ARGV[2]) > 0 then redis.call('SET', KEYS[1], 'rest:' .. ARGV[1], 'PX', ARGV[2])
else redis.call('DEL', KEYS[1]) end
return 1`;
