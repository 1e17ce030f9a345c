import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';

describe('who may read and lead a state directory', () => {
  it.skipIf(process.platform === 'win32')(
    'a new one is for its owner alone, an existing one keeps its rights',
    async () => {
      const dir = join(workDir(), 'new');
      const seed = { input: 'http://a.example/\n' };
      expect(await run(['inject', '--dir', dir, '-'], seed)).toMatchObject({ code: 0 });
      expect(statSync(dir).mode & 0o777).toBe(0o700);
      const open = workDir();
      mkdirSync(join(open, 'state'), { mode: 0o755 });
      expect(await run(['inject', '--dir', join(open, 'state'), '-'], seed)).toMatchObject({ code: 0 });
      expect(statSync(join(open, 'state')).mode & 0o777).toBe(0o755);
    },
  );
});
