import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { Origin } from '../resolve.ts';
import type { Config } from '../schema.ts';
import { userAgentOf } from '../user-agent.ts';
import { hostEntriesBy } from './host-entries.ts';
import { HOST_KEYS } from './host-keys.ts';

/** What holds for a URL: the entries of `hosts:` that decide, and each setting with its source. */
export interface UrlSettings {
  /** `hosts[1]`, the first entry that matches the URL; `null`: none does. */
  readonly entry: string | null;
  /** The first one for the whole host, whose delay, connections and fetches a day hold; `null`: none. */
  readonly hostEntry: string | null;
  readonly settings: ReadonlyMap<string, Origin>;
  /** Settings that hold secrets, which are not sent to this URL: it is http, and `secretsOverHttp` is not set. */
  readonly withheld: readonly string[];
}

/** The general setting where no entry has one. */
const GENERAL: Readonly<Record<string, string>> = {
  delay: 'fetch.delay',
  connections: 'fetch.connectionsPerHost',
  render: 'render.mode',
  minInterval: 'schedule.minInterval',
  maxInterval: 'schedule.maxInterval',
};

/** Settings that all URLs of a host share. */
const OF_HOST: ReadonlySet<string> = new Set(['delay', 'connections', 'fetchesPerDay']);

/**
 * @param url canonical
 * @param origins of the configuration: where each entry and each general setting comes from
 */
export function settingsForUrl(config: Config, origins: ReadonlyMap<string, Origin>, url: string): UrlSettings {
  const entries = hostEntriesBy(config.hosts);
  const names = [entries.forUrl(url), entries.forHost(hostOf(url))].map((found) =>
    found === undefined ? null : `hosts[${found.index}]`,
  );
  const [entry = null, hostEntry = null] = names;
  const settings = new Map<string, Origin>();
  for (const key of Object.keys(HOST_KEYS).filter((each) => each !== 'match')) {
    const name = OF_HOST.has(key) ? hostEntry : entry;
    const set = name === null ? undefined : origins.get(name);
    const value = (set?.value as Readonly<Record<string, unknown>> | undefined)?.[key];
    const general = value === undefined ? generalSetting(config, origins, key) : { value, origin: set?.origin ?? '' };
    if (general !== undefined) settings.set(key, general);
  }
  return { entry, hostEntry, settings, withheld: withheldOf(entries.forUrl(url)?.entry, url) };
}

function withheldOf(entry: Config['hosts'][number] | undefined, url: string): string[] {
  if (entry === undefined || entry.secretsOverHttp === true || url.startsWith('https:')) return [];
  const isSecret = Object.values(entry.headers ?? {}).some((value) => typeof value !== 'string');
  return [
    ...(isSecret ? ['headers'] : []),
    ...(entry.credentials === undefined ? [] : ['credentials']),
    ...(entry.cookies === true ? ['cookies'] : []),
  ];
}

function generalSetting(config: Config, origins: ReadonlyMap<string, Origin>, key: string): Origin | undefined {
  if (key === 'userAgent') return { value: userAgentOf(config.agent), origin: 'agent' };
  const name = GENERAL[key];
  const found = name === undefined ? undefined : origins.get(name);
  return found && { value: found.value, origin: `${name}, ${found.origin}` };
}
