import { Writable } from 'node:stream';
import { inspect, styleText } from 'node:util';
import winston from 'winston';
import type { CrawlerOptions } from '../crawler/index.ts';
import { safeJson, safeText } from './safe-text.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

export interface LogOptions {
  readonly level: LogLevel;
  /** Text for people; otherwise one JSON object a line. */
  readonly human: boolean;
  readonly color: boolean;
  /** Takes whole lines, with their line ends. */
  readonly write: (lines: string) => void;
}

export type Log = CrawlerOptions['log'];

export interface ClosableLog extends Log {
  /** Resolves when all records are written. */
  close(): Promise<void>;
}

/** winston behind the port `Log`. All levels go to one sink, since stdout is for data. */
export function createLog(options: LogOptions): ClosableLog {
  const sink = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      options.write(String(chunk));
      done();
    },
  });
  const logger = winston.createLogger({
    level: options.level,
    format: options.human ? humanFormat(options.color) : jsonFormat(),
    transports: [new winston.transports.Stream({ stream: sink, eol: '\n' })],
  });
  const at =
    (level: LogLevel) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      // Under one key: a field named "level" or "message" must not replace winston's.
      logger.log({ level, message, fields: withoutErrors(fields) });
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    close: () =>
      new Promise((resolve) => {
        logger.once('finish', () => sink.end(resolve));
        logger.end();
      }),
  };
}

function jsonFormat(): winston.Logform.Format {
  return winston.format.printf(({ level, message, fields }) =>
    safeJson(asJson({ time: new Date().toISOString(), ...(fields as object), level, message })),
  );
}

const STYLES = { error: 'red', warn: 'yellow', info: 'green', debug: 'gray' } as const;

function humanFormat(color: boolean): winston.Logform.Format {
  return winston.format.printf(({ level, message, fields }) => {
    const time = new Date().toTimeString().slice(0, 8);
    const name = level.padEnd(5);
    const shown = color ? styleText(STYLES[level as LogLevel], name, { validateStream: false }) : name;
    const pairs = Object.entries(fields as object).map(([key, value]) => ` ${key}=${safeText(inLine(value))}`);
    return `${time} ${shown} ${safeText(String(message))}${pairs.join('')}`;
  });
}

function inLine(value: unknown): string {
  if (typeof value === 'string') return /[\s"=]/.test(value) ? JSON.stringify(value) : value;
  return asJson(value);
}

/** Never throws, whatever a plugin logs (cycles, BigInt). */
function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return JSON.stringify(inspect(value, { breakLength: Number.POSITIVE_INFINITY }));
  }
}

/** An `Error` has no enumerable fields: as JSON it would be `{}`. */
function withoutErrors(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? value.message : value]),
  );
}
