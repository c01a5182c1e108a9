#!/usr/bin/python3
"""The generators of `make` that are Python libraries. usage: generators.py GENERATOR AMOUNT [INPUT] OUTPUT"""
import datetime
import sys


def reportlab(amount, out):
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table
    style = getSampleStyleSheet()
    SimpleDocTemplate(out, title="Invoice 1001", author="Shop").build([
        Paragraph("Invoice 1001", style["Title"]), Paragraph(f"Please pay <b>{amount} EUR</b>.", style["Normal"]),
        Table([["Widget", "2"], ["Gadget", "3"]]), PageBreak(), Paragraph("Thirty days.", style["Normal"])])


def cairo(amount, out):
    import cairo as library
    surface = library.PDFSurface(out, 595, 842)
    context = library.Context(surface)
    for line, text in enumerate(["Invoice 1001", f"Please pay {amount} EUR."]):
        context.move_to(72, 72 + 24 * line)
        context.show_text(text)
    context.show_page()
    surface.finish()


def embedded(amount, source, out):
    import pikepdf
    now = datetime.datetime.now().strftime("D:%Y%m%d%H%M%SZ")
    with pikepdf.open(source) as pdf:
        data = f"<invoice><number>1001</number><amount>{amount}</amount></invoice>".encode()
        stream = pikepdf.Stream(pdf, data)
        stream.Type = pikepdf.Name.EmbeddedFile
        stream.Subtype = pikepdf.Name("/text/xml")
        stream.Params = pikepdf.Dictionary(CreationDate=now, ModDate=now, Size=len(data))
        spec = pdf.make_indirect(pikepdf.Dictionary(
            Type=pikepdf.Name.Filespec, F="factur-x.xml", UF="factur-x.xml", AFRelationship=pikepdf.Name.Data,
            EF=pikepdf.Dictionary(F=pdf.make_indirect(stream))))
        pdf.Root.Names = pikepdf.Dictionary(EmbeddedFiles=pikepdf.Dictionary(Names=["factur-x.xml", spec]))
        pdf.Root.AF = [spec]
        with pdf.open_metadata() as xmp:
            xmp["xmp:ModifyDate"] = datetime.datetime.now().isoformat() + "Z"
        pdf.save(out)


def openpyxl(amount, out):
    import openpyxl as library
    book = library.Workbook()
    book.active.append(["item", "amount"])
    book.active.append(["Widget", float(amount)])
    book.save(out)


def xlsxwriter(amount, out):
    import xlsxwriter as library
    book = library.Workbook(out)
    book.add_worksheet("Invoice").write_row(0, 0, ["Widget", float(amount)])
    book.close()


def python_docx(amount, out):
    import docx
    document = docx.Document()
    document.core_properties.modified = document.core_properties.created = datetime.datetime.now()
    document.add_heading("Invoice 1001", 0)
    document.add_paragraph(f"Please pay {amount} EUR.")
    document.save(out)


def ebooklib(amount, out):
    from ebooklib import epub
    book = epub.EpubBook()
    book.set_identifier("invoice-1001")
    book.set_title("Invoice 1001")
    chapter = epub.EpubHtml(title="Invoice", file_name="invoice.xhtml")
    chapter.content = f"<h1>Invoice 1001</h1><p>Please pay {amount} EUR.</p>"
    book.add_item(chapter)
    book.toc = [chapter]
    book.spine = ["nav", chapter]
    book.add_item(epub.EpubNcx())
    book.add_item(epub.EpubNav())
    epub.write_epub(out, book)


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
