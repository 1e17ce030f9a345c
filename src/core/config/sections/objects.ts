/** Sections of the configuration: segments, and the object store that may hold them. */
import { z } from 'zod';
import { choice, duration, integer, size, text } from '../fields.ts';

/** `s3://bucket` or `s3://bucket/prefix`. */
export const S3_PLACE = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[^\s?#]*)?$/;

export const segments = z.strictObject({
  store: text({
    default: '',
    pattern: new RegExp(`^(?:${S3_PLACE.source})?$`),
    wanted: 'a place such as s3://bucket/prefix, or nothing',
    prose:
      'Where segments are stored: in an object store with the API of S3, under a prefix that only this crawl uses; ' +
      'credentials are those of AWS tools (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials). Empty: in ' +
      'the state directory.',
  }),
  sealEveryMs: duration({
    default: '5m',
    min: '1s',
    max: '1d',
    prose:
      'Longest time after which the pages fetched so far are stored in the object store. A machine that is lost takes ' +
      'those of this time with it; they are fetched again.',
  }),
  warcMaxBytes: size({
    default: '1GiB',
    min: '1MiB',
    max: '1024GiB',
    prose: 'Size from which a WARC file is closed and the next one begun.',
  }),
  gzipLevel: integer({
    default: 1,
    min: 1,
    max: 9,
    unit: '',
    prose: 'Compression of WARC records: 1 is fastest, 9 smallest.',
  }),
});

export const s3 = z.strictObject({
  endpoint: text({
    default: '',
    pattern: /^(?:https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?)?$/,
    wanted: 'an address such as https://s3.example.org:9000, or nothing',
    prose:
      'Address of the object store, if it is not that of AWS. Empty: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL of the ' +
      'environment, else AWS in the region.',
  }),
  region: text({
    default: '',
    pattern: /^[\w-]*$/,
    wanted: 'a name such as eu-central-1, or nothing',
    prose: 'Region of the bucket. Empty: AWS_REGION or AWS_DEFAULT_REGION of the environment, else us-east-1.',
  }),
  pathStyle: choice(['auto', 'always', 'never'], {
    default: 'auto',
    prose: 'Whether the bucket is the first part of the path rather than of the host; auto: except at AWS.',
  }),
  timeoutMs: duration({
    default: '30s',
    min: '1s',
    max: '10m',
    prose: 'Longest time without an answer of the object store; then the request is made again.',
  }),
  patienceMs: duration({
    default: '2m',
    min: '1s',
    max: '1d',
    prose: 'How long a request is repeated while the object store fails. After it the command ends.',
  }),
});
