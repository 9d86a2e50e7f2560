// npm's smtp-server on a free port, for test/peers/smtp_peers.cpp. The first recipient's local part
// chooses what happens. Prints its port, then a JSON line for each message that it took; serves until
// its standard input ends.
//
//   node smtp_server.mjs CERTIFICATE KEY starttls|tls
import { readFileSync } from 'node:fs';
import { SMTPServer } from 'smtp-server';

const [certificate, key, security] = process.argv.slice(2);

const refusals = {
  nobody: [550, '5.1.1 nobody of that name'],
  later: [451, '4.3.0 later'],
  'too-fast': [450, '4.7.1 too fast'],
};
const refusalsOfText = { spam: [554, '5.7.1 spam'], full: [452, '4.3.1 disk full'] };

function refuse([code, text]) {
  return Object.assign(new Error(text), { responseCode: code });
}

function localPart(address) {
  return address.slice(0, address.indexOf('@'));
}

function cut(session) {
  for (const connection of server.connections)
    if (connection.id === session.id) connection._socket.destroy();
}

const server = new SMTPServer({
  secure: security === 'tls',
  cert: readFileSync(certificate),
  key: readFileSync(key),
  authMethods: ['PLAIN', 'LOGIN'],
  size: 64 << 20,
  onAuth(auth, session, done) {
    const isKnown = auth.username === 'paceline' && auth.password === 'pass word';
    done(isKnown ? null : refuse([535, '5.7.8 unknown']), { user: `${auth.method} ${auth.username}` });
  },
  onRcptTo(address, session, done) {
    const refusal = refusals[localPart(address.address)];
    done(refusal ? refuse(refusal) : null);
  },
  onData(stream, session, done) {
    const what = localPart(session.envelope.rcptTo[0].address);
    const pieces = [];
    stream.on('data', piece => {
      pieces.push(piece);
      if (what === 'cut-before-the-dot') cut(session);
    });
    stream.on('end', () => {
      if (what === 'cut-after-the-dot') return cut(session);
      if (refusalsOfText[what]) return done(refuse(refusalsOfText[what]));
      const taken = {
        from: session.envelope.mailFrom.address,
        to: session.envelope.rcptTo.map(each => each.address),
        secure: session.secure,
        user: session.user,
        text: Buffer.concat(pieces).toString('base64'),
      };
      process.stdout.write(JSON.stringify(taken) + '\n', () => done(null, 'taken as peer-1'));
    });
  },
});
server.on('error', () => {}); // of connections that were cut
server.listen(0, '127.0.0.1', () => console.log(server.server.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
