/** A guard of the program that is taken out: text of a source file, in place of which another one stands. */
export interface Mutation {
  readonly name: string;
  /** Path below the checkout. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly text: string;
  readonly replacement: string;
}

const WARC_WRITER = 'src/store/files/warc/warc-writer.ts';
const FRAME_LOG = 'src/store/files/segments/frame-log.ts';
const SEGMENT_WRITER = 'src/store/files/segments/segment-writer.ts';
const SEGMENT_STORE = 'src/store/files/segments/segment-store.ts';
const DURABLE_FILE = 'src/store/files/durable-file.ts';
const FOLDER_LOCK = 'src/store/files/locks/folder-lock.ts';
const GENERATE = 'src/core/steps/generate/generate.ts';
const UPDATEDB = 'src/core/steps/update/updatedb.ts';

/** Guards against crashes. Simulated crawls have to fail without any one of them. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a WARC file of an earlier process is not synced',
    file: WARC_WRITER,
    text: 'this.unsynced.add(join(dir, name));',
    replacement: '',
  },
  {
    name: 'a WARC file of an earlier process keeps its torn end',
    file: WARC_WRITER,
    text: 'else if (size > end) truncateFile(join(dir, name), end);',
    replacement: '',
  },
  {
    name: 'a WARC file of an earlier process that no record points at stays',
    file: WARC_WRITER,
    text: 'onFile(join(dir, name), () => rmSync(join(dir, name)));',
    replacement: 'continue;',
  },
  {
    name: 'a response torn within its WARC file is taken for whole',
    file: SEGMENT_WRITER,
    text: 'isReadable(dir, place) && ',
    replacement: '',
  },
  {
    name: 'a warcinfo record torn before whole responses is taken for whole',
    file: SEGMENT_WRITER,
    text: ' && isWholeBetween(dir, place, known)',
    replacement: '',
  },
  { name: 'WARC files are not synced', file: SEGMENT_WRITER, text: 'await this.warc.sync();', replacement: '' },
  { name: 'outcomes are not synced', file: SEGMENT_WRITER, text: 'await this.fetched.sync();', replacement: '' },
  {
    name: 'the names of files of a segment are not synced',
    file: SEGMENT_WRITER,
    text: 'onFile(this.dir, () => syncFolder(this.dir));',
    replacement: '',
  },
  {
    name: 'the parse output of a lost response stays',
    file: SEGMENT_WRITER,
    text: 'if (!bits.fetched.has(index)) return false;',
    replacement: '',
  },
  {
    name: 'the checksum of a frame is not compared',
    file: FRAME_LOG,
    text: "if (crc32(payload) !== sum) return 'the checksum of the record differs';",
    replacement: '',
  },
  {
    name: 'the checksum of the head of a frame is not compared',
    file: FRAME_LOG,
    text: 'if (head.readUInt32LE(12) !== crc32(head.subarray(0, 12))) return null;',
    replacement: '',
  },
  {
    name: 'torn frames are not cut off',
    file: FRAME_LOG,
    text: 'onFile(file, () => ftruncateSync(this.fd, this.flushedBytes));',
    replacement: '',
  },
  { name: 'the fetch list is not synced', file: SEGMENT_STORE, text: 'await list.sync();', replacement: '' },
  {
    name: 'the name of a new segment is not synced',
    file: SEGMENT_STORE,
    text: 'onFile(dir, () => syncFolder(dir));',
    replacement: '',
  },
  {
    name: 'the name of the folder of segments is not synced',
    file: SEGMENT_STORE,
    text: 'if (!isDirDurable) syncFolder(dirname(dir));',
    replacement: '',
  },
  {
    name: 'a replaced file is not synced before it is renamed',
    file: DURABLE_FILE,
    text: '{ flush: true, mode }',
    replacement: '{ mode }',
  },
  {
    name: 'the name of a replaced file is not synced',
    file: DURABLE_FILE,
    text: 'syncFolder(dirname(file));',
    replacement: '',
  },
  {
    name: 'the lock of an earlier process with the same id keeps all out',
    file: FOLDER_LOCK,
    text: 'return holder.startedAt !== SELF.startedAt || leftBehind.has(file);',
    replacement: 'return leftBehind.has(file);',
  },
  {
    name: 'inject is not synced',
    file: 'src/core/steps/inject.ts',
    text: 'durable: start + WINDOW >= keys.length',
    replacement: 'durable: false',
  },
  {
    name: 'leases are not synced',
    file: GENERATE,
    text: '{ durable: true }',
    replacement: '{ durable: false }',
  },
  {
    name: 'the end of updatedb is not synced',
    file: UPDATEDB,
    text: 'await deps.db.write({ segments: [updated], meta }, { durable: true });',
    replacement: 'await deps.db.write({ segments: [updated], meta });',
  },
  {
    name: 'updatedb goes on at its beginning',
    file: UPDATEDB,
    text: 'const limits = { from: row.applied, records: options.chunk, links: MAX_CHUNK_LINKS };',
    replacement: 'const limits = { from: 0, records: options.chunk, links: MAX_CHUNK_LINKS };',
  },
];
