export type LogFields = Readonly<Record<string, unknown>>;

/** Where the program says what it does. Never one info line per URL: that belongs into a report. Never throws. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}
