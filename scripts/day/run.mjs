// A day in the life of a crawl, from a fresh clone to a restored backup, with the built command on real pages. Prints
// the transcript; ends with an error at the first command that does not say, or do, what it should.
//
//   npm run day -- FOLDER          FOLDER: HTML files, such as those of the Debian package sqlite3-doc
//
// Needs git, npm with its registry, and for the exports jq and sqlite3.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pagesOf, startSite } from './site.mjs';
import { transcript } from './transcript.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const source = resolve(process.argv[2] ?? '');
if (process.argv[2] === undefined || !existsSync(source) || pagesOf(source).length < 20) {
  console.error('usage: node scripts/day/run.mjs FOLDER, where FOLDER has at least 20 HTML files and an index.html');
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
  PATH: `${join(prefix, 'bin')}${delimiter}${process.env.PATH}`,
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

try {
  cpSync(source, docs, { recursive: true, dereference: true });
  const pages = pagesOf(docs);
  process.stdout.write('# A day in the life of a crawl\n');
  say(`\`node scripts/day/run.mjs\` ran this on ${pages.length} HTML files of a documentation package, served from several
addresses of this machine. Long outputs are shortened; what a line in brackets says is not the program's.`);

  await install();
  await firstTries();
  const { changed, added, removed } = await crawlAndComeBack(pages);
  await plugin();
  await exports();
  await killed();
  await backup();
  say(
    `So ${changed.length} pages changed, ${added.length} came, ${removed.length} went; each was found, and nothing else was.`,
  );
} finally {
  await site?.close();
  rmSync(home, { recursive: true, force: true });
}

async function install() {
  title('Install');
  await run('git clone --quiet "$INCRAWL" incrawl && cd incrawl && npm start', {
    says: [/After the first visit: \d+ KiB transferred/],
    head: 6,
    tail: 24,
  });
  await run('npm install -g --no-audit --no-fund ./incrawl && incrawl --version', { says: [/^\d+\.\d+\.\d+$/m] });
  await run('incrawl init sqlite-docs && cd sqlite-docs', { says: [/wrote .*conf\/incrawl\.yaml/] });
  cd(join(home, 'sqlite-docs'));
}

async function firstTries() {
  title('A first try that fails');
  say('The site is on this machine, which no crawler should reach unasked.');
  await run(`incrawl crawl ${seed}`, { exit: 1, says: [/1 of 1 seeds could not be fetched/, /allowAddresses/] });
  say('Allowed, but the web server is not running yet.');
  await run(`incrawl crawl ${seed} ${ALLOW} --delay 0`, { exit: 1, says: [/1 of 1 seeds could not be fetched/] });
  await run('incrawl readdb --stats --dir crawl-db', { exit: 2, says: [/crawl-db/] });
}

async function crawlAndComeBack(pages) {
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
  await run(`incrawl explain ${seed}changes.html`, { head: 20 });

  title('Files change');
  const plain = pages.filter((path) => !path.includes('/') && path !== 'index.html');
  const changed = plain.filter((_, at) => at % 20 === 7).slice(0, 20);
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
  const removed = [plain.find((path) => !changed.includes(path))];
  unlinkSync(join(docs, removed[0]));
  say(`${changed.length} files get a sentence, one of them a link to a new page; \`${removed[0]}\` is deleted.`);

  title('Coming back');
  say('The schedule would come back in days. The editors do not want to wait: everything is made due.');
  await run('incrawl readdb --status fetched --fields url --format csv | tail -n +2 | incrawl touch --stdin', {
    says: [/due/],
  });
  site.reset();
  await run('incrawl crawl', { says: [/Nothing is due any more/] });
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

async function plugin() {
  title('A plugin, for the pages that are already there');
  await run('incrawl plugins new parsefilter-headings', { says: [/plugin\.ts/] });
  await run(
    "sed -i 's|^  - parsefilter-main-content$|&\\n  - parsefilter-headings|' conf/plugins.yaml && incrawl plugins test parsefilter-headings",
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
}

async function killed() {
  title('kill -9');
  await quiet('incrawl readdb --fields url --dump --format csv | tail -n +2 | incrawl touch --stdin');
  site.reset();
  await run('incrawl crawl --delay 10ms', { killAfter: 5_000 });
  saysRequests();
  await run('incrawl verify', { says: [/sound|no /i] });
  say('What was fetched in the last second before the kill is asked for again; the rest is not.');
  await run('incrawl crawl', { says: [/Nothing is due any more/] });
  saysRequests();
}

async function backup() {
  title('Backup and restore');
  await run('incrawl backup ../backup && incrawl backup --check ../backup');
  const before = await quiet('incrawl readdb --dump --format jsonl | sort');
  await run('rm -r crawldb && incrawl export -o pages.jsonl', { exit: 2, says: [/crawldb/] });
  await run('incrawl restore ../backup && incrawl verify --deep');
  const after = await quiet('incrawl readdb --dump --format jsonl | sort');
  if (after !== before) throw new Error('the restored crawl db is not the one that was backed up');
  say('All records are those of before.');
}

function saysRequests() {
  const total = [...site.counts.values()].reduce((sum, count) => sum + count, 0);
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
    cwd: join(home, 'sqlite-docs'),
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
}
