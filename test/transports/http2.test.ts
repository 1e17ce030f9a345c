import { describe } from 'vitest';
import { createUndiciProtocol } from '../../src/transports/undici/undici-protocol.ts';
import { fetchProtocolContract } from '../contracts/fetch-protocol.contract.ts';
import { answersContract } from '../contracts/fetch-protocol-answers.contract.ts';
import type { CreateProtocol } from '../contracts/fetch-protocol-exam.ts';
import { startHostileHttp2, startHostileTls } from '../site/fronts.ts';
import { unknownIdentity } from '../site/tls-identity.ts';

const create: CreateProtocol = (settings) =>
  createUndiciProtocol({ ...settings, http2: true, tls: { ca: [unknownIdentity.cert] } });

fetchProtocolContract('undici with HTTP/2 switched on, over http', (settings) =>
  createUndiciProtocol({ ...settings, http2: true }),
);

describe('a server of TLS that has HTTP/1.1 alone', () => {
  answersContract(
    create,
    { '/reset-until-close': 'the front makes an ordinary end of a reset' },
    { httpVersion: '1.1', start: startHostileTls },
  );
});

describe('a server of HTTP/2', () => {
  answersContract(
    create,
    { '/old': 'there is no HTTP/1.0', '/odd-fields': 'the gateway reads them itself' },
    { httpVersion: '2', start: startHostileHttp2 },
  );
});
