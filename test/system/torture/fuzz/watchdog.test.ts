import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { ROOT } from '../program.ts';

const WATCHDOG = pathToFileURL(join(ROOT, 'dist/test/system/torture/fuzz/watchdog.js')).href;

async function child(script: string) {
  const source = `import('${WATCHDOG}').then(({ Watchdog }) => {
    const watchdog = new Watchdog(['warc', 'url'], 300); ${script} });`;
  const started = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'], timeout: 60_000 });
  const said = text(started.stdout);
  const [code, signal] = await once(started, 'exit');
  return { code, signal, said: await said };
}

it('a check that does not end is named, and ends the process', async () => {
  const { signal, said } = await child(`watchdog.begin('url', 7); for (;;);`);
  expect(signal).toBe('SIGKILL');
  expect(said).toContain('FAILED url: the check has not ended');
  expect(said).toContain('npm run torture -- --fuzz --target url --seed 7');
});

it('many checks that end, and none at all, may take as long as they like', async () => {
  const wait = `const wait = (ms) => { const end = Date.now() + ms; while (Date.now() < end); };`;
  const checks = `for (let i = 0; i < 20; i++) { watchdog.begin('url', 7); wait(50); } watchdog.end(); wait(1000);`;
  expect(await child(`${wait} ${checks}`)).toEqual({ code: 0, signal: null, said: '' });
});
