import { connectionFault, connectRedis, type RedisClient } from './connect.ts';
import { redisError } from './redis-errors.ts';

/** The server of the jobs of a crawl: commands wait for one that is away. All keys are on one node of a cluster. */
export async function redisJobServer(url: string, name: string) {
  const redis: RedisClient = await connectRedis(url, 'endless');
  return {
    connection: { connection: redis, prefix: `{${name}}:jobs` },
    queue: 'jobs',
    async call<Value>(attempt: () => Promise<Value>): Promise<Value> {
      try {
        return await attempt();
      } catch (error) {
        throw redisError(error, connectionFault(redis));
      }
    },
    async close(): Promise<void> {
      redis.disconnect();
    },
  };
}
