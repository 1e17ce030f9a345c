import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { json, run } from '../../support/program.ts';

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;
const scriptOf = async (shell: string): Promise<string> => {
  const { code, stdout } = await run(['completion', shell]);
  expect(code).toBe(0);
  return stdout;
};

describe('completion', () => {
  it.skipIf(!has('bash'))('completes commands, options and values in bash', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'incrawl-'));
    const script = join(folder, 'incrawl.bash');
    writeFileSync(script, await scriptOf('bash'));
    const complete = (...words: string[]): string[] => {
      const list = words.map((word) => `'${word}'`).join(' ');
      const { stdout, stderr } = spawnSync(
        'bash',
        [
          '-c',
          `source '${script}'; COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _incrawl; printf '%s\\n' "\${COMPREPLY[@]}"`,
        ],
        { encoding: 'utf8', cwd: folder },
      );
      expect(stderr).toBe('');
      return stdout.trim().split('\n');
    };
    expect(complete('incrawl', 'read')).toEqual(['readdb', 'readseg']);
    expect(complete('incrawl', 'check', 'r')).toEqual(['robots']);
    expect(complete('incrawl', 'readdb', '--top')).toEqual(['--top-n']);
    expect(complete('incrawl', '--dir', 'x', 'readdb', '--du')).toEqual(['--dump', '--due']);
    expect(complete('incrawl', 'readdb', '--format', 'c')).toEqual(['csv']);
    expect(complete('incrawl', 'readdb', '--format', 'zzz')).toEqual(['']);
    expect(complete('incrawl', 'completion', '--js')).toEqual(['--json']);
    expect(complete('incrawl', 'packages', 'install', 'du')).toEqual(['duckdb']);
    // Names of files are left to readline, which quotes them.
    expect(readFileSync(script, 'utf8')).toContain('\ncomplete -o default -F _incrawl incrawl\n');
    writeFileSync(join(folder, 'my seeds.txt'), '');
    expect(complete('incrawl', 'crawl', 'my')).toEqual(['']);
    expect(complete('incrawl', '--config', 'my')).toEqual(['']);
  });

  it.skipIf(!has('zsh'))('is a script that zsh can read', async () => {
    const { status, stderr } = spawnSync('zsh', ['-n', '-c', await scriptOf('zsh')], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it.skipIf(!has('fish'))('completes commands, options and values in fish', async () => {
    const script = join(mkdtempSync(join(tmpdir(), 'incrawl-')), 'incrawl.fish');
    writeFileSync(script, await scriptOf('fish'));
    const complete = (line: string): string[] => {
      const command = `source '${script}'; complete -C '${line}'`;
      const { stdout } = spawnSync('fish', ['--no-config', '-c', command], { encoding: 'utf8' });
      return stdout.split('\n').map((each) => each.split('\t')[0] ?? '');
    };
    expect(complete('incrawl read')).toEqual(expect.arrayContaining(['readdb', 'readseg']));
    expect(complete('incrawl check ro')).toContain('robots');
    expect(complete('incrawl readdb --top')).toContain('--top-n');
    expect(complete('incrawl readdb --format c')).toContain('csv');
    expect(complete('incrawl packages install du')).toContain('duckdb');
  });

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
    expect((await run(['help'])).stdout).toContain('Usage: incrawl [options] [command]');
  });
});
