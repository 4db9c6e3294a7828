/* winjoin version, completion, and the verbs that this version names but does not have yet. */
#include <stdlib.h>
#include <string.h>

#include "base/build_info.h"
#include "base/memory.h"
#include "cmd/output.h"
#include "cmd/program.h"

int verb_version(struct program *program, struct error *err) {
    _cleanup_(freep) char *line = xasprintf("winjoin %s (%s)\n", build_version, build_commit);
    json_t *libraries = json_array();

    (void)err;
    for (const struct build_library *l = build_libraries; l->name; l++)
        json_array_append_new(libraries,
                              json_pack("{s:s, s:s, s:s*}", "name", l->name, "version", l->version,
                                        "licence", *l->licence ? l->licence : NULL));
    output_text(program, line);
    output_result(program,
                  json_pack("{s:s, s:s, s:s, s:s, s:o}", "apiVersion", "winjoin.io/v1alpha1",
                            "kind", "Version", "version", build_version, "commit", build_commit,
                            "libraries", libraries));
    return 0;
}

static void add_flags(const struct verb *verb, struct text *out) {
    for (const struct option *o = global_options; o->name; o++)
        text_addf(out, " --%s", o->name);
    for (size_t t = 0; t < ARRAY_SIZE(verb->tables) && verb->tables[t]; t++)
        for (const struct option *o = verb->tables[t]; o->name; o++)
            text_addf(out, " --%s", o->name);
}

static void bash_completion(struct text *out) {
    size_t count;
    const struct verb *all = verbs(&count);

    text_add(out, "# bash completion for winjoin: source <(winjoin completion bash)\n"
                  "_winjoin() {\n    local words\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < count; i++) {
        text_addf(out, "    %s) words=\"", all[i].name);
        add_flags(&all[i], out);
        text_add(out, "\" ;;\n");
    }
    text_add(out, "    esac\n    [ \"$COMP_CWORD\" -gt 1 ] || words=\"");
    for (size_t i = 0; i < count; i++)
        if (!all[i].hidden)
            text_addf(out, "%s ", all[i].name);
    text_add(out, "\"\n    COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
                  "}\ncomplete -F _winjoin winjoin\n");
}

static void powershell_completion(struct text *out) {
    size_t count;
    const struct verb *all = verbs(&count);

    text_add(out, "# winjoin completion powershell | Out-String | Invoke-Expression\n"
                  "Register-ArgumentCompleter -Native -CommandName winjoin -ScriptBlock {\n"
                  "    param($word, $ast, $position)\n    $flags = @{\n");
    for (size_t i = 0; i < count; i++) {
        text_addf(out, "        '%s' = '", all[i].name);
        add_flags(&all[i], out);
        text_add(out, "'\n");
    }
    text_add(out,
             "    }\n    $words = @($ast.CommandElements | ForEach-Object { $_.ToString() })\n"
             "    $all = if ($words.Count -gt 2 -or ($words.Count -eq 2 -and -not $word)) "
             "{ $flags[$words[1]] } else { $flags.Keys -join ' ' }\n"
             "    $all -split ' ' | Where-Object { $_ -and $_.StartsWith($word) } |\n"
             "        ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }\n"
             "}\n");
}

int verb_completion(struct program *program, struct error *err) {
    const char *shell = program->words.count == 1 ? program->words.items[0] : "";
    struct text out = {0};

    if (text_equal(shell, "bash"))
        bash_completion(&out);
    else if (text_equal(shell, "powershell"))
        powershell_completion(&out);
    else
        return error_set(err, ERROR_USAGE, "winjoin completion powershell|bash");
    output_bytes(text_str(&out), out.len);
    text_free(&out);
    return 0;
}

static int not_yet(const struct program *program, struct error *err) {
    (void)error_set(err, ERROR_UNSUPPORTED, "winjoin %s: this version cannot do it yet",
                    program->verb->name);
    return error_hint(err, "CHANGELOG.md says what each version brings");
}

int verb_upgrade(struct program *program, struct error *err) {
    return not_yet(program, err);
}
