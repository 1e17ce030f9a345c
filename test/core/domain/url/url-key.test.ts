import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  domainRange,
  hostFromPrefix,
  hostOf,
  hostPrefix,
  hostRange,
  type KeyRange,
  urlFromKey,
  urlKey,
  urlPrefixRange,
} from '../../../../src/core/domain/url/canonical/url-key.ts';
import { nodeOf, PARTITIONS, partitionOf } from '../../../../src/core/domain/url/hash/partition.ts';

const KEYS: [url: string, key: string, host: string][] = [
  ['https://www.example.com/path?x', 'com.example.www.::https/path?x', 'www.example.com'],
  ['http://www.example.com:8080/', 'com.example.www.:8080:http/', 'www.example.com:8080'],
  ['http://example.com:443/a:b/c', 'com.example.:443:http/a:b/c', 'example.com:443'],
  ['http://localhost:3000/', 'localhost.:3000:http/', 'localhost:3000'],
  ['http://192.0.2.7/a', '@192.0.2.7::http/a', '192.0.2.7'],
  ['http://127.0.0.1:8080/?q=//x', '@127.0.0.1:8080:http/?q=//x', '127.0.0.1:8080'],
  ['https://[2001:db8::1]/', '@[2001:db8::1]::https/', '[2001:db8::1]'],
  ['https://[::1]:444/x', '@[::1]:444:https/x', '[::1]:444'],
  ['https://xn--bcher-kva.example/a%20b', 'example.xn--bcher-kva.::https/a%20b', 'xn--bcher-kva.example'],
  ['https://1.2.3.example/', 'example.3.2.1.::https/', '1.2.3.example'],
];

describe('urlKey', () => {
  it.each(KEYS)('%s', (url, key, host) => {
    expect(urlKey(url)).toBe(key);
    expect(urlFromKey(key)).toBe(url);
    expect(hostOf(url)).toBe(host);
    expect(hostFromPrefix(hostPrefix(host))).toBe(host);
    expect(key.startsWith(hostPrefix(host))).toBe(true);
  });

  it('refuses texts that are no URL or key', () => {
    for (const text of ['', 'example.com/a', '://x/']) expect(() => urlKey(text)).toThrow(TypeError);
    for (const text of ['', 'com.example', 'com.example.::https', ':80:http/', '@[::1']) {
      expect(() => urlFromKey(text)).toThrow(TypeError);
    }
  });

  it('has an inverse and keeps different URLs apart', () => {
    fc.assert(
      fc.property(canonicalUrl(), canonicalUrl(), (a, b) => {
        expect(urlFromKey(urlKey(a))).toBe(a);
        expect(urlKey(a) === urlKey(b)).toBe(a === b);
        expect(new URL(a).host).toBe(hostOf(a));
      }),
    );
  });
});

describe('urlKey of many hosts', () => {
  it('gives the key of each, however many came before', () => {
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 10_000; n++) expect(urlKey(`https://h${n}.example/`)).toBe(`example.h${n}.::https/`);
    }
  });
});

describe('ranges of keys', () => {
  const urls = [
    'https://example.com/',
    'http://example.com/',
    'https://example.com:8443/',
    'https://www.example.com/docs/a',
    'https://www.example.com/docs',
    'https://a.b.example.com/docs/',
    'https://example.community/',
    'https://example-two.com/',
    'https://example1.com/',
    'https://examplez.com/',
    'https://badexample.com/',
    'http://10.0.0.1/',
    'http://10.0.0.1:81/',
    'http://10.0.0.12/',
  ];
  const within = ({ from, to }: KeyRange): string[] => urls.filter((url) => urlKey(url) >= from && urlKey(url) < to);

  it('of a host holds both schemes and no other port', () => {
    expect(within(hostRange('example.com'))).toEqual(['https://example.com/', 'http://example.com/']);
    expect(within(hostRange('example.com:8443'))).toEqual(['https://example.com:8443/']);
    expect(within(hostRange('10.0.0.1'))).toEqual(['http://10.0.0.1/']);
  });

  it('of a domain holds the hosts below it and no namesake', () => {
    expect(within(domainRange('example.com'))).toEqual(urls.slice(0, 6));
    expect(within(domainRange('10.0.0.1'))).toEqual(['http://10.0.0.1/', 'http://10.0.0.1:81/']);
  });

  it('of a prefix holds the URLs that begin so', () => {
    expect(within(urlPrefixRange('https://www.example.com/docs'))).toEqual(urls.slice(3, 5));
    expect(within(urlPrefixRange('https://www.example.com/docs/'))).toEqual(urls.slice(3, 4));
    expect(within(urlPrefixRange('https://example.com'))).toEqual(['https://example.com/']);
  });

  it('contains exactly its own URLs, for any URLs', () => {
    fc.assert(
      fc.property(canonicalUrl(), canonicalUrl(), fc.nat(), (a, b, cut) => {
        const key = urlKey(b);
        const holds = ({ from, to }: KeyRange): boolean => key >= from && key < to;
        expect(holds(hostRange(hostOf(a)))).toBe(hostOf(a) === hostOf(b));
        const { hostname } = new URL(a);
        const other = new URL(b).hostname;
        expect(holds(domainRange(hostname))).toBe(other === hostname || other.endsWith(`.${hostname}`));
        const pathStart = a.indexOf('/', a.indexOf('://') + 3) + 1;
        const prefix = a.slice(0, pathStart + (cut % (a.length - pathStart + 1)));
        expect(holds(urlPrefixRange(prefix))).toBe(b.startsWith(prefix));
      }),
    );
  });
});

describe('partitionOf', () => {
  it('never changes', () => {
    const hosts = ['example.com', 'www.example.com', 'example.com:8080', '127.0.0.1:8080', 'localhost'];
    expect(hosts.map(partitionOf)).toEqual([51, 207, 97, 166, 202]);
  });

  it('spreads hosts evenly', () => {
    const counts = new Array<number>(PARTITIONS).fill(0);
    for (let i = 0; i < 25_600; i++) counts[partitionOf(`host-${i}.example.com`)]! += 1;
    // 100 expected each, standard deviation 10: six of them either way.
    expect(Math.min(...counts)).toBeGreaterThan(40);
    expect(Math.max(...counts)).toBeLessThan(160);
  });
});

/** Few names, so that hosts and domains often meet. */
function canonicalUrl(): fc.Arbitrary<string> {
  const label = fc.constantFrom('a', 'b', 'aa', 'a-b', 'com', 'org', '1a', 'xn--bcher-kva');
  const name = fc
    .tuple(fc.array(label, { maxLength: 3 }), fc.constantFrom('com', 'org', 'comm'))
    .map(([labels, top]) => [...labels, top].join('.'));
  const host = fc.oneof({ weight: 8, arbitrary: name }, fc.constantFrom('10.0.0.1', '10.0.0.12', '[::1]', '[::1:1]'));
  const port = fc.constantFrom('', '', ':8080', ':81', ':8');
  const path = fc.array(fc.constantFrom('a', 'b', '/', ':', '?', '=', '%20', '~', '.x'), { maxLength: 5 });
  return fc
    .tuple(fc.constantFrom('http', 'https'), host, port, path)
    .map(([scheme, name, number, parts]) => `${scheme}://${name}${number}/${parts.join('')}`);
}

describe('nodeOf', () => {
  const parts = Array.from({ length: PARTITIONS }, (_, i) => i);
  const placed = (nodes: readonly string[]): string[] => parts.map((part) => nodeOf(part, nodes));

  it.each([2, 4, 9])('of %i nodes each has its share, and a node more moves about 1/(n+1), only to itself', (count) => {
    const nodes = Array.from({ length: count }, (_, i) => `node-${i}`);
    const before = placed(nodes);
    for (const node of nodes)
      expect(before.filter((own) => own === node).length).toBeGreaterThan(PARTITIONS / count / 3);
    const after = placed([...nodes, 'joined']);
    const moved = parts.filter((part) => before[part] !== after[part]);
    expect(moved.every((part) => after[part] === 'joined')).toBe(true);
    expect(moved.length / PARTITIONS).toBeGreaterThan(0.4 / (count + 1));
    expect(moved.length / PARTITIONS).toBeLessThan(1.7 / (count + 1));
  });

  it('does not go by the order of the names', () => {
    expect(placed(['a', 'b', 'c'])).toEqual(placed(['c', 'a', 'b']));
    expect(() => nodeOf(0, [])).toThrow(RangeError);
  });
});
