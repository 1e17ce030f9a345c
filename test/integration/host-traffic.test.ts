import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { PAGE, seed, visiting } from './visiting.ts';

it('visits leave their costs and failures with their hosts', async () => {
  const { crawler, origin, reopen } = await visiting(({ url }, response) => {
    if (url === '/slow') return;
    response.writeHead(url === '/none' ? 404 : 200, { 'content-type': 'text/html' }).end(PAGE);
  });
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const refused = `127.0.0.1:${(closed.address() as AddressInfo).port}`;
  await new Promise((resolve) => closed.close(resolve));
  await crawler.crawl({
    ...seed(`${origin}/`, `${origin}/none`, `${origin}/slow`, `http://${refused}/`),
    maxLayers: 1,
  });
  const hosts = [];
  for await (const host of (await reopen()).hosts()) hosts.push(host);
  const own = hosts.find(({ host }) => host === new URL(origin).host);
  expect(own).toMatchObject({ visits: 3, dnsFailures: 0, timeouts: 1, connectionFailures: 0 });
  expect(own?.receivedBytes).toBeGreaterThan(PAGE.length);
  expect(own?.latencyP50).toEqual(expect.any(Number));
  const dead = hosts.find(({ host }) => host === refused);
  expect(dead).toMatchObject({ visits: 1, connectionFailures: 1, receivedBytes: 0, latencyP90: null });
});
