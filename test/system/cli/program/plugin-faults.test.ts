import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workDir } from '../../../support/work-dir.ts';
import { run } from '../../support/binary.ts';

function writePluginList(cwd: string, plugin: string): void {
  const others = ['protocol-http', 'parse-html', 'signature-simhash', 'schedule-freshness'];
  mkdirSync(join(cwd, 'conf'), { recursive: true });
  const lines = [...others, plugin].map((name) => `  - ${name}\n`);
  writeFileSync(join(cwd, 'conf', 'plugins.yaml'), `plugins:\n${lines.join('')}`);
}

describe.concurrent('faults of a plugin that no caller sees', () => {
  it('a rejection that a plugin does not handle is reported with its file, without a stack', async () => {
    const cwd = workDir();
    mkdirSync(join(cwd, 'conf', 'plugins', 'urlfilter-stray'), { recursive: true });
    const letGo = (body: string): void =>
      writeFileSync(
        join(cwd, 'conf', 'plugins', 'urlfilter-stray', 'plugin.ts'),
        `import { definePlugin } from 'incrawl/plugin';
      async function ask(): Promise<void> { ${body} }
      export default definePlugin({ name: 'urlfilter-stray', api: 1, setup: () => ({ filter: () => { void ask(); return { accept: true }; } }) });
      `,
      );
    letGo("throw new Error('boom');");
    writePluginList(cwd, 'urlfilter-stray');
    const { code, stderr } = await run(['inject', 'http://example.org/'], { cwd });
    expect(stderr).toMatch(
      /^incrawl: \S+plugins\/urlfilter-stray\/plugin\.ts:2:\d+: an error that the plugin did not handle: boom\n$/,
    );
    expect(code).toBe(1);
    expect((await run(['state', 'verify'], { cwd })).code).toBe(0);
    // Where Node's own code threw it, whose places look a little like paths.
    letGo("await (await import('node:fs/promises')).open('/nowhere/at-all');");
    expect(await run(['inject', 'http://example.org/'], { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^incrawl: \S+plugins\/urlfilter-stray\/plugin\.ts:2:\d+: an error that the plugin did not handle: ENOENT[^\n]*\n$/,
      ),
    });
  });

  it('an error of a plugin package is reported with its file, also one of a package that it needs', async () => {
    const cwd = workDir();
    const needed = join(cwd, 'node_modules', 'needed');
    const plugin = join(cwd, 'node_modules', 'urlfilter-packaged');
    for (const folder of [needed, plugin]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(needed, 'index.js'), `export const ask = async () => { throw new Error('boom'); };`);
    writeFileSync(
      join(plugin, 'index.js'),
      `import { ask } from 'needed';
      export default { name: 'urlfilter-packaged', api: 1, setup: () => ({ filter: () => { setTimeout(ask); return { accept: true }; } }) };
      `,
    );
    // As most packages without CommonJS say it: for import alone.
    const manifest = (name: string) =>
      JSON.stringify({ name, version: '1.0.0', type: 'module', exports: { '.': { import: './index.js' } } });
    writeFileSync(join(needed, 'package.json'), manifest('needed'));
    writeFileSync(join(plugin, 'package.json'), manifest('urlfilter-packaged'));
    writePluginList(cwd, 'urlfilter-packaged');
    const { code, stderr } = await run(['inject', 'http://example.org/'], { cwd });
    expect(stderr).toMatch(/^incrawl: \S+\/needed\/index\.js:1:\d+: an error that the plugin did not handle: boom\n$/);
    expect(code).toBe(1);
  });

  it.each([
    [
      'never answers',
      'new Promise(() => {})',
      'the work stands still before its end: a promise of a plugin never settles',
    ],
    [
      'ends the process',
      'process.exit(0)',
      'process.exit() was called before the work was done: plugins must not call it',
    ],
  ])('a plugin that %s does not end the work in silence, nor as if it were done', async (_what, does, words) => {
    const cwd = workDir();
    const plugin = join(cwd, 'conf', 'plugins', 'urlfilter-odd');
    mkdirSync(plugin, { recursive: true });
    writeFileSync(
      join(plugin, 'plugin.mjs'),
      `export default { name: 'urlfilter-odd', api: 1, setup: () => ${does} };`,
    );
    writePluginList(cwd, 'urlfilter-odd');
    for (const args of [
      ['inject', 'http://example.org/'],
      ['plugins', 'test', 'urlfilter-odd'],
    ]) {
      const { code, stdout, stderr } = await run(args, { cwd });
      expect(stderr).toContain(`incrawl: ${words}`);
      expect(stdout).toBe('');
      expect(code).toBe(1);
    }
  });
});
