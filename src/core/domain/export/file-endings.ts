// core/domain/export/: CSV rows, names and endings of files.

const ENDINGS: Readonly<Record<string, string>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'xhtml',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/css': 'css',
  'text/csv': 'csv',
  'text/vtt': 'vtt',
  'text/xml': 'xml',
  'application/xml': 'xml',
  'application/rss+xml': 'xml',
  'application/atom+xml': 'xml',
  'text/javascript': 'js',
  'application/javascript': 'js',
  'application/x-javascript': 'js',
  'application/json': 'json',
  'application/ld+json': 'json',
  'application/manifest+json': 'webmanifest',
  'application/wasm': 'wasm',
  'application/pdf': 'pdf',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/svg+xml': 'svg',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/bmp': 'bmp',
  'image/x-icon': 'ico',
  'image/vnd.microsoft.icon': 'ico',
  'font/woff': 'woff',
  'font/woff2': 'woff2',
  'font/ttf': 'ttf',
  'font/otf': 'otf',
  'application/font-woff': 'woff',
  'application/vnd.ms-fontobject': 'eot',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/ogg': 'ogv',
};

/** All that {@link fileEndingOf} gives. */
export const FILE_ENDINGS: readonly string[] = [...new Set([...Object.values(ENDINGS), 'xml', 'txt', 'bin'])];

/** File name ending of a media type, without the dot; `bin` for an unknown one. Parameters of the type are ignored. */
export function fileEndingOf(contentType: string | null): string {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return ENDINGS[type] ?? (type.endsWith('+xml') ? 'xml' : type.startsWith('text/') ? 'txt' : 'bin');
}
