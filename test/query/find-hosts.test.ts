import { expect, it } from 'vitest';
import { newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { NO_TRAFFIC } from '../../src/core/domain/crawl/states/host-traffic.ts';
import { NO_HOST_FACTS } from '../../src/core/ports/crawl-db.ts';
import { findHosts, type HostQuery } from '../../src/query/records/find-hosts.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';

const ENV = { now: 1_000, domainOf: (host: string) => host.split('.').slice(-2).join('.') };

async function found(query: HostQuery): Promise<string[]> {
  const db = createMemoryCrawlDb();
  const urls = ['http://a.example.org/1', 'http://a.example.org/2', 'http://b.example.org/', 'http://c.test/'];
  const puts = urls.map((url) => ({ datum: newDatum({ url, now: 0, intervalMs: 1 }), previous: null }));
  const slow = { ...NO_TRAFFIC, visits: 9, receivedBytes: 5_000, latency: { first: 50, counts: [8] } };
  const hostFacts = [
    { host: 'a.example.org', facts: { ...NO_HOST_FACTS, distrustedUntil: 2_000, traffic: slow } },
    { host: 'b.example.org', facts: { ...NO_HOST_FACTS, traffic: { ...NO_TRAFFIC, visits: 4, dnsFailures: 4 } } },
  ];
  await db.write({ puts, hostFacts });
  const hosts: string[] = [];
  for await (const { host } of findHosts(db, ENV, query)) hosts.push(host);
  return hosts;
}

it.each<[HostQuery, string[]]>([
  [{}, ['a.example.org', 'b.example.org', 'c.test']],
  [{ limit: 0 }, []],
  [{ where: 'dnsFailures > 3' }, ['b.example.org']],
  [{ where: 'latencyP90 > 5s and receivedBytes > 4KB' }, ['a.example.org']],
  [{ where: 'latencyP50 = null', limit: 1 }, ['b.example.org']],
  [{ where: 'domain = example.org and not headersTrusted' }, ['a.example.org']],
  [{ where: 'unfetched >= 2 or tld = test' }, ['a.example.org', 'c.test']],
  [{ sort: 'visits:desc', limit: 2 }, ['a.example.org', 'b.example.org']],
  [{ sort: 'dnsfailures:desc' }, ['b.example.org', 'a.example.org', 'c.test']],
])('hosts by %j', async (query, expected) => {
  expect((await found(query)).sort()).toEqual([...expected].sort());
  if (query.sort !== undefined) expect((await found(query)).slice(0, 2)).toEqual(expected.slice(0, 2));
});

it('names the field that was probably meant', async () => {
  await expect(found({ where: 'dnsFailure > 3' })).rejects.toThrow('did you mean dnsFailures?');
  await expect(found({ where: 'title = x' })).rejects.toMatchObject({ code: 'usage-invalid' });
  await expect(found({ sort: 'latncyP90' })).rejects.toThrow('did you mean latencyP90?');
});
