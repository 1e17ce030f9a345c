import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type LoadPackage, loadPackage } from 'incrawl/bundled';

/** The used part of the optional package `pdfjs-dist`. */
export interface Pdfjs {
  getDocument(source: Readonly<Record<string, unknown>>): {
    readonly promise: Promise<PdfFile>;
    destroy(): Promise<void>;
  };
  readonly PDFDateString: { toDateObject(written: string): Date | null };
}

export interface PdfFile {
  readonly numPages: number;
  getPage(number: number): Promise<PdfPage>;
  getMetadata(): Promise<{
    readonly info: Readonly<Record<string, unknown>>;
    /** XMP; `get` answers a text, a list, or `null`. */
    readonly metadata: { get(name: string): unknown } | null;
  }>;
}

export interface PdfPage {
  getTextContent(): Promise<{ readonly items: readonly PdfText[] }>;
  getAnnotations(): Promise<readonly PdfAnnotation[]>;
  cleanup(): boolean;
}

/** A piece of text in the order of the page's content stream. Lengths in units of the page, y upwards. */
export interface PdfText {
  readonly str: string;
  readonly dir: 'ltr' | 'rtl' | 'ttb';
  readonly width: number;
  readonly transform: readonly [number, number, number, number, number, number];
  /** Whether a line ends with it. */
  readonly hasEOL: boolean;
}

export interface PdfAnnotation {
  readonly subtype: string;
  /** Left, lower, right, upper. */
  readonly rect: readonly [number, number, number, number];
  /** Absolute; absent for links within the document. */
  readonly url?: string;
}

export interface PdfjsPackage {
  /** Imports pdf.js at the first PDF, as this takes some 100 ms. */
  load(): Promise<Pdfjs>;
  /** Folder of the predefined character maps, with a slash at its end. */
  readonly cMaps: string;
}

/** Throws an error that names the installing command if the package is missing. */
export function findPdfjs(load: LoadPackage = loadPackage): PdfjsPackage {
  const { root } = load('pdfjs', 'parse-pdf');
  let loaded: Promise<Pdfjs> | null = null;
  return {
    cMaps: `${join(root, 'cmaps')}/`,
    load: () => {
      loaded ??= importQuietly(root);
      return loaded;
    },
  };
}

/**
 * When it is loaded, pdf.js needs browser classes, for drawing only, and without its optional canvas it prints that
 * they are missing. So empty classes are provided, and printing is disabled while it loads.
 */
async function importQuietly(root: string): Promise<Pdfjs> {
  const scope = globalThis as Record<string, unknown>;
  for (const name of ['DOMMatrix', 'ImageData', 'Path2D']) scope[name] ??= class {};
  const { warn } = console;
  console.warn = () => {};
  try {
    return (await import(pathToFileURL(join(root, 'legacy/build/pdf.mjs')).href)) as Pdfjs;
  } finally {
    console.warn = warn;
  }
}
