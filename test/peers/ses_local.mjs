// npm's aws-ses-v2-local on a free port, for test/peers/ses_local.cpp. Prints its port, serves
// until its standard input ends.
import serve from 'aws-ses-v2-local';

process.env.AWS_SES_ACCOUNT = JSON.stringify({
  DedicatedIpAutoWarmupEnabled: false,
  Details: {
    AdditionalContactEmailAddresses: [],
    ContactLanguage: 'EN',
    MailType: 'MARKETING',
    ReviewDetails: { CaseId: '1', Status: 'GRANTED' },
    UseCaseDescription: 'tests',
    WebsiteURL: 'https://example.org',
  },
  EnforcementStatus: 'HEALTHY',
  ProductionAccessEnabled: true,
  SendingEnabled: true,
  SendQuota: { Max24HourSend: 50000, MaxSendRate: 14.5, SentLast24Hours: 12 },
  SuppressionAttributes: { SuppressedReasons: [] },
});

const server = await serve.default({ host: '127.0.0.1', port: 0 });
console.log(server.address().port);
process.stdin.on('end', () => process.exit(0)).resume();
