import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workDir } from '../../../support/work-dir.ts';
import { run } from '../../support/binary.ts';

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;
const named = (title: string, shell: string): string => `${title}${has(shell) ? '' : ` (no ${shell} here)`}`;
const scriptOf = async (shell: string): Promise<string> => {
  const { code, stdout } = await run(['completion', shell]);
  expect(code).toBe(0);
  return stdout;
};

describe('completion', () => {
  it.skipIf(!has('bash'))(named('completes commands, options and values in bash', 'bash'), async () => {
    const folder = workDir();
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

  it.skipIf(!has('zsh'))(named('is a script that zsh can read', 'zsh'), async () => {
    const { status, stderr } = spawnSync('zsh', ['-n', '-c', await scriptOf('zsh')], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it.skipIf(!has('fish'))(named('completes commands, options and values in fish', 'fish'), async () => {
    const script = join(workDir(), 'incrawl.fish');
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
});
