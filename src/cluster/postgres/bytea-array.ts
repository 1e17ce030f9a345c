// cluster/postgres/: crawl dbs, leases and turns in PostgreSQL.

/** Object identifier of the type `bytea` (pg_type.dat of PostgreSQL). */
const BYTEA_OID = 17;

/**
 * Values as a parameter of type `bytea[]` in the binary format of `array_recv` (utils/adt/arrayfuncs.c of PostgreSQL):
 * dimensions, flag of nulls, type, length and lower bound, then each value after its length. In the text format each
 * byte would take two, and escapes.
 */
export function byteaArray(values: readonly (string | Buffer)[]): Buffer {
  const sizes = values.map((value) => Buffer.byteLength(value));
  const bytes = Buffer.allocUnsafe(20 + sizes.reduce((sum, size) => sum + 4 + size, 0));
  let at = 0;
  for (const field of [1, 0, BYTEA_OID, values.length, 1]) at = bytes.writeInt32BE(field, at);
  for (const [i, value] of values.entries()) {
    at = bytes.writeInt32BE(sizes[i] as number, at);
    at += typeof value === 'string' ? bytes.write(value, at) : value.copy(bytes, at);
  }
  return bytes;
}
