/** Certificates as `node:tls` takes them, in PEM. */
export interface TlsFiles {
  /** The authorities that are trusted, all of them; absent: those of the system. */
  readonly ca?: readonly string[];
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
}
