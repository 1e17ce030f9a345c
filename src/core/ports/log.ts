export type LogFields = Readonly<Record<string, unknown>>;

/** The program log. Never one info line per URL: those belong in a report. Never throws. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}
