import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { UrlFilter } from '../../../src/core/plugin-host/api/plugin-api.ts';
import { testHost } from '../../../src/core/plugin-host/api/plugin-testing.ts';
import { type LoadedPlugins, loadPlugins } from '../../../src/core/plugin-host/loading/load-plugins.ts';
import { parsePluginList } from '../../../src/core/plugin-host/loading/plugin-list.ts';

const conf = (name: string): string => fileURLToPath(new URL(`../../../conf/${name}`, import.meta.url));
const RULES = readFileSync(conf('url-rules.txt'), 'utf8');
const CONTEXT = { from: null, depth: 0, seedHosts: new Set<string>() };

/** Media types of IANA, and those in use, by the endings that URLs of such files have. */
const ENDINGS: Readonly<Record<string, string>> = {
  'text/html': 'html htm shtml php asp aspx jsp cgi do',
  'application/xhtml+xml': 'xhtml xht',
  'text/plain': 'txt text log',
  'application/xml': 'xml',
  'application/rss+xml': 'rss',
  'application/atom+xml': 'atom',
  'application/rdf+xml': 'rdf',
  'image/gif': 'gif',
  'image/png': 'png',
  'image/apng': 'apng',
  'image/jpeg': 'jpg jpeg',
  'image/jxl': 'jxl',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/heic': 'heic',
  'image/heif': 'heif',
  'image/bmp': 'bmp',
  'image/tiff': 'tif tiff',
  'image/vnd.microsoft.icon': 'ico',
  'image/vnd.adobe.photoshop': 'psd',
  'application/postscript': 'ps eps',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/ogg': 'oga ogg opus',
  'audio/wav': 'wav',
  'audio/flac': 'flac',
  'audio/aac': 'aac',
  'audio/midi': 'mid midi',
  'audio/x-ms-wma': 'wma',
  'video/mp4': 'mp4 m4v',
  'video/mpeg': 'mpg mpeg',
  'video/3gpp': '3gp',
  'video/quicktime': 'mov',
  'video/x-msvideo': 'avi',
  'video/x-ms-wmv': 'wmv',
  'video/x-flv': 'flv',
  'video/matroska': 'mkv',
  'video/webm': 'webm',
  'video/ogg': 'ogv',
  'application/vnd.apple.mpegurl': 'm3u8',
  'font/woff': 'woff',
  'font/woff2': 'woff2',
  'font/ttf': 'ttf',
  'font/otf': 'otf',
  'application/vnd.ms-fontobject': 'eot',
  'text/css': 'css',
  'text/javascript': 'js mjs',
  'application/wasm': 'wasm',
  'application/json': 'json map',
  'application/manifest+json': 'webmanifest',
  'application/x-shockwave-flash': 'swf',
  'application/zip': 'zip',
  'application/x-bzip2': 'bz2 tbz2',
  'application/x-xz': 'xz txz',
  'application/zstd': 'zst',
  'application/x-7z-compressed': '7z',
  'application/vnd.rar': 'rar',
  'application/x-tar': 'tar',
  'application/java-archive': 'jar war',
  'application/x-iso9660-image': 'iso img',
  'application/x-apple-diskimage': 'dmg',
  'application/octet-stream': 'exe msi cab bin whl',
  'application/vnd.debian.binary-package': 'deb',
  'application/x-rpm': 'rpm',
  'application/vnd.android.package-archive': 'apk',
  'application/x-bittorrent': 'torrent',
  'application/pdf': 'pdf',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-word.document.macroenabled.12': 'docm',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.ms-excel.sheet.macroenabled.12': 'xlsm',
  'application/vnd.ms-powerpoint': 'ppt pps',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/vnd.openxmlformats-officedocument.presentationml.slideshow': 'ppsx',
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/vnd.oasis.opendocument.spreadsheet': 'ods',
  'application/vnd.oasis.opendocument.presentation': 'odp',
  'application/rtf': 'rtf',
  'application/epub+zip': 'epub',
  'application/x-mobipocket-ebook': 'mobi',
  'image/vnd.djvu': 'djvu',
  'text/calendar': 'ics',
  'text/vcard': 'vcf',
};

/**
 * Read by a parser, and kept out all the same: drawings are XML without text, and of gzip files only sitemaps are read,
 * which a rule of their own lets in.
 */
const READ_WITHOUT_TEXT: Readonly<Record<string, string>> = {
  'image/svg+xml': 'svg svgz',
  'application/gzip': 'gz tgz',
};

let loaded: LoadedPlugins;
let shipped: UrlFilter;

async function filterOf(rules: string): Promise<UrlFilter> {
  const { default: plugin } = await import('../../../plugins/urlfilter-rules/plugin.ts');
  const host = { ...testHost, readTextFile: () => rules };
  return plugin.setup(host, plugin.options?.parse({ file: 'url-rules.txt' }) as never);
}

beforeAll(async () => {
  const list = parsePluginList(readFileSync(conf('plugins.yaml'), 'utf8'), 'plugins.yaml');
  loaded = await loadPlugins({
    list: { ...list, entries: list.entries.filter(({ use }) => use.startsWith('parse-')) },
    baseDir: conf(''),
    log: testHost.log,
    kinds: new Set(['parse'] as const),
    agent: testHost.agent,
    intervals: testHost.intervals,
    now: testHost.now,
    http: testHost.http,
  });
  shipped = await filterOf(RULES);
});

const admits = (filter: UrlFilter, ending: string): boolean =>
  [`https://example.org/a.${ending}`, `https://example.org/b/A.${ending.toUpperCase()}?v=1`]
    .map((url) => filter.filter(url, CONTEXT).accept)
    .reduce((all, each, _, [first]) => {
      expect(each, ending).toBe(first);
      return all && each;
    }, true);

describe('conf/url-rules.txt', () => {
  it('lets in what a bundled parser reads, and keeps out what none does', () => {
    const wrong = Object.entries(ENDINGS).flatMap(([type, endings]) => {
      const isRead = loaded.parserFor(type) !== undefined;
      return endings.split(' ').filter((ending) => admits(shipped, ending) !== isRead);
    });
    expect(wrong).toEqual([]);
    for (const [type, endings] of Object.entries(READ_WITHOUT_TEXT)) {
      expect(loaded.parserFor(type), type).toBeDefined();
      for (const ending of endings.split(' ')) expect(admits(shipped, ending), ending).toBe(false);
    }
    expect(admits(shipped, 'xml.gz')).toBe(false);
    expect(shipped.filter('https://example.org/sitemap-1.xml.gz', CONTEXT).accept).toBe(true);
  });

  it('keeps out no ending that the list of types does not name', () => {
    const known = new Set(
      Object.values({ ...ENDINGS, ...READ_WITHOUT_TEXT })
        .join(' ')
        .split(' '),
    );
    const inRules = RULES.split('\n')
      .filter((line) => line.startsWith('-(?i)\\.(?:'))
      .flatMap((line) => line.slice('-(?i)\\.(?:'.length, line.indexOf(')(?:\\?|$)')).split('|'));
    const matched = [...known].filter((ending) => !admits(shipped, ending));
    for (const ending of inRules)
      expect(
        matched.some((each) => new RegExp(`^(?:${ending})$`).test(each)),
        ending,
      ).toBe(true);
  });

  it('lets documents in once their line is deleted, as it says', async () => {
    const lines = RULES.split('\n');
    const at = lines.findIndex((line) => line.includes('pdf|'));
    expect(lines.slice(at - 2, at).join(' ')).toMatch(/^# PDF .* delete .* the whole line\.$/);
    const without = await filterOf(lines.filter((_, i) => i !== at).join('\n'));
    for (const ending of ['pdf', 'docx', 'ods']) {
      expect(admits(shipped, ending)).toBe(false);
      expect(admits(without, ending)).toBe(true);
    }
    expect(admits(without, 'png')).toBe(false);
  });
});
