# man3.awk - the library's manual pages, written from its header: a page for each section of it, tessera_training(3), and a
# link to it for each function, so that `man tsr_run_create` finds what the header says.
#
#     awk -v out=FOLDER -v version=0.2.0 -f man3.awk include/tessera.h

# A line as roff takes it for what it is.
function plain(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/)
        text = "\\&" text
    return text
}

function name_of(declaration,    at) {
    sub(/\(.*/, "", declaration)
    while ((at = match(declaration, /[^a-z0-9_]/)) > 0)
        declaration = substr(declaration, at + 1)
    return declaration
}

function finish(    i, page, names, file) {
    if (functions == 0)
        return
    page = "tessera_" tolower(title)
    gsub(/ /, "_", page)
    file = out "/" page ".3"
    for (i = 1; i <= functions; i++) {
        names = names (i > 1 ? ",\n" : "") name_of(declared[i])
        print ".so man3/" page ".3" > (out "/" name_of(declared[i]) ".3")
        close(out "/" name_of(declared[i]) ".3")
    }
    print ".TH " toupper(page) " 3 \"2026\" \"libtessera " version "\" \"Library Functions Manual\"" > file
    print ".SH NAME\n" names "\n\\- " tolower(title) " in libtessera" > file
    print ".SH SYNOPSIS\n.nf\n.B #include <tessera.h>\n.PP" > file
    for (i = 1; i <= functions; i++)
        print plain(declared[i]) > file
    print ".fi\n.SH DESCRIPTION\n.nf" > file
    for (i = 1; i <= lines; i++)
        print plain(line[i]) > file
    print ".fi\n.SH SEE ALSO\n.BR tessera (3)" > file
    close(file)
}

/^\/\* ---- / {
    finish()
    title = $0
    gsub(/^\/\* -+ | -+ \*\/$/, "", title)
    functions = lines = open = 0
    next
}
/^#ifdef __cplusplus/ { finish(); title = ""; functions = 0 }
title == "" { next }
{
    text = $0
    begins = text ~ /^TSR_API /
    if (open || begins) { # without TSR_API, which is eight columns
        text = substr(text, 9)
        if (begins)
            declared[++functions] = text
        else
            declared[functions] = declared[functions] "\n" text
        open = text !~ /;/
    }
    if (lines > 0 || text != "")
        line[++lines] = text
}
END { finish() }
