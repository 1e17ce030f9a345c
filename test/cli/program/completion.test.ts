import { describe, expect, it } from 'vitest';
import { json, run } from '../../support/program.ts';

describe('completion', () => {
  it('names every command in each shell, and refuses another shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { script } = await json<{ script: string }>(['completion', shell, '--json']);
      for (const name of ['crawl', 'readdb', 'explain', 'plugins', 'top-n']) expect(script).toContain(name);
    }
    const { code, stderr } = await run(['completion', 'tcsh']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Allowed choices are bash, zsh, fish')]);
  });
});

describe('help', () => {
  it('explains commands and topics, and suggests names for typos', async () => {
    expect((await run(['help', 'check', 'url'])).stdout).toContain('Usage: incrawl check url');
    expect((await run(['help', 'config'])).stdout).toContain('fetch.delay');
    expect((await run(['help', 'errors'])).stdout).toContain('robots-denied');
    const page = await json<{ parts: { rows: string[][] }[] }>(['help', 'states', '--json']);
    expect(page.parts[0]?.rows.map(([state]) => state)).toContain('orphan');
    const { code, stderr } = await run(['help', 'reddb']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean readdb?')]);
  });

  it('without a topic shows all commands', async () => {
    expect((await run(['help'])).stdout).toContain('Usage: incrawl COMMAND [options]');
  });
});
