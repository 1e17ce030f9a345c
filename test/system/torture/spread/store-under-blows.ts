import { startPostgres } from '../../cluster/postgres/postgres-server.ts';

/** The server that a spread crawl lies on, and what may happen to it. */
export interface StoreUnderBlows {
  readonly url: string;
  /** Kills it with all of its processes, and starts it again after a while. */
  strike(random: () => number): Promise<void>;
  stop(): Promise<void>;
}

const AWAY_MS = 1_500;

export async function postgresUnderBlows(): Promise<StoreUnderBlows> {
  const server = await startPostgres([]);
  return {
    url: server.url,
    async strike(random) {
      await server.kill();
      await new Promise((resolve) => setTimeout(resolve, random() * AWAY_MS));
      await server.again();
    },
    stop: () => server.stop(),
  };
}
