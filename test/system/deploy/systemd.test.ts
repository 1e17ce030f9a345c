import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { run as runHere } from '../../support/program.ts';

const folder = resolve(import.meta.dirname, '../../../deploy/systemd');
const units = readdirSync(folder);
const services = units.filter((name) => name.endsWith('.service'));
const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;

/** The units with a program that is on every machine: a missing one is a fault. */
const copies = mkdtempSync(join(tmpdir(), 'incrawl-units-'));
afterAll(() => rmSync(copies, { recursive: true, force: true }));
for (const name of units) {
  cpSync(join(folder, name), join(copies, name));
  writeFileSync(
    join(copies, name),
    readFileSync(join(folder, name), 'utf8').replaceAll('/usr/bin/incrawl', '/bin/true'),
  );
}

describe('systemd units', () => {
  it.each(services)('%s starts a command that incrawl knows, and ends it in time', async (name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const [, command = ''] = /^ExecStart=\/usr\/bin\/incrawl (.*)$/m.exec(text) ?? [];
    const { code, output } = await runHere([...command.split(' '), '--help'], { cwd: copies });
    expect([name, code]).toEqual([name, 0]);
    expect(command.split(' ').filter((word) => word.startsWith('--') && !output.includes(word))).toEqual([]);
    expect(text).toMatch(/^User=incrawl$/m);
    expect(text).toMatch(/^StateDirectory=incrawl$/m);
    expect(text).toMatch(/^WorkingDirectory=\/var\/lib\/incrawl$/m);
    // V8 compiles at run time.
    expect(text).not.toMatch(/^MemoryDenyWriteExecute=/m);
  });

  it('the timer belongs to a service of its name', () => {
    expect(units).toContain('incrawl-once.timer');
    expect(services).toContain('incrawl-once.service');
  });

  it.skipIf(!hasAnalyze)('systemd-analyze verifies them (skipped without systemd)', () => {
    const files = units.map((name) => join(copies, name));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.includes(copies))).toEqual([]);
    expect(status, stderr).toBe(0);
  });

  it('the page says how far they are exposed', () => {
    expect(readFileSync(resolve(folder, '../README.md'), 'utf8')).toContain('says at most 1.3 of 10');
  });

  it.skipIf(!hasAnalyze).each(services)('%s is exposed by 1.3 of 10 at most (skipped without systemd)', (name) => {
    const args = ['security', '--offline=true', '--threshold=13', join(copies, name)];
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    expect(status, stdout.split('\n').slice(-3).join('\n') + stderr).toBe(0);
  });
});
