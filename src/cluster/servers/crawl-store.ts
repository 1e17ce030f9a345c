// cluster/servers/: the servers of a crawl, and on which of them its partitions lie.

import { randomUUID } from 'node:crypto';
import type { Config } from '../../core/config/schema.ts';
import { withoutCredentials } from '../../core/config/store-url.ts';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { MovedError } from '../../core/domain/errors.ts';
import { ROW } from '../../store/rows/codecs/keys.ts';
import { isAway, type ServerStore, type SharedStore } from '../ports/shared-store.ts';
import type { CrawlWorkers, WorkerRow } from '../ports/workers.ts';
import { openPostgresStore } from '../postgres/shared-store.ts';
import { changeShared, readShared } from '../workers/shared-text.ts';
import {
  FIRST_SERVER,
  MAP_KEY,
  ONE_SERVER,
  parseServerMap,
  partOfName,
  type ServerMap,
  type ServerSplit,
  serverIn,
  serversIn,
  spreadMap,
  withSplit,
} from './server-map.ts';
import { ServerTurns } from './server-turns.ts';

/** The servers of a crawl as one store: each name is served by the server that has its rows. */
export interface CrawlStore extends SharedStore {
  /** Writes the map for a crawl that begins, unless there is one. */
  spread(partitions: number): Promise<void>;
  /** Reads the map anew. */
  readMap(): Promise<ServerMap>;
  changeMap(change: (map: ServerMap) => ServerMap): Promise<ServerMap>;
  /** The store of one server, as the map names it. */
  on(server: string): ServerStore;
  /** A server by its name in the map: the first one has no URL there. */
  named(url: string): string;
}

/** Fact of the crawl db of a partition: the token of the partition into which it was split last. */
export const SPLIT_FACT = 'splitInto';
const SPLIT_ROW = `${ROW.meta}${SPLIT_FACT}`;

type OpenServer = (url: string) => ServerStore;

/** Servers on which a name is looked for: after more than that their marks lead in a circle. */
const HOPS = 8;

/**
 * Opens the servers of a crawl, and reads on which of them its partitions lie. Rejects with `package-missing`, and with
 * an error of the first server.
 * @param cluster of the configuration; its `store` names the first server
 */
export async function openCrawlStore(
  cluster: Pick<Config['cluster'], 'store' | 'servers' | 'name' | 'leaseMs'>,
  open: OpenServer = openPostgresStore,
): Promise<CrawlStore> {
  const store = new ServersOfCrawl(cluster, open);
  try {
    await store.readMap();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

class ServersOfCrawl implements CrawlStore {
  readonly product: string;
  readonly leases: SharedStore['leases'];
  readonly #cluster: Pick<Config['cluster'], 'store' | 'servers' | 'name' | 'leaseMs'>;
  readonly #crawl: string;
  readonly #open: OpenServer;
  readonly #stores = new Map<string, ServerStore>();
  #map: ServerMap = ONE_SERVER;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Partitions that have left the server in the map; their move was cut short before it changed the map. */
  readonly #left = new Map<string, { readonly from: string; readonly to: string }>();

  constructor(cluster: Pick<Config['cluster'], 'store' | 'servers' | 'name' | 'leaseMs'>, open: OpenServer) {
    this.#cluster = cluster;
    this.#crawl = partOfName(cluster.name)?.crawl ?? cluster.name;
    this.#open = open;
    this.product = this.on(FIRST_SERVER).product;
    this.leases = {
      take: (name, holder, leaseMs) => this.#ask(name, (store) => store.leases.take(name, holder, leaseMs)),
      keep: (name, holder, leaseMs) => this.#storeOf(name).leases.keep(name, holder, leaseMs),
      drop: (name, holder) => this.#storeOf(name).leases.drop(name, holder),
    };
  }

  id(name: string, proposed?: string): Promise<string | null> {
    return this.#ask(name, (store) => store.id(name, proposed));
  }

  isWhole(name: string): Promise<boolean> {
    return this.#ask(name, (store) => store.isWhole(name));
  }

  async danger(name: string): Promise<string | null> {
    const servers = partOfName(name) === null ? serversIn(this.#map) : [this.#serverOf(name)];
    for (const server of servers) {
      const danger = await this.on(server)
        .danger(name)
        .catch((error: unknown) => {
          // Workers continue with the partitions of the other servers.
          if (server === FIRST_SERVER || !isAway(error)) throw error;
          return null;
        });
      if (danger !== null) return server === FIRST_SERVER ? danger : `${server}: ${danger}`;
    }
    return null;
  }

  now(name: string): Promise<number> {
    return this.#storeOf(name).now(name);
  }

  rows(name: string, token: string | null): ReturnType<SharedStore['rows']> {
    return this.#storeOf(name).rows(name, token);
  }

  append(name: string, rows: Parameters<SharedStore['append']>[1]): Promise<void> {
    return this.#ask(name, (store) => store.append(name, rows));
  }

  turns(names: readonly string[], leaseMs: number, worker = randomUUID()): ServerTurns {
    return new ServerTurns({
      worker,
      partitions: names.length,
      open: (server) => this.on(server).turns(names, leaseMs, worker),
      serverOf: (partition) => this.#serverOf(names[partition] as string),
      servers: () => serversIn(this.#map),
      refresh: (olderThanMs) => this.#refresh(olderThanMs),
      follow: (error) => this.#follow(error),
    });
  }

  /** Those of servers that do not answer are left out, unless that is the first one, which must answer. */
  async workers(name: string): Promise<CrawlWorkers | null> {
    await this.readMap();
    const all = await Promise.all(
      serversIn(this.#map).map((server) =>
        this.on(server)
          .workers(name)
          .catch((error: unknown) => {
            if (server === FIRST_SERVER || !isAway(error)) throw error;
            return null;
          }),
      ),
    );
    return mergedWorkers(all.filter((each) => each !== null));
  }

  on(server: string): ServerStore {
    const known = this.#stores.get(server);
    if (known !== undefined) return known;
    const opened = this.#open(this.#urlOf(server));
    this.#stores.set(server, opened);
    return opened;
  }

  named(url: string): string {
    const bare = withoutCredentials(url);
    return bare === withoutCredentials(this.#cluster.store) ? FIRST_SERVER : bare;
  }

  async spread(partitions: number): Promise<void> {
    const first = spreadMap(
      partitions,
      this.#cluster.servers.map((url) => this.named(url)),
    );
    await changeShared(this.#shared, MAP_KEY, (text) => ({
      text: text === null ? JSON.stringify(first) : null,
      answer: null,
    }));
    await this.readMap();
  }

  async readMap(): Promise<ServerMap> {
    this.#map = parseServerMap(await readShared(this.#shared, MAP_KEY));
    this.#readAt = performance.now();
    const { splitting } = this.#map;
    if (splitting !== undefined && !splitting.isDone && (await this.#isDivided(splitting))) {
      const [map, { into, token }] = [withSplit(this.#map, splitting), splitting];
      await this.on(serverIn(map, senderOf(into))).moves.settle(`${this.#crawl}:${senderOf(into)}`, token);
      return this.changeMap((now) => withSplit(now, splitting));
    }
    return this.#map;
  }

  /** Whether a split that the map does not know yet is complete, which the rows of the partition say. */
  async #isDivided({ of, token }: ServerSplit): Promise<boolean> {
    const rows = this.rows(`${this.#crawl}:${senderOf(of)}`, null);
    try {
      return (await rows.get(SPLIT_ROW))?.toString() === token;
    } catch (error) {
      // It is moving, which no partition does while it is split; or workers go on without its server.
      if (!isAway(error)) throw error;
      return false;
    } finally {
      await rows.close();
    }
  }

  async changeMap(change: (map: ServerMap) => ServerMap): Promise<ServerMap> {
    this.#map = await changeShared(this.#shared, MAP_KEY, (text) => {
      const changed = change(parseServerMap(text ?? undefined));
      return { text: JSON.stringify(changed), answer: changed };
    });
    return this.#map;
  }

  async close(): Promise<void> {
    for (const store of this.#stores.values()) await store.close();
  }

  get #shared() {
    return { store: this.on(FIRST_SERVER), name: this.#crawl, leaseMs: this.#cluster.leaseMs };
  }

  /** Adds the password of the configuration, if it has one. */
  #urlOf(server: string): string {
    const { store, servers } = this.#cluster;
    if (server === FIRST_SERVER) return store;
    return servers.find((url) => withoutCredentials(url) === server) ?? server;
  }

  #serverOf(name: string): string {
    const part = partOfName(name);
    if (part === null || part.crawl !== this.#crawl) return FIRST_SERVER;
    const server = serverIn(this.#map, part.partition);
    const left = this.#left.get(name);
    return left?.from === server ? left.to : server;
  }

  #storeOf(name: string): ServerStore {
    return this.on(this.#serverOf(name));
  }

  async #ask<Answer>(name: string, use: (store: ServerStore) => Promise<Answer>): Promise<Answer> {
    for (let hop = 1; ; hop++) {
      try {
        return await use(this.#storeOf(name));
      } catch (error) {
        if (!(error instanceof MovedError) || hop === HOPS) throw error;
        await this.#follow(error);
      }
    }
  }

  async #refresh(olderThanMs: number): Promise<void> {
    if (performance.now() - this.#readAt >= olderThanMs) await this.readMap();
  }

  /** Learns where the rows of a name are from the server that no longer has them. */
  async #follow({ of: name, to, token }: MovedError): Promise<void> {
    const before = this.#serverOf(name);
    await this.readMap();
    if (this.#serverOf(name) !== before) return;
    const part = partOfName(name);
    const from = serverIn(this.#map, part?.partition ?? '');
    if (to === from) this.#left.delete(name);
    else this.#left.set(name, { from, to });
    if (token !== '') await this.on(to).moves.settle(name, token);
  }
}

/** A worker shows signs of life on each server: the latest one counts. */
function mergedWorkers(all: readonly CrawlWorkers[]): CrawlWorkers | null {
  const [first] = all;
  if (first === undefined) return null;
  const newest = new Map<string, WorkerRow>();
  for (const row of all.flatMap(({ workers }) => workers)) {
    const other = newest.get(row.id);
    if (other === undefined || row.heardAt > other.heardAt) newest.set(row.id, row);
  }
  const partitions = all.flatMap((each) => each.partitions);
  const spread = partitions.filter((each) => partOfName(each.name) !== null);
  return {
    at: first.at,
    workers: [...newest.values()].sort((a, b) => a.since - b.since),
    partitions: (spread.length > 0 ? spread : partitions).sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}
