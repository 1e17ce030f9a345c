import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** A Chromium: the one that `INCRAWL_CHROMIUM` names, or one on the path; `null`: none. */
export function findChromium(): string | null {
  const { INCRAWL_CHROMIUM: named, PATH = '' } = process.env;
  if (named !== undefined) return named;
  const places = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return places.find((place) => existsSync(place)) ?? null;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

/** One tab of a headless browser. */
export interface Tab {
  /** Opens an address and waits until it is loaded. */
  open(url: string): Promise<void>;
  /** Value of an expression in the page, as JSON has it. */
  evaluate<Value>(expression: string): Promise<Value>;
  send(method: string, params?: object): Promise<Readonly<Record<string, unknown>>>;
  /** Console errors and exceptions of pages since the last call. */
  errors(): string[];
  close(): Promise<void>;
}

/** Drives a browser by the DevTools protocol over a pipe: messages of JSON, parted by zeros. */
export async function openTab(chromium: string): Promise<Tab> {
  const profile = mkdtempSync(join(tmpdir(), 'incrawl-browser-'));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--hide-scrollbars'];
  const child: ChildProcess = spawn(
    chromium,
    [...flags, '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  const [input, output] = [child.stdio[3] as Writable, child.stdio[4] as unknown as Readable];
  const waiting = new Map<number, (message: Message) => void>();
  const errors: string[] = [];
  /** Loads of documents, by their `loaderId`: that of an earlier one may come late. */
  const loaded = new Set<unknown>();
  let onLoad = (): void => {};
  let last = 0;
  let sessionId: string | undefined;
  let text = '';
  input.on('error', () => {});
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (text + chunk).split('\0');
    text = parts.pop() ?? '';
    for (const part of parts) take(JSON.parse(part) as Message);
  });

  function take({ id, method, params, ...rest }: Message): void {
    if (id !== undefined) waiting.get(id)?.(rest);
    else if (method === 'Page.lifecycleEvent' && params?.name === 'load') {
      loaded.add(params.loaderId);
      onLoad();
    } else if (method === 'Runtime.exceptionThrown' || method === 'Page.javascriptDialogOpening')
      errors.push(reported(params));
    else if (method === 'Runtime.consoleAPICalled' && params?.type === 'error') errors.push(reported(params));
    else if (method === 'Log.entryAdded' && /"level":"error"/.test(reported(params))) errors.push(reported(params));
  }

  async function send(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const id = ++last;
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    input.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`);
    const { result, error } = await Promise.race([
      answer,
      ended.then((): Message => ({ error: { message: 'it ended' } })),
    ]);
    waiting.delete(id);
    if (result === undefined) throw new Error(`${method}: ${error?.message}`);
    return result;
  }

  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  ({ sessionId } = (await send('Target.attachToTarget', { targetId, flatten: true })) as { sessionId: string });
  for (const domain of ['Page', 'Runtime', 'Log']) await send(`${domain}.enable`);
  await send('Page.setLifecycleEventsEnabled', { enabled: true });
  return {
    send,
    async open(url) {
      const { loaderId, errorText } = await send('Page.navigate', { url });
      if (loaderId === undefined) throw new Error(`${url} is no new document: ${errorText ?? 'its place is shown'}`);
      while (!loaded.has(loaderId)) {
        await new Promise<void>((resolve) => {
          onLoad = resolve;
        });
      }
    },
    async evaluate<Value>(expression: string) {
      const { result } = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
      return (result as { readonly value: Value }).value;
    },
    errors: () => errors.splice(0),
    async close() {
      // By itself it waits for its children, which write into the profile to the last.
      input.write(`${JSON.stringify({ id: ++last, method: 'Browser.close' })}\0`);
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 });
    },
  };
}

const reported = (params: unknown): string => JSON.stringify(params);
