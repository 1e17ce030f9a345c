import type { Socket } from 'node:net';

export interface Asked {
  readonly socket: Socket;
  /** As sent. */
  readonly path: string;
  /** `http://127.77.x.y:port` */
  readonly origin: string;
  /** Origin of the address that must never be reached. */
  readonly canary: string;
}

/** Bytes after which the connection ends; undefined: the answer has done with the socket as it likes. */
export type Answer = string | Buffer | ((asked: Asked) => string | Buffer | undefined);

/** One host. What it has no answer for is answered by 404. */
export interface Behaviour {
  readonly name: string;
  /**
   * Right ends of the visit to its `/`: `fetched`, `moved`, `gone`, `waits` for a host that must not be asked before
   * the end of the crawl, or an error code.
   */
  readonly ends: readonly string[];
  /** Before any request, at each connection. */
  readonly greeting?: Answer;
  /** To `/`. */
  readonly answer?: Answer;
  /** To `/robots.txt`. */
  readonly robots?: Answer;
  /** To all other paths. */
  readonly others?: Answer;
}

/** Rows of a table: name, right ends separated by spaces, answer to `/`. */
export function answers(rows: readonly (readonly [string, string, Answer])[]): Behaviour[] {
  return rows.map(([name, ends, answer]) => ({ name, ends: ends.split(' '), answer }));
}

/** As `answers`, with greetings in place of answers. */
export function greetings(rows: readonly (readonly [string, string, Answer])[]): Behaviour[] {
  return rows.map(([name, ends, greeting]) => ({ name, ends: ends.split(' '), greeting }));
}

export const PAGE =
  '<!doctype html><html><head><title>A page</title></head><body><p>Words of an ordinary page.</p></body></html>';
export const HTML = 'Content-Type: text/html';

/** A response that names no length: its body lasts until the connection ends. Lines of `fields` may be malformed. */
export function response(status: string, fields: readonly string[] = [], body = ''): string {
  return `${[`HTTP/1.1 ${status}`, 'Connection: close', ...fields].join('\r\n')}\r\n\r\n${body}`;
}

/** A good page with these fields besides. */
export function page(fields: readonly string[] = [], body = PAGE): string {
  return response('200 OK', [HTML, ...fields], body);
}

/** Bytes of any kind after the head of a good response. */
export function bytes(fields: readonly string[], body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(response('200 OK', fields), 'latin1'), body]);
}

/** `first`, and `chunk` again and again as fast as it is read, until the other side ends it. */
export function endless(first: string, chunk: string): Answer {
  const [head, block] = [Buffer.from(first, 'latin1'), Buffer.from(chunk, 'latin1')];
  return ({ socket }) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.write(head);
    socket.on('drain', more);
    more();
    return undefined;
  };
}

/** `first`, then a piece each second until the other side ends it. */
export function slow(first: string, piece: string): Answer {
  return ({ socket }) => {
    socket.write(first, 'latin1');
    const timer = setInterval(() => socket.write(piece, 'latin1'), 1000);
    socket.once('close', () => clearInterval(timer));
    return undefined;
  };
}

/** `first`, and then nothing more. */
export function silent(first = ''): Answer {
  return ({ socket }) => {
    socket.write(first, 'latin1');
    return undefined;
  };
}

/** `first`, and a reset. */
export function reset(first = ''): Answer {
  return ({ socket }) => {
    if (first === '') socket.resetAndDestroy();
    else socket.write(first, 'latin1', () => socket.resetAndDestroy());
    return undefined;
  };
}
