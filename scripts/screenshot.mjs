// Takes the pictures of docs/live-view.md again: crawls the bundled changing site for weeks of a simulated clock that
// ends now, starts one more crawl that is still going, serves the state directory, and lets Chromium take the pictures.
// Needs a build and a Chromium: the one that CHROMIUM names, or one on the path.
//
//   node scripts/screenshot.mjs [FOLDER]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openBrowser } from './browser.mjs';
import { smallPng } from './small-png.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [folder = join(root, 'docs', 'images')] = process.argv.slice(2);
const program = join(root, 'dist', 'src', 'cli', 'main.js');

const HOUR = 3_600_000;
const DAYS = 60;
const HOSTS = 24;
const SEED = 1;
const BUDGET = 60;
/** How long the crawl that is shown has been going, ms. */
const CRAWLED_MS = 7_000;
/** A picture that is larger is refused: the repository keeps all versions. */
const MAX_BYTES = 150_000;

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const PICTURES = [
  ['live-view', 'overview', { ...WIDE, scheme: 'light' }],
  ['live-view-dark', 'overview', { ...WIDE, scheme: 'dark' }],
  ['live-url', 'url', { ...WIDE, scheme: 'light' }],
  ['live-url-dark', 'url', { ...WIDE, scheme: 'dark' }],
  ['live-phone', 'overview', { ...PHONE, scheme: 'light' }],
  ['live-phone-url', 'url', { ...PHONE, scheme: 'dark' }],
];
/** Common to the crawls of the past and to the one that goes on. */
const SETTINGS = [
  'http.allowAddresses=["127.0.0.1"]',
  'schedule.interval=6d',
  'schedule.minInterval=6h',
  `generate.budgetPerDay=${BUDGET}`,
];

const temp = mkdtempSync(join(tmpdir(), 'incrawl-screenshot-'));
const children = [];
let site;
let browser;
try {
  const state = join(temp, 'crawldb');
  const past = await crawledSite(state);
  site = past.server;
  const settings = SETTINGS.flatMap((each) => ['-D', each]);
  const asOwn = [...settings, '--dir', state, '--config', join(root, 'conf/incrawl.yaml')];
  start(process.execPath, [program, 'crawl', '--quiet', '-D', 'fetch.delay=4s', ...asOwn]);
  await delay(CRAWLED_MS);
  const serve = start(process.execPath, [program, 'serve', '--port', '0', '--json', '--quiet', ...asOwn]);
  const [line] = await once(serve.stdout, 'data');
  const { url } = JSON.parse(String(line));
  const pages = { overview: url, url: new URL(`/url?u=${encodeURIComponent(past.url)}`, url).href };
  browser = await openBrowser(join(temp, 'browser'));
  mkdirSync(resolve(folder), { recursive: true });
  for (const [name, page, view] of PICTURES) {
    const png = smallPng(await browser.picture(pages[page], view));
    if (png.length > MAX_BYTES) throw new Error(`${name}.png has ${png.length} bytes, expected ${MAX_BYTES} at most`);
    writeFileSync(join(resolve(folder), `${name}.png`), png);
    console.log(`${name}.png: ${Math.round(png.length / 1024)} KiB`);
  }
} finally {
  await browser?.close();
  for (const child of children) await ended(child);
  await site?.close();
  await rm(temp, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 });
}

/** Crawls the site of the demo every eight hours until now; it stays up, for the crawl that is shown. */
async function crawledSite(dir) {
  const load = (path) => import(new URL(`../dist/src/${path}`, import.meta.url).href);
  const [{ openCrawler }, { loadConfig }, { startDemoServer }, { seededRandom }] = await Promise.all(
    ['crawler/index.js', 'core/config/load.js', 'demo/demo.js', 'demo/site.js'].map(load),
  );
  // Long enough ago for the budget of the crawl that is shown, and within its last 24 hours.
  const end = Date.now() - 22 * HOUR;
  let simulated = end - DAYS * 24 * HOUR;
  const now = () => simulated ?? Date.now();
  const server = await startDemoServer({ hosts: HOSTS, seed: SEED, now });
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const overrides = [...SETTINGS, 'fetch.delay=0s'];
  const { config, baseDir } = await loadConfig({ overrides, file: join(root, 'conf/incrawl.yaml') });
  const clock = { now, sleep: async () => {} };
  const crawler = await openCrawler({ config, baseDir, dir, log: silent, clock, random: seededRandom(SEED) });
  let seeds = [{ name: 'demo', lines: server.origins.map((origin) => `${origin}/`) }];
  for (; simulated <= end; simulated += 8 * HOUR) {
    // Hosts that fail are part of each crawl: at these ports nothing listens.
    if (simulated + 8 * HOUR > end)
      seeds = [{ name: 'down', lines: ['http://127.0.0.1:65001/', 'http://127.0.0.1:65002/'] }];
    await crawler.crawl({ seeds });
    seeds = [];
  }
  const url = await telling(crawler);
  await crawler.close();
  simulated = null;
  return { server, url };
}

/** The URL with the most kinds of visits; among equal ones, that with as many changes as visits without one. */
async function telling(crawler) {
  let best = { url: '', worth: 0 };
  for await (const { url, visits } of crawler.records({})) {
    const changes = visits.filter(({ outcome }) => outcome === 'modified').length;
    const kinds = new Set(visits.map(({ outcome }) => outcome)).size;
    const worth = 100 * kinds + Math.min(changes, visits.length - changes);
    if (worth > best.worth) best = { url, worth };
  }
  return best.url;
}

function start(command, args) {
  const child = spawn(command, args, { cwd: temp, stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  return child;
}

async function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await Promise.race([exit, delay(5_000)]);
  child.kill('SIGKILL');
}
