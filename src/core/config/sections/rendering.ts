import { z } from 'zod';
import { RENDER_MODES } from '../../domain/crawl/rendering/render-trials.ts';
import { choice, duration, flag, integer, size, text, texts } from '../fields.ts';

/** Section of the configuration: pages rendered by a browser. */
export const render = z.strictObject({
  mode: choice(RENDER_MODES, {
    default: 'never',
    prose:
      'Which HTML pages a browser renders: none; all that are new or changed; or (auto) those whose static page is ' +
      'empty of content, where a trial has shown that rendering adds some. It needs the package playwright and an ' +
      'installed Chromium.',
  }),
  browser: text({
    default: '',
    wanted: 'the program of a Chromium, Chrome or Edge',
    prose: 'Program of the browser. Empty: the first that is found in the path, or where installers put it.',
  }),
  sandbox: flag({
    default: true,
    prose:
      "Run pages in the browser's sandbox. Off for root, whom Chromium gives none, and where containers allow none; " +
      'then run the crawl as a user of its own.',
  }),
  pages: integer({ default: 2, min: 1, max: 64, unit: 'pages', prose: 'Pages rendered at a time.' }),
  timeoutMs: duration({
    default: '20s',
    min: '1s',
    max: '10m',
    prose: 'Longest time for one page. The document is then taken as it is; if it cannot be read, the visit fails.',
  }),
  maxRequests: integer({
    default: 60,
    min: 0,
    max: 10_000,
    unit: 'requests',
    prose: 'Most requests of one page for scripts, style sheets and data; others are refused.',
  }),
  maxBytes: size({
    default: '16MiB',
    min: '1KiB',
    max: '1GiB',
    prose: 'Most bytes that the requests of one page may bring, after decompression.',
  }),
  block: texts({
    default: ['image', 'media', 'font', 'texttrack', 'eventsource', 'manifest', 'ping', 'other'],
    pattern: /^(?:image|media|font|stylesheet|script|xhr|fetch|texttrack|eventsource|manifest|other|ping)$/,
    wanted: 'types of requests: image, media, font, stylesheet, script, xhr, fetch, eventsource, ..',
    prose: 'Types of requests that are refused. A screenshot shows images only if image is not listed.',
  }),
  maxMemory: size({
    default: '2GiB',
    min: '256MiB',
    max: '1000GiB',
    prose: 'Memory of all processes of the browser; beyond it the page that takes most is ended. Measured on Linux.',
  }),
  screenshot: flag({
    default: false,
    prose: 'Keep a PNG of each rendered page in the segment.',
  }),
});
