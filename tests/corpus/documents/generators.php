<?php
// The generators of `make` that are PHP libraries. usage: generators.php GENERATOR AMOUNT OUTPUT
[, $generator, $amount, $out] = $argv;
switch ($generator) {
  case 'tcpdf':
    require '/usr/share/php/tcpdf/tcpdf.php';
    $pdf = new TCPDF();
    $pdf->SetTitle('Invoice 1001');
    $pdf->AddPage();
    $pdf->writeHTML("<h1>Invoice 1001</h1><p>Please pay <b>$amount EUR</b>, <a href=\"https://shop.example.com/1001\">details</a>.</p>");
    file_put_contents($out, $pdf->Output('', 'S'));
    break;
  case 'fpdf':
    require '/usr/share/php/fpdf/fpdf.php';
    $pdf = new FPDF();
    $pdf->AddPage();
    $pdf->SetFont('Helvetica', '', 12);
    $pdf->Cell(40, 10, "Invoice 1001: please pay $amount EUR.");
    file_put_contents($out, $pdf->Output('S'));
    break;
  case 'dompdf':
    require '/usr/share/php/dompdf/autoload.php';
    $pdf = new Dompdf\Dompdf(['tempDir' => sys_get_temp_dir(), 'fontCache' => sys_get_temp_dir()]);
    $pdf->loadHtml("<h1>Invoice 1001</h1><p>Please pay <b>$amount EUR</b>.</p>");
    $pdf->render();
    file_put_contents($out, $pdf->output());
    break;
}
