import { withoutCredentials } from '../../core/config/store-url.ts';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';

/** The server of `cluster.store`, which has the map and what all partitions share. Others are named by their URLs. */
export const FIRST_SERVER = '';

/**
 * The server on which each partition lies: a row of the first server. Partitions that are not named lie on the first
 * server. URLs have no passwords: those come from the configuration or the environment.
 */
export interface ServerMap {
  /** Number of partitions at the start of the crawl, for machines that join it; absent: it is one crawl db. */
  readonly partitions?: number;
  /** As in `PartitionShape`; absent: none was split. */
  readonly splits?: readonly number[];
  /** The last split, until the command that began it has ended it. */
  readonly splitting?: ServerSplit;
  /** By partition, in three digits. */
  readonly of: Readonly<Record<string, string>>;
  /** Moves that have begun and not ended. */
  readonly moving: Readonly<Record<string, ServerMove>>;
}

export interface ServerMove {
  readonly from: string;
  readonly to: string;
}

export interface ServerSplit {
  readonly of: number;
  readonly into: number;
  /** Token under which the rows of the new partition have arrived. */
  readonly token: string;
  /** It is already one of `splits`. */
  readonly isDone?: true;
}

/** Key of the row. */
export const MAP_KEY = 'servers';
export const ONE_SERVER: ServerMap = { of: {}, moving: {} };

export const parseServerMap = (text: string | undefined): ServerMap =>
  text === undefined ? ONE_SERVER : (JSON.parse(text) as ServerMap);

export const serverIn = (map: ServerMap, partition: string): string => map.of[partition] ?? FIRST_SERVER;

/** The map with a partition on another server. */
export function withServer(map: ServerMap, partition: string, server: string): ServerMap {
  const { [partition]: _, ...of } = map.of;
  return { ...map, of: server === FIRST_SERVER ? of : { ...of, [partition]: server } };
}

/** The map with the state of a move of a partition; `null`: the move has ended. */
export function withMove(map: ServerMap, partition: string, move: ServerMove | null): ServerMap {
  const { [partition]: _, ...moving } = map.moving;
  return { ...map, moving: move === null ? moving : { ...moving, [partition]: move } };
}

/** The map without a split that has ended or was given up. */
export function withoutSplitting(map: ServerMap, { token }: Pick<ServerSplit, 'token'>): ServerMap {
  const { splitting, ...rest } = map;
  return splitting?.token === token ? rest : map;
}

/** The map once the rows are divided: the new partition lies where the old one does. */
export function withSplit(map: ServerMap, split: ServerSplit): ServerMap {
  if (map.splitting?.token !== split.token || map.splitting.isDone) return map;
  const next = { ...map, splits: [...(map.splits ?? []), split.of], splitting: { ...split, isDone: true } as const };
  return withServer(next, senderOf(split.into), serverIn(map, senderOf(split.of)));
}

/** A new crawl: its partitions lie on the first server and these, in turn. */
export function spreadMap(partitions: number, servers: readonly string[]): ServerMap {
  const all = [FIRST_SERVER, ...new Set(servers.map(withoutCredentials))];
  let map: ServerMap = { ...ONE_SERVER, partitions };
  for (let partition = 0; partition < partitions; partition++) {
    map = withServer(map, senderOf(partition), all[partition % all.length] as string);
  }
  return map;
}

/** All servers that have partitions, and the first server. */
export const serversIn = (map: ServerMap): readonly string[] => [...new Set([FIRST_SERVER, ...Object.values(map.of)])];

/** Crawl and partition in the name of the crawl db of a partition; `null`: another kind of name. */
export function partOfName(name: string): { readonly crawl: string; readonly partition: string } | null {
  const [, crawl, partition] = /^(.*):(\d{3})$/.exec(name) ?? [];
  return crawl === undefined || partition === undefined ? null : { crawl, partition };
}
