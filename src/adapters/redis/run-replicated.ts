import { connectionFault, type RedisClient } from './connect.ts';
import { redisError } from './redis-errors.ts';
import { type Argument, commandOf, isUnknownScript, runScript } from './run-script.ts';

/** A script, since only scripts go to the node of a cluster on which the key is. */
const REPLICATION = `return redis.call('INFO', 'replication')`;
const ONLINE = /^slave\d+:.*state=online/m;
const NOTHING = 'return 1';

/** Time for which a node is taken to have a replica, or none that answers, ms. */
const KNOWN_MS = 5_000;
/** Longest wait for a replica, ms: one that hangs must not stop the crawl for longer. */
const WAIT_MS = 1_000;
/** Attempts to find the node of a key whose slot moves. */
const TRIES = 10;
/** The node has carried out nothing, and another one has the key, or this one will have it soon. */
const REFUSED = /^(?:MOVED|ASK|TRYAGAIN|CLUSTERDOWN|READONLY|LOADING|MASTERDOWN)\b/;

interface Known {
  readonly hasReplica: boolean;
  /** By the monotonic clock, ms. */
  readonly until: number;
}

const known = new WeakMap<RedisClient, Map<string, Known>>();

/**
 * Runs a script that writes, and resolves when a replica has what it wrote, where the node of its keys has replicas.
 * Redis answers before they have it: one that takes the place of a dead master would not know of a lease that a worker
 * holds, or of links that their sender has removed since. `WAIT` holds for what was written on its connection, so both
 * commands are sent as one. A replica that hangs is not waited for anew before some seconds have passed.
 */
export async function runReplicated(
  redis: RedisClient,
  script: string,
  keys: readonly string[],
  args: readonly Argument[],
): Promise<unknown> {
  const [key = ''] = keys;
  let by: 'digest' | 'text' = 'digest';
  for (let tries = 0; tries < TRIES; tries++) {
    if (!(await hasReplica(redis, key))) break;
    const [command, rest] = commandOf(script, by, keys, args);
    const replies = await redis
      .pipeline()
      .callBuffer(command, rest)
      .call('WAIT', 1, WAIT_MS)
      .exec()
      .catch((error: unknown) => {
        throw redisError(error, connectionFault(redis));
      });
    const [[error, reply], [waitError, replicas]] = replies as [[Error | null, unknown], [Error | null, unknown]];
    if (error === null) {
      if (waitError !== null || Number(replicas) === 0) note(redis, key, false);
      return reply;
    }
    if (isUnknownScript(error)) by = 'text';
    else if (!REFUSED.test(error.message)) throw redisError(error, connectionFault(redis));
    // A single command finds the node that has the key by now.
    else await runScript(redis, NOTHING, [key], []);
  }
  return runScript(redis, script, keys, args);
}

async function hasReplica(redis: RedisClient, key: string): Promise<boolean> {
  const before = known.get(redis)?.get(key);
  if (before !== undefined && before.until > performance.now()) return before.hasReplica;
  // A server that does not say so is taken to have none.
  const info = await runScript(redis, REPLICATION, [key], []).catch(() => null);
  return info !== null && note(redis, key, ONLINE.test(String(info)));
}

function note(redis: RedisClient, key: string, hasReplica: boolean): boolean {
  const keys = known.get(redis) ?? new Map<string, Known>();
  known.set(redis, keys);
  keys.set(key, { hasReplica, until: performance.now() + KNOWN_MS });
  return hasReplica;
}
