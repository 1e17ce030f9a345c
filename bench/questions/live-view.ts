/** Response times of the pages of `incrawl serve` on the crawl db of a million URLs that questions.ts builds. */
import { spawn } from 'node:child_process';
import { cli, stateFolder, urlOf } from './questions.ts';

const RUNS = 5;
/** Time to the last byte of a page, ms; the same aim as for a command. */
const AIM_MS = 150;

const some = encodeURIComponent(urlOf(123_456));
const PAGES: readonly (readonly [what: string, path: string])[] = [
  ['overview', '/'],
  ['changes', '/changes'],
  ['due', '/due'],
  ['hosts', '/hosts'],
  ['pages of a host', '/pages?host=www1.large.example'],
  ['gone pages', '/pages?status=gone'],
  ['a URL', `/url?u=${some}`],
  ['metrics', '/metrics'],
];

export async function benchLiveView(
  say: (text: string) => void,
  verdict: (isGood: boolean, text: string) => void,
): Promise<void> {
  const dir = await stateFolder(say);
  const server = spawn(process.execPath, [cli, 'serve', '--port', '0', '--json', '--quiet', '--dir', dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const line = await new Promise<string>((resolve) => server.stdout.once('data', (text) => resolve(String(text))));
    const { url } = JSON.parse(line) as { url: string };
    const ask = async (path: string): Promise<{ ms: number; chars: number; status: number }> => {
      const startedAt = performance.now();
      const answer = await fetch(new URL(path, url));
      const text = await answer.text();
      return { ms: performance.now() - startedAt, chars: text.length, status: answer.status };
    };
    say(`the first page, which opens the crawl db: ${(await ask('/')).ms.toFixed(0)} ms`);
    for (const [what, path] of PAGES) {
      const before = await cpuSeconds(url);
      const answers = [];
      for (let i = 0; i < RUNS; i++) answers.push(await ask(path));
      const cpuMs = ((await cpuSeconds(url)) - before) * (1_000 / RUNS);
      const best = answers.reduce((a, b) => (b.ms < a.ms ? b : a));
      const size = `${(best.chars / 1024).toFixed(0)} KiB`;
      verdict(
        best.status === 200 && best.ms <= AIM_MS,
        `${what}: ${best.ms.toFixed(1)} ms <= ${AIM_MS} ms, ${cpuMs.toFixed(1)} ms CPU, ${size}`,
      );
    }
  } finally {
    server.kill('SIGTERM');
  }
}

async function cpuSeconds(url: string): Promise<number> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  return Number(/^incrawl_serve_process_cpu_seconds_total (\S+)/m.exec(text)?.[1]);
}
