/* Draws a cluster's nodes in its HTML page: nodes that ask on the left, nodes that are asked on the
 * right, a box for each kind of node, and an arrow for each pair that fails, which links to its
 * cells. */
#include "diag/cluster/cluster.h"
#include "diag/reports/form_parts.h"

enum {
    WIDTH = 760,
    COLUMN = 240,
    LEFT = 10,
    RIGHT = WIDTH - COLUMN - 10,
    TOP = 26,
    STEP = 20,
    GAP = 12,
    WORDS_MAX = 32,  /* Words that take more than these columns are narrowed to fit the box. */
    ALL_NAMED = 12,  /* Up to this many nodes each has a line of its own. */
    ARROWS_MAX = 24, /* With more red pairs, arrows are drawn between kinds, not nodes. */
    LINES_MAX = 64,  /* With more lines, the picture is left out. */
};

/* A line in both columns: one node, or the nodes of a kind that are not named. */
struct line {
    size_t node, nodes; /* The index of its first node, and the number of its nodes. */
    unsigned y;         /* The vertical middle of the line. */
};

struct layout {
    size_t *line_of; /* The line of each node. */
    struct line *lines;
    size_t count;
    unsigned height;
};

/* All pairs of nodes between two lines. */
struct arrow {
    /* The pair that the arrow links to: the first that fails, else one that was not measured. */
    size_t from, to;
    size_t asked, red, fail;
};

/* Places the lines: for each kind its named nodes, then one line for its other nodes. */
static void place(struct layout *l, const size_t *alike, const bool *named, size_t n) {
    unsigned y = TOP;

    l->count = 0;
    for (size_t kind = 0; kind < n; kind++) {
        size_t others = SIZE_MAX;

        if (alike[kind] != kind)
            continue;
        y += STEP + STEP / 2;
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = kind; i < n; i++) {
                if (alike[i] != kind || named[i] != (pass == 0))
                    continue;
                l->line_of[i] = others == SIZE_MAX ? l->count : others;
                if (l->line_of[i] == l->count) {
                    others = named[i] ? SIZE_MAX : l->count;
                    l->lines[l->count++] = (struct line){i, 0, y};
                    y += STEP;
                }
                l->lines[l->line_of[i]].nodes++;
            }
        y += GAP - STEP / 2;
    }
    l->height = y;
}

static void add_words(struct text *t, const char *class, unsigned x, unsigned y,
                      const char *words) {
    text_addf(t, "<text class=\"%s\" x=\"%u\" y=\"%u\"", class, x + COLUMN / 2, y + 4);
    if (text_columns(words) > WORDS_MAX)
        text_addf(t, " textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\"", COLUMN - 16);
    text_add(t, ">");
    markup_add(t, words);
    text_add(t, "</text>\n");
}

/* Returns the words of a line: "win-1" or "7 nodes", with `with_kind` "7 nodes of linux v1.37";
 * free() them. */
static char *words_of(const struct line *line, const struct cluster_nodes *nodes, bool with_kind) {
    const struct cluster_node *node = &nodes->items[line->node];
    _cleanup_(freep) char *kind = cluster_node_text(node, ALIKE_KIND);

    return line->nodes == 1 ? xstrdup(node->name)
                            : xasprintf("%zu nodes%s%s", line->nodes, with_kind ? " of " : "",
                                        with_kind ? kind : "");
}

/* Adds the boxes of one column. Each box is drawn with four lines, because tools that measure
 * contrast take a rectangle for something that covers the text. */
static void add_column(struct text *t, const struct diag_report *report, const struct layout *l,
                       const size_t *alike, unsigned x) {
    for (size_t i = 0, end; i < l->count; i = end) {
        size_t kind = alike[l->lines[i].node];
        _cleanup_(freep) char *title = cluster_node_text(&report->nodes.items[kind], ALIKE_KIND);
        unsigned top = l->lines[i].y - STEP - STEP / 2, height;

        add_words(t, "what", x, top + STEP / 2, title);
        for (end = i; end < l->count && alike[l->lines[end].node] == kind; end++) {
            _cleanup_(freep) char *words = words_of(&l->lines[end], &report->nodes, false);

            add_words(t, "node", x, l->lines[end].y, words);
        }
        height = l->lines[end - 1].y + STEP / 2 - top;
        text_addf(t,
                  "<path d=\"M%u %uh%d\"/><path d=\"M%u %uh%d\"/><path d=\"M%u %uv%u\"/>"
                  "<path d=\"M%u %uv%u\"/>\n",
                  x, top, COLUMN, x, top + height, COLUMN, x, top, height, x + COLUMN, top, height);
    }
}

static void add_arrow(struct text *t, const struct diag_report *report, const struct line *from,
                      const struct line *to, const struct arrow *a) {
    _cleanup_(freep) char *from_words = words_of(from, &report->nodes, true),
                          *to_words = words_of(to, &report->nodes, true);
    unsigned start = LEFT + COLUMN + 6, tip = RIGHT - 6;

    text_addf(t, "<a href=\"#red-%zu-%zu\"><g role=\"img\" class=\"%s\" aria-label=\"", a->from + 1,
              a->to + 1, diag_outcome_name(a->fail ? DIAG_FAIL : DIAG_NOT_RUN));
    markup_add(t, from_words);
    text_add(t, " to ");
    markup_add(t, to_words);
    if (a->fail)
        text_addf(t, ": %zu of %zu fail", a->fail, a->asked);
    else
        text_addf(t, ": %zu of %zu not measured", a->red, a->asked);
    text_addf(t,
              "\"><path d=\"M%u %uL%u %uh9\"/><path class=\"head\" d=\"M%u %ul-9 -5v10z\"/></g></a>"
              "\n",
              start, from->y, tip - 18, to->y, tip, to->y);
}

static void add_picture(struct text *t, const struct diag_report *report, const struct layout *l,
                        const size_t *alike, const enum diag_outcome *worst) {
    size_t n = report->nodes.count;
    _cleanup_(freep) struct arrow *arrows = xcalloc(l->count * l->count, sizeof *arrows);
    bool any = false;

    /* One arrow for each pair of lines. */
    for (size_t i = 0; i < n * n; i++) {
        size_t from = i / n, to = i % n;
        struct arrow *a = &arrows[l->line_of[from] * l->count + l->line_of[to]];
        bool fail = worst[i] == DIAG_FAIL, red = fail || worst[i] == DIAG_NOT_RUN;

        a->asked += worst[i] != DIAG_SKIP;
        any |= red;
        if (red && !a->fail) {
            a->from = from;
            a->to = to;
        }
        a->fail += fail;
        a->red += red;
    }

    text_addf(t,
              "<svg class=\"picture\" role=\"group\" aria-labelledby=\"picture picture-what\" "
              "viewBox=\"0 0 %d %u\"><title id=\"picture\">Nodes by kind</title>"
              "<desc id=\"picture-what\">An arrow for each pair of nodes that fails, from the "
              "node that asks; dashed: not measured. To itself: Services, names, targets "
              "outside.</desc>\n<g>",
              WIDTH, l->height);
    add_words(t, "what", LEFT, TOP / 2, "from");
    add_column(t, report, l, alike, LEFT);
    text_add(t, "</g><g>");
    add_words(t, "what", (WIDTH - COLUMN) / 2, TOP / 2,
              any ? "fails; dashed: not measured" : "nothing fails");
    text_add(t, "</g><g aria-hidden=\"true\">");
    add_words(t, "what", RIGHT, TOP / 2, "to");
    add_column(t, report, l, alike, RIGHT);
    text_add(t, "</g>\n");
    for (size_t i = 0; i < l->count * l->count; i++)
        if (arrows[i].red)
            add_arrow(t, report, &l->lines[i / l->count], &l->lines[i % l->count], &arrows[i]);
    text_add(t, "</svg>\n");
}

void cluster_picture_add_html(struct text *t, const struct diag_report *report,
                              const enum diag_outcome *worst) {
    size_t n = report->nodes.count, red = 0;
    _cleanup_(freep) size_t *alike = cluster_alike_make(&report->nodes, ALIKE_KIND);
    _cleanup_(freep) bool *named = xcalloc(n, sizeof *named);
    struct layout l = {xcalloc(n, sizeof *l.line_of), xcalloc(n, sizeof *l.lines), 0, 0};

    for (size_t i = 0; i < n * n; i++) {
        bool is_red = worst[i] == DIAG_FAIL || worst[i] == DIAG_NOT_RUN;

        red += is_red;
        if (n <= ALL_NAMED || is_red)
            named[i / n] = named[i % n] = true;
    }
    if (red > ARROWS_MAX)
        memset(named, 0, n * sizeof *named);
    place(&l, alike, named, n);
    if (l.count <= LINES_MAX)
        add_picture(t, report, &l, alike, worst);
    free(l.line_of);
    free(l.lines);
}
