import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Behaviour, page, response } from './behaviours/behaviour.ts';

/** Nothing is sent there, and it is on no list of allowed addresses. */
const CANARY = '127.99.0.1';
/** Within it are all the other hosts. */
export const NETWORK = '127.77.0.0/16';
export const ORDINARY_HOSTS = 5;
export const PAGES_EACH = 20;
/** The end of one connection and the start of the next may be seen in the wrong order. */
const SEEN_LATE_MS = 500;
/** Time that an ordinary host takes for an answer. */
const ANSWER_MS = 20;

export interface Hosts {
  /** Of the behaviours, in their order. */
  readonly hostile: readonly string[];
  /** All pages of the ordinary hosts. */
  readonly ordinary: readonly string[];
  readonly canary: string;
  /** Connections to the canary. */
  readonly canaryHits: number;
  /** URLs of ordinary pages that were asked for. */
  readonly asked: ReadonlySet<string>;
  /** Hosts that had two connections at once, with the behaviour. */
  readonly violations: readonly string[];
  /** Of all events, the number of the last request for an ordinary page not asked for before. */
  readonly lastOrdinary: number;
  /** Of all events, the number of the last end of a connection by origin. */
  readonly lastEnd: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** Each behaviour at an address of its own, and five ordinary hosts; all on one port. */
export async function startHosts(behaviours: readonly Behaviour[]): Promise<Hosts> {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const asked = new Set<string>();
  const violations: string[] = [];
  const lastEnd = new Map<string, number>();
  let port = 0;
  let canaryHits = 0;
  let events = 0;
  let lastOrdinary = 0;

  const listen = async (address: string, connected: (socket: Socket, origin: string) => void): Promise<string> => {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
      connected(socket, `http://${address}:${port}`);
    });
    servers.push(server);
    await once(server.listen(port, address), 'listening');
    port = (server.address() as AddressInfo).port;
    return `http://${address}:${port}`;
  };

  const serve = (address: string, name: string, behaviour: Pick<Behaviour, 'greeting'>, answerTo: AnswerTo) => {
    const open = new Set<Socket>();
    return listen(address, (socket, origin) => {
      for (const other of open) {
        // Two that are both still open after a while were open at once.
        void sleep(SEEN_LATE_MS, undefined, { ref: false }).then(() => {
          if (open.has(other) && open.has(socket)) violations.push(`${name} (${origin})`);
        });
      }
      open.add(socket);
      socket.once('close', () => {
        open.delete(socket);
        lastEnd.set(origin, ++events);
      });
      const say = (answer: Answer, path: string): void => {
        const given = typeof answer === 'function' ? answer({ socket, path, origin, canary }) : answer;
        if (given !== undefined) socket.end(given, 'latin1');
      };
      if (behaviour.greeting === undefined) eachRequest(socket, (path) => say(answerTo(path, origin), path));
      else {
        socket.resume();
        say(behaviour.greeting, '');
      }
    });
  };

  const canary = await listen(CANARY, (socket) => {
    canaryHits++;
    socket.destroy();
  });
  const hostile: string[] = [];
  for (const [i, behaviour] of behaviours.entries()) {
    hostile.push(
      await serve(`127.77.${i >> 7}.${(i % 128) + 1}`, behaviour.name, behaviour, (path) => answerOf(behaviour, path)),
    );
  }
  const ordinary: string[] = [];
  for (let host = 1; host <= ORDINARY_HOSTS; host++) {
    // Among the others: visits begin in the order of addresses.
    let running = 0;
    const origin = await serve(`127.77.${host % 4}.${150 + host}`, 'ordinary', {}, (path, at) => {
      if (!/^\/\d+$/.test(path)) return response('404 Not Found');
      if (!asked.has(at + path)) lastOrdinary = ++events;
      asked.add(at + path);
      if (++running > 1) violations.push(`ordinary (${at})`);
      const text = page([], `<title>Page ${path} of host ${host}</title><p>Words of page ${path} at ${host}.</p>`);
      return ({ socket }) => {
        // Long enough for a second request to be seen.
        setTimeout(() => {
          running--;
          socket.end(text);
        }, ANSWER_MS);
        return undefined;
      };
    });
    ordinary.push(...Array.from({ length: PAGES_EACH }, (_, i) => `${origin}/${i + 1}`));
  }

  return {
    hostile,
    ordinary,
    canary,
    asked,
    violations,
    lastEnd,
    get canaryHits() {
      return canaryHits;
    },
    get lastOrdinary() {
      return lastOrdinary;
    },
    async close() {
      for (const server of servers) server.close();
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => server.listening && once(server, 'close')));
    },
  };
}

type AnswerTo = (path: string, origin: string) => Answer;

function answerOf({ answer, robots, others }: Behaviour, path: string): Answer {
  const missing = response('404 Not Found');
  if (path === '/robots.txt') return robots ?? missing;
  return (path === '/' ? answer : others) ?? missing;
}

function eachRequest(socket: Socket, then: (path: string) => void): void {
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
    const requests = received.split('\r\n\r\n');
    received = requests.pop() ?? '';
    for (const request of requests) then(request.split(' ')[1] ?? '');
  });
}
