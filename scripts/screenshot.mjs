// Takes docs/images/live-view.png again: crawls the bundled changing site for weeks of a simulated clock that ends
// now, starts one more crawl that is still going, serves the state directory, and lets Chromium take the picture.
// Needs a build and a Chromium: the one that CHROMIUM names, or one on the path.
//
//   node scripts/screenshot.mjs [FILE] [PAGE]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [file = join(root, 'docs', 'images', 'live-view.png'), page = '/'] = process.argv.slice(2);
const program = join(root, 'dist', 'src', 'cli', 'main.js');

const HOUR = 3_600_000;
const DAYS = 60;
const HOSTS = 24;
const SEED = 1;
/** How long the crawl that is shown has been going, ms. */
const CRAWLED_MS = 7_000;
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--hide-scrollbars',
  '--window-size=1280,1480',
  '--remote-debugging-pipe',
];

const chromium = findChromium();
const temp = mkdtempSync(join(tmpdir(), 'incrawl-screenshot-'));
const children = [];
let site;
try {
  const state = join(temp, 'crawldb');
  site = await crawledSite(state);
  const asOwn = [
    '-D',
    'http.allowAddresses=["127.0.0.1"]',
    '-D',
    'schedule.interval=6d',
    '--dir',
    state,
    '--config',
    join(root, 'conf/incrawl.yaml'),
  ];
  start(process.execPath, [program, 'crawl', '--quiet', '-D', 'fetch.delay=4s', ...asOwn]);
  await delay(CRAWLED_MS);
  const serve = start(process.execPath, [program, 'serve', '--port', '0', '--json', '--quiet', ...asOwn]);
  const [line] = await once(serve.stdout, 'data');
  const { url } = JSON.parse(String(line));
  mkdirSync(dirname(resolve(file)), { recursive: true });
  writeFileSync(resolve(file), await pictureOf(new URL(page, url).href));
  console.log(`${file}: ${Math.round(statSync(file).size / 1024)} KiB`);
} finally {
  for (const child of children) await ended(child);
  await site?.close();
  await rm(temp, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 });
}

/** Crawls the site of the demo every eight hours until now; it stays up, for the crawl that is shown. */
async function crawledSite(dir) {
  const load = (path) => import(new URL(`../dist/src/${path}`, import.meta.url).href);
  const [{ openCrawler }, { loadConfig }, { startDemoServer }, { seededRandom }] = await Promise.all(
    ['crawler.js', 'config/load.js', 'demo/server.js', 'demo/words.js'].map(load),
  );
  const end = Date.now() - 10 * HOUR;
  let simulated = end - DAYS * 24 * HOUR;
  const now = () => simulated ?? Date.now();
  const server = await startDemoServer({ hosts: HOSTS, seed: SEED, now });
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const overrides = [
    'http.allowAddresses=["127.0.0.1"]',
    'fetch.delay=0s',
    'schedule.interval=6d',
    'schedule.minInterval=6h',
  ];
  const { config, baseDir } = await loadConfig({ overrides, file: join(root, 'conf/incrawl.yaml') });
  const clock = { now, sleep: async () => {} };
  const crawler = await openCrawler({ config, baseDir, dir, log: silent, clock, random: seededRandom(SEED) });
  let seeds = [{ name: 'demo', lines: server.origins.map((origin) => `${origin}/`) }];
  for (; simulated <= end; simulated += 8 * HOUR) {
    await crawler.crawl({ seeds });
    seeds = [];
  }
  await crawler.close();
  simulated = null;
  return server;
}

function start(command, args, stdio = ['ignore', 'pipe', 'ignore']) {
  const child = spawn(command, args, { cwd: temp, stdio });
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

/** PNG of a page as it is once its script has drawn the curves. Speaks the DevTools protocol over a pipe. */
async function pictureOf(url) {
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'];
  const browser = start(chromium, [...FLAGS, `--user-data-dir=${join(temp, 'browser')}`, url], stdio);
  const [, , , input, output] = browser.stdio;
  const answers = new Map();
  let text = '';
  output.setEncoding('utf8').on('data', (chunk) => {
    const messages = (text + chunk).split('\0');
    text = messages.pop();
    for (const message of messages) {
      const { id, result, error } = JSON.parse(message);
      if (id !== undefined) answers.get(id)(result ?? Promise.reject(new Error(error.message)));
    }
  });
  let last = 0;
  const ask = (method, params, sessionId) => {
    input.write(`${JSON.stringify({ id: ++last, method, params, sessionId })}\0`);
    return new Promise((resolve) => answers.set(last, resolve));
  };
  const { targetInfos } = await ask('Target.getTargets', {});
  const { targetId } = targetInfos.find(({ type }) => type === 'page');
  const { sessionId } = await ask('Target.attachToTarget', { targetId, flatten: true });
  for (let tries = 0; tries < 50; tries++) {
    const expression = 'document.querySelectorAll("canvas").length > 0';
    const { result } = await ask('Runtime.evaluate', { expression, returnByValue: true }, sessionId);
    if (result.value === true) break;
    await delay(100);
  }
  const { data } = await ask('Page.captureScreenshot', { format: 'png' }, sessionId);
  // Told to close, it waits for its own children, which write into the profile to the last.
  const closed = once(browser, 'exit');
  void ask('Browser.close', {});
  await Promise.race([closed, delay(5_000)]);
  return Buffer.from(data, 'base64');
}

function findChromium() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const places = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  const found = process.env.CHROMIUM ?? places.find((place) => existsSync(place));
  if (found === undefined) throw new Error('no Chromium on the path: name one by CHROMIUM=FILE');
  return found;
}
