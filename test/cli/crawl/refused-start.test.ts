import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type LocalSite, startSite } from '../support/local-site.ts';

let site: LocalSite;
beforeAll(async () => {
  site = await startSite({ pages: 1 });
});
afterAll(() => site.close());

describe('a crawl that is refused', () => {
  it.each([
    ['without a contact', 2, ['crawl', 'https://example.org/']],
    ['by a schedule', 2, ['schedule', 'https://example.org/', '--once']],
    ['for its sitemap', 2, ['due', 'sitemap', 'https://example.org/sitemap.xml']],
    ['for its only seed', 1, ['crawl', 'ftp://example.org/']],
    ['for an invalid URL', 1, ['crawl', 'http://[example/']],
    ['for seeds that are injected', 1, ['inject', 'http://[example/']],
    ['for a plugin that is not there', 2, ['crawl', 'https://example.org/', '-D', 'plugins.file=list.yaml']],
    ['for a rule of another configuration', 2, ['crawl', 'https://example.org/', '-D', 'parse.signature=mine']],
  ])('%s leaves no state directory', async (_, code, args) => {
    const cwd = workDir();
    mkdirSync(join(cwd, 'conf'));
    writeFileSync(join(cwd, 'conf', 'list.yaml'), 'plugins: [parse-mine]\n');
    const finished = await run(args, { cwd });
    expect(finished.code, finished.output).toBe(code);
    expect(finished.stderr).not.toContain('crawl db is empty');
    expect(existsSync(join(cwd, 'crawldb'))).toBe(false);
    expect((await run(['readdb', '--stats'], { cwd })).stderr).toContain('holds no crawl');
  });

  it('begins as if nothing had been, once it is let in', async () => {
    const cwd = workDir();
    await run(['crawl', 'https://example.org/'], { cwd });
    const seeds = ['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0'];
    expect((await run(seeds, { cwd })).code).toBe(0);
    expect((await run(['readdb', '--dump'], { cwd })).stdout).not.toContain('example.org');
  });

  it('leaves a folder that was there before, and a crawl that has begun', async () => {
    const cwd = workDir();
    mkdirSync(join(cwd, 'crawldb'));
    expect((await run(['crawl', 'https://example.org/'], { cwd })).code).toBe(2);
    expect(existsSync(join(cwd, 'crawldb'))).toBe(true);
    const own = ['--dir', join(cwd, 'own')];
    const begun = await run(['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0', ...own], { cwd });
    expect(begun.code).toBe(0);
    expect(readdirSync(join(cwd, 'own'))).toContain('segments');
    expect((await run(['crawl', 'https://example.org/', ...own], { cwd })).code).toBe(2);
    expect((await run(['readdb', '--dump', ...own], { cwd })).stdout).toContain(site.origin);
  });

  it('for a private address leaves no state directory, and one where another URL may be reached stays', async () => {
    const cwd = workDir();
    const blocked = await run(['crawl', `${site.origin}/`], { cwd });
    expect([blocked.code, existsSync(join(cwd, 'crawldb'))]).toEqual([1, false]);
    expect(blocked.stdout).toContain('address-blocked');
    expect((await run(['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0'], { cwd })).code).toBe(0);
    const other = workDir();
    const seeds = [`${site.origin}/`, 'http://nowhere.invalid/'];
    await run(['crawl', ...seeds, '--contact', 'me@example.org', '--delay', '0'], { cwd: other });
    expect((await run(['readdb', '--dump'], { cwd: other })).stdout).toContain('nowhere.invalid');
  });

  it('keeps seeds that were injected, although none was fetched', async () => {
    const cwd = workDir();
    expect((await run(['inject', 'https://example.org/', 'ftp://example.org/'], { cwd })).code).toBe(0);
    expect((await run(['readdb', '--dump'], { cwd })).stdout).toContain('https://example.org/');
  });
});
