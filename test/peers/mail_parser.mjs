// Reads messages with npm's mailparser, for test/peers/mail_parser.cpp.
//
//   node mail_parser.mjs FILE...
//
// Prints a JSON array: what a reader of mail gets from each file.
import { readFileSync } from 'node:fs';
import { simpleParser } from 'mailparser';
import libmime from 'libmime'; // mailparser's own, for headers that it leaves encoded

const people = (field) =>
  [field ?? []].flat().flatMap((one) => one.value.map(({ name, address }) => ({ name, address })));

const read = async (file) => {
  const mail = await simpleParser(readFileSync(file), {
    keepCidLinks: true,
    skipTextToHtml: true,
    skipHtmlToText: true,
    skipImageLinks: true,
    skipTextLinks: true,
  });
  const lines = {};
  for (const { key, line } of mail.headerLines) (lines[key] ??= []).push(line);
  return {
    subject: mail.subject ?? '',
    from: people(mail.from),
    to: people(mail.to),
    cc: people(mail.cc),
    replyTo: people(mail.replyTo),
    messageId: mail.messageId,
    seconds: mail.date.getTime() / 1000,
    text: mail.text ?? '',
    html: mail.html || '',
    // Of a header that is there once, decoded; of one that is there more often, a list.
    headers: Object.fromEntries(
      [...mail.headers]
        .filter(([, value]) => typeof value === 'string')
        .map(([key, value]) => [key, libmime.decodeWords(value)]),
    ),
    counts: Object.fromEntries(Object.entries(lines).map(([key, all]) => [key, all.length])),
    list: mail.headers.get('list') ?? {},
    attachments: mail.attachments.map((one) => ({
      name: one.filename ?? '',
      type: one.contentType,
      cid: one.cid ?? '',
      disposition: one.contentDisposition,
      related: one.related ?? false,
      hex: one.content.toString('hex'),
    })),
  };
};

console.log(JSON.stringify(await Promise.all(process.argv.slice(2).map(read))));
