# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# page.awk NAME.txt: makes a page of the manual of a tool's --help, with paragraphs that are filled. In the text a
# section's name begins in column 1 and a paragraph in column 5. A term (an option, the name of a fault) begins in
# column 5, too, and what it says in column 23: on its line, or from the next one on. "-   " is a point of a list. What
# is indented otherwise, and the synopsis, stays in lines.

function escaped(text) {
    sub(/^ +/, "", text)
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text ~ /^[.']/ ? "\\&" text : text
}
function column(text) {
    match(text, /^ */)
    return RLENGTH + 1
}
function as_lines(on) {
    if (on != lines)
        print on ? ".nf" : ".fi"
    lines = on
}
# Whether what TERM says begins on its line. With one space before it only an option is one for sure.
function says(term) {
    return substr(term, 22, 1) == " " && substr(term, 23, 1) != " " && length(term) > 22 &&
        (substr(term, 21, 1) == " " || term ~ /^    -/)
}
function point(head, text) {
    as_lines(0)
    print head
    print text
}
{ line[NR] = $0 }
END {
    print ".TH " name " 1 \"\" sfu"
    for (n = 1; n <= NR; n++) {
        text = line[n]
        at = column(text)
        if (text ~ /^ *$/) {
            as_lines(0)
            print ".PP"
            inside = 0
        } else if (at == 1) {
            as_lines(0)
            print ".SH " text
            inside = 0
            synopsis = text == "SYNOPSIS"
        } else if (synopsis || (at > 5 && at != inside)) {
            as_lines(1)
            print substr("                    ", 1, at - 5) escaped(text)
        } else if (at == 5 && text ~ /^    -   /) {
            point(".IP \\(bu 4", escaped(substr(text, 9)))
            inside = 9
        } else if (at == 5 && says(text)) {
            point(".TP 18", escaped(substr(text, 1, 22)))
            print escaped(substr(text, 23))
            inside = 23
        } else if (at == 5 && n < NR && column(line[n + 1]) == 23 && line[n + 1] !~ /^ *$/) {
            point(".TP 18", escaped(text))
            inside = 23
        } else {
            as_lines(0)
            print escaped(text)
        }
    }
}
