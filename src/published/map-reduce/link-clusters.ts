import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import {
  isEmptyTemplate,
  judgeFamilies,
  noiseSamples,
  templateOf,
} from '../../core/domain/url/families/noise-families.ts';
import { pathAndQuery, UrlFamilies } from '../../core/domain/url/families/url-families.ts';
import { domainOf } from '../../operations/system/domain-of.ts';
import type { MapReduceJob } from './job.ts';

/** Maximum URLs of a domain that are clustered; others are counted as outside. */
const MAX_URLS = 500_000;

/**
 * Families of URLs per registrable domain. In: `URL`, or `URL<TAB>1` for a link that was marked as noise;
 * `URL<TAB>nothing` or `something` for what the visited page brought to the crawl. Between: `domain<TAB>URL<TAB>flag`.
 * Out, per family: `domain<TAB>number<TAB>size<TAB>noise or content<TAB>similarity to noise<TAB>first member`, and for
 * each member that is unlike its family `domain<TAB>number<TAB>deviant<TAB>URL`; per template whose visited pages
 * brought nothing: `domain<TAB>number<TAB>size<TAB>noise<TAB>share of such pages<TAB>first
 * member<TAB>template<TAB>visited pages`; URLs beyond the limits: `domain<TAB>outside<TAB>count`.
 */
export const linkClusters: MapReduceJob = {
  description: 'families of URLs per domain, and which of them are noise',
  async *map(lines) {
    for await (const line of lines) {
      const [text = '', flag = '0'] = line.split('\t');
      const canonical = canonicalUrl(text.trim());
      if ('error' in canonical) continue;
      const { url } = canonical;
      yield `${domainOf(hostOf(url))}\t${url}\t${FLAGS.has(flag) ? flag : 0}`;
    }
  },
  async *reduce(lines) {
    let domain = null as DomainUrls | null;
    for await (const line of lines) {
      const [name = '', url, flag] = line.split('\t');
      if (url === undefined) continue;
      if (domain?.name !== name) {
        if (domain !== null) yield* familiesOf(domain);
        domain = { name, urls: new Map(), outside: 0, visits: new Map() };
      }
      if (flag === NOTHING || flag === SOMETHING) {
        domain.visits.set(url, flag === NOTHING);
        continue;
      }
      const isNoise = flag === '1';
      const known = domain.urls.get(url);
      if (known === undefined && domain.urls.size >= MAX_URLS) domain.outside++;
      // A URL that is noise on one page and content on another is content.
      else domain.urls.set(url, known === undefined ? isNoise : known && isNoise);
    }
    if (domain !== null) yield* familiesOf(domain);
  },
};

const NOTHING = 'nothing';
const SOMETHING = 'something';
const FLAGS: ReadonlySet<string> = new Set(['1', NOTHING, SOMETHING]);

interface DomainUrls {
  readonly name: string;
  readonly urls: Map<string, boolean>;
  outside: number;
  /** Visited pages, and whether they brought nothing. */
  readonly visits: Map<string, boolean>;
}

function* familiesOf({ name, urls, outside, visits }: DomainUrls): Generator<string> {
  const families = new UrlFamilies();
  const byPath = new Map<string, string>();
  const familyOf = new Map<string, number>();
  for (const url of [...urls.keys()].sort()) {
    const path = pathAndQuery(url);
    if (byPath.has(path)) continue;
    byPath.set(path, url);
    familyOf.set(url, families.add(path, urls.get(url)));
  }
  const judged = judgeFamilies(families.families, noiseSamples(families.families));
  for (const [number, family] of judged.entries()) {
    const verdict = family.isNoise ? 'noise' : 'content';
    const first = byPath.get(family.leader) ?? family.leader;
    yield `${name}\t${number}\t${family.size}\t${verdict}\t${family.similarityToNoise.toFixed(4)}\t${first}`;
    for (const path of family.deviants) yield `${name}\t${number}\tdeviant\t${byPath.get(path) ?? path}`;
  }
  // URLs that are noise by their form need no second family.
  const isNoise = (url: string): boolean => judged[familyOf.get(url) ?? -1]?.isNoise === true;
  yield* templatesOf(name, judged.length, urls.keys(), visits, isNoise);
  const beyond = outside + families.outside;
  if (beyond > 0) yield `${name}\toutside\t${beyond}`;
}

/** @param from number of the first template */
function* templatesOf(
  domain: string,
  from: number,
  urls: Iterable<string>,
  visits: ReadonlyMap<string, boolean>,
  isNoise: (url: string) => boolean,
): Generator<string> {
  const templates = new Map<string, { visits: number; empty: number; readonly members: string[] }>();
  for (const [url, isEmpty] of visits) {
    const name = templateOf(url);
    if (name === null) continue;
    const template = templates.get(name) ?? { visits: 0, empty: 0, members: [] };
    templates.set(name, template);
    template.visits++;
    if (isEmpty) template.empty++;
    template.members.push(url);
  }
  for (const url of urls) if (!visits.has(url)) templates.get(templateOf(url) ?? '')?.members.push(url);
  let number = from;
  for (const [name, template] of [...templates].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!isEmptyTemplate(template)) continue;
    const { members, visits, empty } = template;
    if (members.every(isNoise)) continue;
    const [first] = members.sort();
    const columns = [domain, number++, members.length, 'noise', (empty / visits).toFixed(4), first, name, visits];
    yield columns.join('\t');
  }
}
