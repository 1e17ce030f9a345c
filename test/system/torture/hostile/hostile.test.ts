import { expect, it } from 'vitest';
import { hostile } from './hostile.ts';

const SEED = 20261123;
const SHORT = ['http.timeout=25s', ...['connect', 'head', 'stall'].map((key) => `http.${key}Timeout=3s`)];

// `npm run torture -- --hostile` does the same at defaults.
it('hosts of every hostile behaviour cost only themselves', async () => {
  const lines: string[] = [];
  const config = [...SHORT, 'parse.timeout=10s', 'fetch.hostWait=5s', 'generate.maxPerHost=20'];
  const { failures } = await hostile((line) => lines.push(line), { seed: SEED, config, withinMs: 240_000 });
  expect({ failures, lines: failures === 0 ? [] : lines }).toEqual({ failures: 0, lines: [] });
  expect(lines.at(-1)).toMatch(
    /^hostile {2}(\d+) of \1 behaviours .*, canary 0, violations 0, ordinary pages 100 of 100$/,
  );
}, 300_000);
