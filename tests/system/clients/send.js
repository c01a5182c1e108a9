// node send.js PORT SUBJECT TEST_ID: sends one mail with nodemailer; prints the reply.
const nodemailer = require('nodemailer');
const [port, subject, testId] = process.argv.slice(2);

const transport = nodemailer.createTransport({host: '127.0.0.1', port: Number(port), secure: false, ignoreTLS: true});
transport
    .sendMail({
      from: 'Shop <shop@example.com>',
      to: 'Ada <ada@example.net>',
      subject,
      text: 'Dear Ada,\n\nyour invoice: 10.00 EUR — thank you.\n',
      html: '<p>Dear Ada,</p><p><img src="cid:logo"> your invoice: <b>10.00 EUR</b> — thank you.</p>',
      attachments: [
        {filename: 'logo.png', content: Buffer.from('89504e470d0a1a0a', 'hex'), cid: 'logo'},
        {filename: 'invoice.pdf', content: Buffer.from('%PDF-1.4 ' + subject)},
      ],
      headers: {'X-Test-Id': testId},
    })
    .then(sent => console.log(sent.response), failure => {
      console.log(failure.response || String(failure));
      process.exitCode = 1;
    });
