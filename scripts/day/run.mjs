// A day in the life of a crawl, from a packed tarball to a restored backup, with the installed command on real pages, in
// a home directory of its own. Prints the transcript; ends with an error at the first command that does not say, or do,
// what it should.
//
//   npm run day -- FOLDER..        FOLDER: HTML files, such as those of the Debian packages git-doc and sqlite3-doc; the
//                                  first is the top of the site, each other one a directory of it with a host of its own
//
// Runs on the Node that runs this. Needs npm with its registry, and for the exports jq and sqlite3.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pagesOf, startSite } from './site.mjs';
import { transcript } from './transcript.mjs';
import { startTrials } from './trials.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const sources = process.argv.slice(2).map((folder) => resolve(folder));
const isManual = (folder) => existsSync(join(folder, 'index.html')) && pagesOf(folder).length >= 20;
if (sources.length === 0 || !sources.every(isManual)) {
  console.error(
    'usage: node scripts/day/run.mjs FOLDER.., where each FOLDER has at least 20 HTML files and an index.html',
  );
  process.exit(2);
}

const PORT = Number(process.env.PORT ?? 8090);
const ALLOW = '--allow 127.0.0.0/8';
const home = realpathSync(mkdtempSync(join(tmpdir(), 'incrawl-day-')));
const docs = join(home, 'site');
const prefix = join(home, 'global');
const env = {
  ...process.env,
  HOME: home,
  COLUMNS: '100',
  INCRAWL: root,
  npm_config_prefix: prefix,
  npm_config_cache:
    process.env.npm_config_cache ?? execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim(),
  PATH: [join(prefix, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
};
const { run, cd, title, say } = transcript({
  cwd: home,
  env,
  replace: (text) =>
    text
      .replaceAll(`${home}/`, '~/')
      .replaceAll(home, '~')
      .replaceAll(/^npm (?:notice|warn).*\n/gm, ''),
  write: (text) => process.stdout.write(text),
});
const seed = `http://127.0.0.1:${PORT}/`;
let site;
let trials;

try {
  copyManuals();
  process.stdout.write('# A day in the life of a crawl\n');
  say(`\`node scripts/day/run.mjs\` ran this with Node ${process.versions.node} on ${pagesOf(docs).length} HTML files of
${sources.length} manuals, served from several addresses of this machine. Long outputs are shortened; what a line in
brackets says is not the program's.`);

  await install();
  await firstTries();
  await firstCrawl();
  const { changed, added, removed } = await comeBack();
  await steer();
  await plugin();
  await exports();
  await killed();
  await backup();
  await otherSites();
  say(
    `So ${changed.length} pages changed, ${added.length} came, ${removed.length} went; each was found, and nothing else was.`,
  );
} finally {
  await site?.close();
  await trials?.close();
  rmSync(home, { recursive: true, force: true });
}

/** The first folder is the top of the site; the index links to the others. Links of packages may lead nowhere. */
function copyManuals() {
  const [top, ...others] = sources;
  const copy = (from, to) =>
    cpSync(from, to, { recursive: true, dereference: true, filter: (path) => existsSync(path) });
  copy(top, docs);
  for (const folder of others) {
    const name = basename(folder) === 'html' ? basename(dirname(folder)) : basename(folder);
    copy(folder, join(docs, name));
    appendFileSync(join(docs, 'index.html'), `<p><a href="/${name}/index.html">${name}</a></p>`);
  }
}

async function install() {
  title('Install');
  await run(
    'npm pack --silent "$INCRAWL" && npm install -g --no-audit --no-fund ./incrawl-*.tgz && incrawl --version',
    {
      says: [/^\d+\.\d+\.\d+$/m],
    },
  );
  await run('incrawl demo', { says: [/After the first visit: \d+ KiB transferred/], head: 6, tail: 24 });
  await run('incrawl init manuals', {
    says: [/wrote .*conf\/incrawl\.yaml/, /wrote .*conf\/url-rules\.txt/, /^ +cd manuals$/m],
  });
  cd(join(home, 'manuals'));
}

async function firstTries() {
  title('A first try that fails');
  say('The site is on this machine, which no crawler should reach unasked.');
  await run('incrawl crawl https://example.org/ || test ! -e crawldb', { says: [/agent\.contact/] });
  await run(`incrawl crawl ${seed}`, { exit: 1, says: [/1 of 1 seeds could not be fetched/, /allowAddresses/] });
  say('Allowed, but the web server is not running yet.');
  await run(`incrawl crawl ${seed} ${ALLOW} --delay 0`, { exit: 1, says: [/1 of 1 seeds could not be fetched/] });
  await run('incrawl readdb --stats --dir crawl-db', { exit: 2, says: [/crawl-db/] });
}

async function firstCrawl() {
  site = await startSite(docs, PORT);
  title('The same, mended');
  say('The server is up. The addresses and the pause go into the configuration, to be there every time.');
  await run(
    [
      "sed -i -e 's|#contact: .*|contact: you@example.org|' -e 's|#delay: .*|delay: 0s|'",
      "-e 's|#allowAddresses: .*|allowAddresses: [127.0.0.0/8]|' conf/incrawl.yaml",
    ].join(' '),
  );
  await run("incrawl config | grep -E '^(agent.contact|fetch.delay|http.allowAddresses)'", {
    says: [/127\.0\.0\.0\/8/],
  });
  await run(`incrawl crawl ${site.origins.join(' ')}`, { says: [/Nothing is due any more/], head: 12, tail: 14 });
  saysRequests();
  await run('incrawl readdb --stats', { says: [/fetched/] });
  await run('incrawl skipped --counts');
  await run(`incrawl explain ${seed}`, { head: 20 });

  expectNone('links that wait at the end of a family', await waiting());
}

async function comeBack() {
  title('Files change');
  const fetched = (await quiet('incrawl readdb --status fetched --format csv --fields url'))
    .split(/\r?\n/)
    .map((url) => (url.startsWith('http') ? decodeURIComponent(new URL(url).pathname.slice(1)) : ''))
    .filter((path) => path.endsWith('.html') && path !== 'index.html')
    .sort();
  const step = Math.max(2, Math.floor(fetched.length / 20));
  const changed = fetched.filter((_, at) => at % step === 1).slice(0, 20);
  for (const path of changed) {
    const place = join(docs, path);
    const text = readFileSync(place, 'utf8');
    writeFileSync(
      place,
      text.replace(
        /<\/body>|$/i,
        '<p>As of this morning every statement about performance here was measured again on a newer machine.</p>$&',
      ),
    );
  }
  const added = ['added-today.html'];
  writeFileSync(
    join(docs, added[0]),
    '<title>Added today</title><h1>Added today</h1><p>This page was not here yesterday, and says so at once.</p>',
  );
  appendFileSync(join(docs, changed[0]), `<a href="${added[0]}">Added today</a>`);
  const removed = [fetched.find((path) => !changed.includes(path))];
  unlinkSync(join(docs, removed[0]));
  say(`${changed.length} files get a sentence, one of them a link to a new page; \`${removed[0]}\` is deleted.`);

  title('Coming back');
  say('The schedule would come back in days. The editors do not want to wait: everything is made due.');
  site.reset();
  await run('incrawl crawl --all', { says: [/made due/, /Nothing is due any more/] });
  saysRequests();
  await run('incrawl changes --since 1h --kind modified,gone --limit 6', { says: [/modified/] });
  const feed = JSON.parse(await quiet('incrawl changes --since 1h --kind modified,gone,new --json'));
  const kinds = (kind) =>
    feed.filter((entry) => entry.kind === kind).map((entry) => new URL(entry.url).pathname.slice(1));
  expectSame('modified', kinds('modified'), changed);
  expectSame('gone', kinds('gone'), removed);
  await run(`incrawl diff ${seed}${changed[1]}`, { says: [/measured again on a newer machine/] });
  return { changed, added, removed };
}

async function steer() {
  title('Steered while it runs');
  site.reset();
  await run('incrawl crawl --all --delay 10ms > crawl.log 2>&1 &');
  await until('the crawl asks', () => requests() > 20);
  await run('incrawl ctl pause');
  await delay(500);
  const paused = requests();
  await delay(2_000);
  if (requests() !== paused) throw new Error(`${requests() - paused} requests while the crawl was paused`);
  say(`[In two seconds no request came after the ${paused} before.]`);
  await run('incrawl ctl resume');
  await until('the crawl ends', () =>
    readFileSync(join(home, 'manuals', 'crawl.log'), 'utf8').includes('Nothing is due'),
  );
  if (requests() <= paused) throw new Error('no request came after the crawl was resumed');
  saysRequests();
}

async function plugin() {
  title('A plugin, for the pages that are already there');
  await run('incrawl plugins new parsefilter-headings', { says: [/plugin\.ts/] });
  await run(
    "sed -i 's|^  - parsefilter-main-content$|&\\n  - parsefilter-headings|' conf/plugins.yaml && incrawl plugins test parsefilter-headings",
    { says: [/meets the contract/, /Its own tests pass: 1/] },
  );
  await run('incrawl reparse --dry-run', { says: [/headings/] });
  await run('incrawl reparse');
  await run(
    "incrawl readdb --where 'metadata.headings.headings > 40' --fields url,title,metadata.headings.headings --limit 5",
  );
  await run('incrawl changes --since 1m --kind modified --limit 3');
}

async function exports() {
  title('Exports, opened by others');
  await run(
    'incrawl export --format jsonl -o pages.jsonl && jq -r .title pages.jsonl | sort | uniq -c | sort -rn | head -3',
  );
  await run(
    "incrawl export --format csv -o pages.csv && sqlite3 :memory: -cmd '.import --csv pages.csv pages' 'select count(*), sum(length(text)) from pages'",
  );
  await run(
    'incrawl export --format warc -o archive/ && gzip -t archive/*.warc.gz && zcat archive/*.warc.gz | head -12',
  );
  await run("zcat archive/*.warc.gz | grep -ac '^WARC-Type: response'");
  await readMarkdown();
}

/** Links of the Markdown files to other files, each of which must be there. */
async function readMarkdown() {
  await run('incrawl export --format markdown -o mirror/', { says: [/pages/] });
  const folder = join(home, 'manuals', 'mirror');
  const files = readdirSync(folder, { recursive: true }).filter((path) => path.endsWith('.md'));
  let links = 0;
  for (const file of files) {
    for (const [, target] of readFileSync(join(folder, file), 'utf8').matchAll(
      /\]\(([^():#\s]+\.md)(?:#[^\s)]*)?\)/g,
    )) {
      links++;
      const place = join(folder, dirname(file), decodeURIComponent(target));
      if (!existsSync(place)) throw new Error(`${file} links to ${target}, which is not there`);
    }
  }
  if (links === 0) throw new Error('no Markdown file links to another one');
  say(`[${files.length} files, ${links} links from one to another; all lead to a file.]`);
}

async function killed() {
  title('kill -9');
  await quiet('incrawl due touch --all');
  site.reset();
  await run('incrawl crawl --delay 10ms', { killWhen: () => requests() >= 60 });
  saysRequests();
  await run('incrawl state verify', { says: [/sound|no /i] });
  say('What was fetched in the last second before the kill is asked for again; the rest is not.');
  await run('incrawl crawl', { says: [/Nothing is due any more/] });
  saysRequests();
}

async function backup() {
  title('Backup and restore');
  await run('incrawl state backup ../backup && incrawl state backup --check ../backup');
  const before = await quiet('incrawl readdb --dump --format jsonl | sort');
  await run('rm -r crawldb && incrawl export -o pages.jsonl', { exit: 2, says: [/crawldb/] });
  await run('incrawl state restore ../backup && incrawl state verify --deep');
  const after = await quiet('incrawl readdb --dump --format jsonl | sort');
  if (after !== before) throw new Error('the restored crawl db is not the one that was backed up');
  say('All records are those of before.');
}

async function otherSites() {
  title('A password, a session, a calendar');
  trials = await startTrials(PORT + 1);
  const { origin } = trials;
  cd(home);
  await run('incrawl init others', { says: [/^ +cd others$/m] });
  cd(join(home, 'others'));
  writeFileSync(join(home, 'others', 'cookies.txt'), trials.cookies);
  say('A section of the documentation is pasted below what `init` wrote, and names the hosts.');
  appendFileSync(
    join(home, 'others', 'conf', 'incrawl.yaml'),
    `
http:
  allowAddresses: [127.0.0.0/8]
fetch:
  delay: 0s
hosts:
  - match: ${origin}/members/
    credentials: { basic: { user: me, password: { env: DAY_PASSWORD } } }
  - match: ${new URL(origin).host}
    cookies: true
    secretsOverHttp: true
    login: ${origin}/login
`,
  );
  env.DAY_PASSWORD = trials.password;
  await run(`incrawl crawl ${origin}/members/`, { exit: 1, says: [/withheld/, /secretsOverHttp/] });
  await run(`incrawl config --origin ${origin}/members/`, { says: [/Not sent, as the URL is http/] });
  await run("sed -i 's|^    credentials: |    secretsOverHttp: true\\n&|' conf/incrawl.yaml && incrawl crawl --all", {
    says: [/Nothing is due any more/],
  });
  await run(`incrawl cookies import cookies.txt && incrawl crawl ${origin}/account/`, {
    says: [/Nothing is due any more/],
  });
  trials.endSession();
  say('The server ends the session.');
  await run('incrawl crawl --all', { exit: 1, says: [/login-required/, /account/] });
  for (const section of ['cal', 'diary']) {
    await run(`incrawl crawl ${origin}/${section}/2026/100.html`, { exit: 0, says: [/Nothing is due any more/] });
    const days = trials.counts.get(section);
    if (days > 200) throw new Error(`${days} pages of a calendar without an end`);
    say(`[${days} pages of a calendar without an end.]`);
  }
}

/** Links of families that wait, and are not in the crawl db by another way. */
async function waiting() {
  const known = new Set((await quiet('incrawl readdb --dump --format csv --fields url')).split(/\r?\n/));
  const skipped = JSON.parse(await quiet('incrawl skipped --reason like-urls-wait --limit 100000 --json'));
  return skipped.map(({ url }) => url).filter((url) => !known.has(url));
}

async function until(what, holds) {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 1_200) throw new Error(`waited two minutes until ${what}`);
    await delay(100);
  }
}

function expectNone(what, found) {
  if (found.length > 0) throw new Error(`${found.length} ${what}, such as ${found[0]}`);
}

function requests() {
  return [...site.counts.values()].reduce((sum, count) => sum + count, 0);
}

function saysRequests() {
  const total = requests();
  const parts = [...site.counts].sort(([a], [b]) => a - b).map(([status, count]) => `${count} with ${status}`);
  say(`[The site answered ${total} requests: ${parts.join(', ')}.]`);
}

function expectSame(kind, found, expected) {
  if (found.sort().join() !== [...expected].sort().join()) {
    throw new Error(`${kind}: expected ${expected.sort().join(' ')}; got ${found.join(' ')}`);
  }
}

async function quiet(line) {
  return execFileSync('sh', ['-c', line], {
    cwd: join(home, 'manuals'),
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
}
