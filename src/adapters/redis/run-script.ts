import { createHash } from 'node:crypto';
import { connectionFault, type RedisClient } from './connect.ts';
import { redisError } from './redis-errors.ts';

export type Argument = string | number | Buffer;

const digests = new Map<string, string>();

/** Command and arguments that run a script by its digest, or by its text where the server does not know it yet. */
export function commandOf(
  script: string,
  by: 'digest' | 'text',
  keys: readonly string[],
  args: readonly Argument[],
): [command: string, args: Argument[]] {
  let digest = digests.get(script);
  if (digest === undefined) {
    digest = createHash('sha1').update(script).digest('hex');
    digests.set(script, digest);
  }
  const rest: Argument[] = [by === 'digest' ? digest : script, keys.length, ...keys];
  for (const arg of args) rest.push(arg);
  return [by === 'digest' ? 'EVALSHA' : 'EVAL', rest];
}

/** Whether the server does not know the script, and has run nothing. */
export const isUnknownScript = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('NOSCRIPT');

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
  try {
    return await redis.callBuffer(...commandOf(script, 'digest', keys, args));
  } catch (error) {
    if (!isUnknownScript(error)) throw redisError(error, connectionFault(redis));
  }
  try {
    return await redis.callBuffer(...commandOf(script, 'text', keys, args));
  } catch (error) {
    throw redisError(error, connectionFault(redis));
  }
}
