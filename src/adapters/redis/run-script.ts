import { createHash } from 'node:crypto';
import { connectionFault, type RedisClient } from './connect.ts';
import { redisError } from './redis-errors.ts';

type Argument = string | number | Buffer;

const digests = new Map<string, string>();

/**
 * Runs a script by its digest; sends its text only where the server does not know it yet. Strings of the reply are
 * buffers.
 */
export async function runScript(
  redis: RedisClient,
  script: string,
  keys: readonly string[],
  args: readonly Argument[],
): Promise<unknown> {
  let digest = digests.get(script);
  if (digest === undefined) {
    digest = createHash('sha1').update(script).digest('hex');
    digests.set(script, digest);
  }
  const rest: Argument[] = [keys.length, ...keys];
  for (const arg of args) rest.push(arg);
  try {
    return await redis.callBuffer('EVALSHA', [digest, ...rest]);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT'))
      throw redisError(error, connectionFault(redis));
  }
  try {
    return await redis.callBuffer('EVAL', [script, ...rest]);
  } catch (error) {
    throw redisError(error, connectionFault(redis));
  }
}
