import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run as runHere } from '../../support/program.ts';

const folder = resolve(import.meta.dirname, '../../../deploy/cluster');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const empty = mkdtempSync(join(tmpdir(), 'incrawl-cluster-'));
afterAll(() => rmSync(empty, { recursive: true, force: true }));

interface Service {
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly read_only?: boolean;
  readonly deploy?: { readonly replicas: number };
}
const { services, volumes } = parse(read('compose.yaml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
};

describe('deploy/cluster', () => {
  it('starts commands that incrawl knows, in containers that write to their volumes only', async () => {
    for (const name of ['first', 'worker', 'view']) {
      const { command = [], read_only, volumes: mounted } = services[name] as Service;
      const { code, output } = await runHere([...command, '--help'], { cwd: empty });
      expect([name, code]).toEqual([name, 0]);
      expect(command.filter((word) => word.startsWith('--') && !output.includes(word))).toEqual([]);
      expect([name, read_only]).toEqual([name, true]);
      expect(mounted.filter((each) => each.startsWith('./') && !each.endsWith(':ro'))).toEqual([]);
    }
    const named = Object.values(services).flatMap((each) => each.volumes.map((volume) => volume.split(':')[0] ?? ''));
    expect(new Set(named.filter((name) => !/^[./]/.test(name)))).toEqual(new Set(Object.keys(volumes)));
  });

  it('has three workers, whose folders are their own, and a view that reads the folder of one', () => {
    expect((services.worker as Service).deploy?.replicas).toBe(2);
    expect((services.worker as Service).volumes).toContain('/crawl/crawldb');
    expect((services.first as Service).deploy).toBe(undefined);
    for (const name of ['first', 'view']) expect((services[name] as Service).volumes).toContain('first:/crawl/crawldb');
  });

  it('has a configuration that incrawl takes, for the servers of the compose file, and no secret in any file', async () => {
    const shown = await runHere(['config', '--json', '--config', join(folder, 'incrawl.yaml')], { cwd: empty });
    expect([shown.code, shown.stderr]).toEqual([0, '']);
    expect(shown.stdout).toContain('postgres://crawler@postgres/crawl');
    expect(shown.stdout).toContain('http://s3:9000');
    expect(Object.keys(services)).toEqual(expect.arrayContaining(['postgres', 's3']));
    for (const { environment = {} } of Object.values(services)) {
      for (const [name, value] of Object.entries(environment))
        if (/PASSWORD|KEY/.test(name)) expect(value).toMatch(/^\$\{\w+:\?\}$/);
    }
  });
});
