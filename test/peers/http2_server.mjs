// An HTTP/2 server (node's own) that misbehaves on demand, for test/peers/outgoing_http2.cpp.
//
//   node http2_server.mjs CERTIFICATE KEY STREAMS
//
// Prints its port, serves until its standard input ends, and prints a line for every request that
// reached its application: `BODY`. The path says what to do with a request:
//   /ok        answers 200
//   /hold      answers when /release is asked for
//   /refuse    RST_STREAM with REFUSED_STREAM, without looking at it
//   /cancel    reads it, then RST_STREAM with INTERNAL_ERROR
//   /leave     reads it, says GOAWAY with this stream as the last, answers it
//   /goaway    reads it, says GOAWAY as if only the streams before it had been seen
//   /sever     reads it, then ends all connections
//   /reset     reads it, then resets all connections
//   /cut       reads it, answers a part, then RST_STREAM
//   /headers   answers with 1,000 headers
//   /endless   answers with a body that does not end
import { createSecureServer, constants } from 'node:http2';
import { readFileSync } from 'node:fs';

const [certificate, key, streams] = process.argv.slice(2);
const server = createSecureServer({
  cert: readFileSync(certificate),
  key: readFileSync(key),
  settings: { maxConcurrentStreams: Number(streams) },
});
const held = [];
const sockets = new Set();

const answer = (stream) => {
  stream.respond({ ':status': 200, 'x-peer': 'node' });
  stream.end('fine');
};

const acts = {
  '/ok': answer,
  '/hold': (stream) => held.push(stream),
  '/release': (stream) => {
    held.splice(0).forEach(answer);
    answer(stream);
  },
  '/cancel': (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
  '/leave': (stream) => {
    stream.session.goaway(constants.NGHTTP2_NO_ERROR, stream.id);
    answer(stream);
  },
  '/goaway': (stream) => stream.session.goaway(constants.NGHTTP2_NO_ERROR, stream.id - 2),
  '/sever': () => sockets.forEach((socket) => socket.destroy()),
  '/reset': () => sockets.forEach((socket) => socket.resetAndDestroy()),
  '/cut': (stream) => {
    stream.respond({ ':status': 200, 'content-length': 10 });
    stream.write('12345', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
  },
  '/headers': (stream) => {
    const headers = { ':status': 200 };
    for (let i = 0; i < 1000; ++i) headers[`x-${i}`] = 'v';
    stream.respond(headers);
    stream.end();
  },
  '/endless': (stream) => {
    stream.respond({ ':status': 200 });
    const more = (error) => {
      if (!error && !stream.destroyed) stream.write('z'.repeat(16384), more);
    };
    more();
  },
};

server.on('stream', (stream, headers) => {
  stream.on('error', () => {});
  const path = headers[':path'];
  if (path === '/refuse') {
    stream.close(constants.NGHTTP2_REFUSED_STREAM);
    return;
  }
  let body = '';
  stream.setEncoding('utf8');
  stream.on('data', (piece) => (body += piece));
  stream.on('end', () => {
    process.stdout.write(`${body}\n`);
    acts[path]?.(stream);
  });
});
server.on('connection', (socket) => sockets.add(socket));
server.on('session', (session) => session.on('error', () => {}));
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume().on('end', () => process.exit(0));
