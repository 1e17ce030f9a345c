import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { startChangingSite } from '../../../cli/support/changing-site.ts';
import { workDir } from '../../../support/work-dir.ts';
import { run, start } from '../../support/binary.ts';

const page = (more: string): string =>
  `<!doctype html><html lang=en><title>News</title><body><main><h1>News</h1><p>The boats of the harbour leave before dawn.</p>${more}</main></body></html>`;
const STORM = '<p>A storm has closed the harbour, and all boats stay where they are until Monday.</p>';

it('a watch that is killed between a change and its delivery delivers it later, and prints nothing twice', async () => {
  const site = await startChangingSite({ '/': page('') });
  const hooks: { id: unknown; signature: unknown; body: { data: { changes: { kind: string; diff: string }[] } } }[] =
    [];
  const receiver = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => {
      text += part;
    });
    request.on('end', () => {
      const { 'webhook-id': id, 'webhook-signature': signature } = request.headers;
      hooks.push({ id, signature, body: JSON.parse(text) });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

  const cwd = workDir();
  const [hangs, taken] = [join(cwd, 'hangs'), join(cwd, 'taken')];
  // The first command hangs; the shell has become `sleep`, whose number the file has.
  const command = `test -e '${hangs}' || { echo $$ > '${hangs}'; exec sleep 600; }; cat >> '${taken}'`;
  const network = ['--allow', '127.0.0.1', '--delay', '0', '--every', '1s'];
  const args = [...network, '--notify', hook, '--notify', command];
  const env = { INCRAWL_WEBHOOK_SECRET: 'secret' };
  const first = start(['watch', `${site.origin}/`, ...args], { cwd, env });
  const list = join(cwd, 'crawldb/watch/pages.json');
  const within = { timeout: 60_000, interval: 50 };
  await vi.waitFor(() => expect(readFileSync(list, 'utf8')).toContain('"state":"there"'), within);
  site.pages.set('/', page(STORM));
  // Standard output and the webhook have taken it, and that is recorded; the command has not.
  const delivered = (): number[] =>
    Object.values(JSON.parse(readFileSync(join(cwd, 'crawldb/watch/delivered.json'), 'utf8')).delivered);
  await vi.waitFor(() => expect([existsSync(hangs), delivered().sort()]).toEqual([true, [1, 2, 2]]), within);
  first.child.kill('SIGKILL');
  process.kill(Number(readFileSync(hangs, 'utf8')));
  expect((await first.finished).stdout).toMatch(/watching: News\n.*changed: News\n/);

  expect((await run(['state', 'backup', 'copy'], { cwd })).code).toBe(0);
  expect(existsSync(join(cwd, 'copy/watch/pages.json'))).toBe(true);

  const second = start(['watch', ...args], { cwd, env });
  await vi.waitFor(() => expect(readFileSync(taken, 'utf8')).toContain('{+A storm'), within);
  site.pages.set('/', page(''));
  await vi.waitFor(
    () => expect([hooks.length, readFileSync(taken, 'utf8').match(/\n/g)]).toMatchObject([2, ['\n', '\n']]),
    within,
  );
  second.child.kill('SIGINT');
  const ended = await second.finished;
  expect(ended.stdout.match(/changed: News/g)).toHaveLength(1);
  expect(
    hooks.map(({ body }) => body.data.changes.map(({ kind, diff }) => [kind, diff.includes('[-A storm')])),
  ).toEqual([[['modified', false]], [['modified', true]]]);
  expect(new Set(hooks.map(({ id }) => id)).size).toBe(2);
  expect(hooks.every(({ signature }) => String(signature).startsWith('v1,'))).toBe(true);
  receiver.close();
  await site.close();
});
