import { CrawlError, type ErrorCode } from '../../../domain/errors.ts';
import { networkFault } from './network-fault.ts';

/** By name: most errors of undici's parser have no code. */
const NAMES: Readonly<Record<string, ErrorCode>> = {
  HTTPParserError: 'protocol-error',
  HeadersOverflowError: 'headers-too-large',
  InvalidArgumentError: 'protocol-error',
  NotSupportedError: 'protocol-error',
  ResponseContentLengthMismatchError: 'protocol-error',
};

/**
 * The stable code for an error of undici, which stays as `cause`. `hasPeerLeft`: the server ended or reset the
 * connection; parser errors are a consequence of that.
 */
export function undiciFault(error: Error, hasPeerLeft: boolean): CrawlError {
  const { name, message } = error;
  const code = NAMES[name];
  if (code === 'protocol-error' && hasPeerLeft) return new CrawlError('fetch-aborted', message, { cause: error });
  if (code !== undefined) return new CrawlError(code, message, { cause: error });
  // An unrequested response, 100 Continue, or 101 Switching Protocols.
  if (name === 'SocketError' && message.startsWith('bad ')) {
    return new CrawlError('protocol-error', `${message}: the server sent something that was not requested`, {
      cause: error,
    });
  }
  if ('code' in error && String(error.code).startsWith('UND_ERR_')) {
    return new CrawlError('fetch-aborted', message, { cause: error });
  }
  return networkFault(error);
}
