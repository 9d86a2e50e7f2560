// Signs random requests with @smithy/signature-v4, for test/peers/smithy_signatures.cpp.
//
//   node smithy_signatures.mjs SEED COUNT
//
// Prints a JSON array: what each request looks like on the wire, and its Authorization.
import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from '@aws-crypto/sha256-js';

const [seed, count] = process.argv.slice(2).map(Number);

// A small generator with a seed, so that a failure can be had again.
let state = seed >>> 0;
const random = () => {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const below = (limit) => Math.floor(random() * limit);
const pick = (list) => list[below(list.length)];
const many = (most, make) => Array.from({ length: below(most + 1) }, make);

const letters = [...'abzAZ09-._~ !*()\'+&=%/?#@:;,"<>[]{}|\\^`$', 'é', 'ሴ', '😀', '\u00a0'];
const word = (most) => [pick(letters), ...many(most, () => pick(letters))].join('');
const encode = (text) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase(),
  );
const segment = () => (random() < 0.15 ? pick(['', '.', '..']) : encode(word(8)));
const value = () => many(6, () => pick(['a', 'Z', '7', ' ', '  ', '"', ',', '=', ';', '/'])).join('');

const makeRequest = () => {
  const query = {};
  for (const name of many(4, () => word(4)))
    query[name] = random() < 0.3 ? many(3, () => word(4)) : random() < 0.2 ? '' : word(6);
  const headers = { host: 'email.' + pick(['eu-west-1', 'us-east-1']) + '.amazonaws.com' };
  for (const name of many(3, () => 'x-' + pick(['alpha', 'beta', 'Gamma', 'amz-meta', 'z'])))
    headers[name] = 'v' + value();
  const method = pick(['GET', 'POST', 'PUT', 'DELETE']);
  const body = method === 'POST' || method === 'PUT' ? Buffer.from(many(400, () => below(256))) : undefined;
  if (body) headers['content-type'] = 'application/json';
  return {
    method,
    protocol: 'https:',
    hostname: headers.host,
    path: '/' + many(5, segment).join('/') + pick(['', '/']),
    query,
    headers,
    body,
  };
};

const wireQuery = (query) =>
  Object.entries(query)
    .flatMap(([name, values]) => [values].flat().map((one) => encode(name) + '=' + encode(one)))
    .join('&');

const signed = [];
for (let i = 0; i < count; ++i) {
  const request = makeRequest();
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: word(40) };
  if (random() < 0.3) credentials.sessionToken = Buffer.from(word(60)).toString('base64');
  const region = pick(['eu-west-1', 'us-east-1', 'us-gov-west-1']);
  const service = pick(['ses', 'sns', 'sqs']);
  const signer = new SignatureV4({
    service,
    region,
    credentials,
    sha256: Sha256,
    uriEscapePath: true,
    applyChecksum: false,
  });
  const signingDate = new Date(Date.UTC(2026, below(12), 1 + below(28), below(24), below(60), below(60)));
  const { headers } = await signer.sign(request, { signingDate });
  const { authorization, ...others } = headers;
  const query = wireQuery(request.query);
  signed.push({
    method: request.method,
    target: request.path + (query ? '?' + query : ''),
    headers: others,
    body: (request.body ?? Buffer.alloc(0)).toString('hex'),
    secret: credentials.secretAccessKey,
    region,
    service,
    date: headers['x-amz-date'],
    authorization,
  });
}
console.log(JSON.stringify(signed));
