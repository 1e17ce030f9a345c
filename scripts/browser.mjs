// A headless Chromium for pictures, driven by the DevTools protocol over a pipe.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

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
  '--remote-debugging-pipe',
];
const CLOSING_MS = 5_000;
/** Time for the first event of the running crawl to arrive, ms. */
const SETTLING_MS = 1_500;

/** The one that CHROMIUM names, or one on the path. */
function findChromium() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const places = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  const found = process.env.CHROMIUM ?? places.find((place) => existsSync(place));
  if (found === undefined) throw new Error('no Chromium on the path: name one by CHROMIUM=FILE');
  return found;
}

/** @param profile a folder for the profile of the browser */
export async function openBrowser(profile) {
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'];
  const child = spawn(findChromium(), [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], { stdio });
  const [, , , input, output] = child.stdio;
  const answers = new Map();
  let loaded = () => {};
  let text = '';
  output.setEncoding('utf8').on('data', (part) => {
    const messages = (text + part).split('\0');
    text = messages.pop();
    for (const message of messages) {
      const { id, method, result, error } = JSON.parse(message);
      if (method === 'Page.loadEventFired') loaded();
      if (id !== undefined) answers.get(id)(result ?? Promise.reject(new Error(error.message)));
    }
  });
  let last = 0;
  let sessionId;
  const send = (method, params = {}) => {
    input.write(`${JSON.stringify({ id: ++last, method, params, sessionId })}\0`);
    return new Promise((resolve) => answers.set(last, resolve));
  };
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  ({ sessionId } = await send('Target.attachToTarget', { targetId, flatten: true }));
  await send('Page.enable');
  return {
    /** A PNG of a page in a window of this size and colour scheme. */
    async picture(url, { width, height, scheme }) {
      const size = { width, height, deviceScaleFactor: 1, mobile: width < 500 };
      await send('Emulation.setDeviceMetricsOverride', size);
      await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
      const done = new Promise((resolve) => {
        loaded = resolve;
      });
      await send('Page.navigate', { url });
      await done;
      await delay(SETTLING_MS);
      const { data } = await send('Page.captureScreenshot', { format: 'png' });
      return Buffer.from(data, 'base64');
    },
    async close() {
      // It waits for its own children, which write into the profile to the last.
      const closed = once(child, 'exit');
      void send('Browser.close');
      await Promise.race([closed, delay(CLOSING_MS)]);
      child.kill('SIGKILL');
    },
  };
}
