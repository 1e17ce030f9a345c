import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { fillIn } from '../../../examples/members/conf/plugins/protocol-form-login/form.ts';
import type { RecordView } from '../../../src/crawler/index.ts';
import { served } from '../../cli/support/served.ts';
import { membersSite } from '../../site/members-site.ts';
import { workDir } from '../../support/work-dir.ts';
import { sh } from '../integration/installed.ts';
import { BINARY, json, run } from '../support/binary.ts';

const LOGIN = { user: 'reader', password: 'pass&word=Kq9 %2B"' };
const members = membersSite(LOGIN, ['/essay']);
const site = served(members.server);
const EXAMPLE = resolve(import.meta.dirname, '../../../examples/members');
const bin = workDir();
writeFileSync(join(bin, 'incrawl'), `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`, { mode: 0o755 });
const page = (name: string, text: string, links = ''): string =>
  `<title>${name}</title><main><h1>${name}</h1><p>${Array.from({ length: 90 }, (_, i) => `${text}${(i * 7919) % 97}`).join(' ')}</p></main>${links}`;

/** A copy of the example for the site of this machine; `script` runs it as a user does. */
function copied() {
  const cwd = join(workDir(), 'members');
  cpSync(EXAMPLE, cwd, { recursive: true });
  for (const name of ['conf/incrawl.yaml', 'conf/plugins.yaml']) {
    const text = readFileSync(join(cwd, name), 'utf8');
    const here = text.replaceAll('https://members.example.org', site.origin);
    const host = here.replaceAll('members.example.org', site.origin.slice('http://'.length));
    writeFileSync(join(cwd, name), host.replace('cookies: true', 'cookies: true\n    secretsOverHttp: true'));
  }
  writeFileSync(join(cwd, 'seeds.txt'), `${site.origin}/\n`);
  const env = { ...(process.env as Record<string, string>), PATH: `${bin}${delimiter}${process.env.PATH}` };
  return {
    cwd,
    script: (more: Record<string, string>) =>
      sh('./visit.sh --allow 127.0.0.1 --delay 0 --verbose -D fetch.auditShare=0', cwd, { ...env, ...more }),
    record: (path: string) => json<RecordView>(['readdb', '--url', `${site.origin}${path}`], { cwd }),
    async touch(...paths: string[]) {
      const { code, stderr } = await run(['due', 'touch', ...paths.map((path) => `${site.origin}${path}`)], { cwd });
      expect(code, stderr).toBe(0);
    },
  };
}
const ENV = { MEMBERS_USER: LOGIN.user, MEMBERS_PASSWORD: LOGIN.password };
const logins = (): string[] => members.log.splice(0).filter((line) => line.endsWith('POST /session'));

describe('examples/members', { timeout: 120_000 }, () => {
  it('logs in once, keeps the session from run to run, and logs in again when it has ended', async () => {
    members.pages.set('/', page('Front', 'f', '<a href="/essay">e</a><a href="/letters">l</a>'));
    members.pages.set('/essay', page('Essay', 'e'));
    members.pages.set('/letters', page('Letters', 'l'));
    const { cwd, script, record, touch } = copied();
    const printed: string[] = [];
    const visit = async (): Promise<void> => {
      const { code, output } = await script(ENV);
      expect(code, output).toBe(0);
      printed.push(output);
    };
    await visit();
    expect(logins()).toEqual(['ok POST /session']);
    for (const path of ['/', '/essay', '/letters']) {
      expect(await record(path)).toMatchObject({
        state: 'fetched',
        lastError: null,
        title: expect.not.stringContaining('Log'),
      });
    }
    await touch('/', '/essay');
    await visit();
    expect(members.log.splice(0)).toEqual(['304 GET /', '304 GET /essay']);
    members.expire();
    members.pages.set('/essay', page('Essay', 'other'));
    await touch('/essay', '/letters');
    await visit();
    expect(members.log).toContain('form GET /essay');
    expect(members.log.slice(-4)).toContain('304 GET /letters');
    expect(logins()).toEqual(['ok POST /session']);
    expect(await record('/essay')).toMatchObject({ lastError: null, title: 'Essay' });

    const secrets = [LOGIN.password, encodeURIComponent(LOGIN.password), ...members.sessions];
    expect(members.sessions.size).toBe(2);
    const files = readdirSync(cwd, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('crawldb/cookies'))
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.some((file) => file.endsWith('.warc.gz'))).toBe(true);
    for (const secret of secrets) {
      for (const text of printed) expect(text).not.toContain(secret);
      for (const file of files) {
        const bytes = readFileSync(file);
        expect(bytes.includes(secret), file).toBe(false);
        if (file.endsWith('.gz')) expect(gunzipSync(bytes).includes(secret), file).toBe(false);
      }
    }
  });

  it('a wrong password is tried once, and no page is taken for what the form says', async () => {
    members.pages.set('/', page('Front', 'f', '<a href="/essay">e</a>'));
    const { script, record } = copied();
    const { output } = await script({ ...ENV, MEMBERS_PASSWORD: 'wrong' });
    expect(output).toContain('login-required');
    expect(logins()).toEqual(['refused POST /session']);
    expect(await record('/')).toMatchObject({ title: null, lastError: { code: 'login-required' } });
  });

  it('says which secret is missing', async () => {
    const { script } = copied();
    const { code, output } = await script({ MEMBERS_USER: LOGIN.user });
    expect(code).not.toBe(0);
    expect(output).toContain('the password is missing');
  });
});

describe('the form of a login page, filled in', () => {
  const at = new URL('https://members.example.org/login');
  it.each<[string, string | null]>([
    ['<form><input name=u><input name=p><input type=HIDDEN name=t value="a&amp;b"></form>', 't=a%26b&u=1&p=2'],
    ['<FORM action="in"><input name="u"/><input name=\'p\'/></FORM>', 'u=1&p=2'],
    ['<form><input name=u></form><form><input name=p></form>', null],
    ['<form action="https://elsewhere.example/"><input name=u><input name=p></form>', null],
    ['<p>no form</p>', null],
  ])('%s', (html, fields) => {
    expect(fillIn(html, at, { u: '1', p: '2' })?.fields.toString() ?? null).toBe(fields);
  });
});
