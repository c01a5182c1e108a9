<?php
// php send.php PORT SUBJECT TEST_ID: sends one mail with PHPMailer; prints the upstream's id.
require '/usr/share/php/libphp-phpmailer/autoload.php';

use PHPMailer\PHPMailer\PHPMailer;

[, $port, $subject, $testId] = $argv;
$mail = new PHPMailer(true);
$mail->isSMTP();
$mail->Host = '127.0.0.1';
$mail->Port = (int) $port;
$mail->SMTPAutoTLS = false;
$mail->SMTPDebug = 2;
$mail->Debugoutput = function ($line) { fwrite(STDERR, $line); };
$mail->CharSet = 'UTF-8';
$mail->setFrom('shop@example.com', 'Shop');
$mail->addAddress('ada@example.net', 'Ada');
$mail->Subject = $subject;
$mail->addCustomHeader('X-Test-Id', $testId);
$mail->isHTML(true);
$mail->Body = '<p>Dear Ada,</p><p>your invoice: <b>10.00 EUR</b> — thank you.</p>';
$mail->AltBody = "Dear Ada,\n\nyour invoice: 10.00 EUR — thank you.\n";
$mail->addStringAttachment('%PDF-1.4 ' . $subject, 'invoice.pdf', 'base64', 'application/pdf');
$mail->send();
echo $mail->getSMTPInstance()->getLastTransactionID();
